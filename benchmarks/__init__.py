"""Measurements: ``python -m benchmarks`` for speed, ``python -m benchmarks.cutoffs`` and its
neighbours for accuracy.

Everything runs on one core, so that figures can be compared.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
