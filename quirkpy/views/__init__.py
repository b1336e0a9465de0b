"""Pictures, films, pages and texts. Views take records and never simulate."""
