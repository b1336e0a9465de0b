"""Models of other programs as links, and these as bodies and joints; URDF files."""
