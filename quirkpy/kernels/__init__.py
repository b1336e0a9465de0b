"""Functions of arrays, compiled by numba on first use and cached on disk."""
