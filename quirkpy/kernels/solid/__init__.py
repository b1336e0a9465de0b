"""Solids: distances, the curves that they follow, and when they come near; sensors in range."""
