"""Interchangeable modules, and the effect of exchanging them on `KeepOut` cones."""
