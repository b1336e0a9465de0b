"""Distances of bodies along a run."""
