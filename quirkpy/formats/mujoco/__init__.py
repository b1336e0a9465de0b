"""MJCF files of MuJoCo."""
