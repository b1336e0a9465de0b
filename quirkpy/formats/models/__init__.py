"""Models of other programs as links, converted to bodies and joints; URDF files."""
