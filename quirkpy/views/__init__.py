"""Room 6: what people look at.  Views take records and never simulate."""
