"""The simulation of one choice: from a node until the system is at rest, in this process or in
others."""
