"""Room 8: `Multibody`, the face that users see."""
