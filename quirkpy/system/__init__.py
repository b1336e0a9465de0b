"""`Multibody`, the class for users."""
