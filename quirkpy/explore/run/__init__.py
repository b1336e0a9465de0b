"""One choice flown: from a node until all rests, in this process or in others."""
