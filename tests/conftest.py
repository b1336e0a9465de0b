"""Settings for all tests: one thread for linear algebra."""

from __future__ import annotations

import os

# Read when NumPy is first imported: threads that share out small matrices only get into the way of parallel tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
