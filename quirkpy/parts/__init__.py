"""The parts that users write: frozen descriptions without state and without indices."""
