"""Which modules are alike, and what exchanging them makes of cones that must stay clear."""
