"""What people look at.  Views take records and never simulate."""
