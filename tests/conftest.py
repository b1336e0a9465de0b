"""Settings for all tests: one thread for linear algebra, and the same random examples each time."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("quirkpy", derandomize=True, deadline=None)
settings.load_profile("quirkpy")

# Read when NumPy is first imported: threads that share out small matrices only get into the way of parallel tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
