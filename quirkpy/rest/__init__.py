"""A system at rest: equilibria and their certificates, how they are reached, found and followed."""
