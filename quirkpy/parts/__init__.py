"""Room 1: what a user writes.  Frozen descriptions without state and without indices."""
