"""How far bodies stay apart along a run."""
