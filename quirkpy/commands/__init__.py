"""What the command line does, by subject."""
