"""What a user writes.  Frozen descriptions without state and without indices."""
