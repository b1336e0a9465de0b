"""`Multibody`, the face that users see."""
