"""Settings for all tests: one thread for linear algebra, and no machine code that is older than the sources."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

# Read when NumPy is first imported: threads that share out small matrices only get into the way of parallel tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

PACKAGE = Path(__file__).resolve().parents[1] / "quirkpy"
#: Sources whose code ends up inside compiled kernels; numba looks only at the file of each kernel itself.
COMPILED = ("kernels/*.py", "quat.py", "tables/tables.py")


def pytest_configure(config: pytest.Config) -> None:
    """Once, before the workers start."""
    if not hasattr(config, "workerinput"):
        forget_stale_machine_code(PACKAGE)


def forget_stale_machine_code(package: Path) -> None:
    """Delete numba's files when the sources differ from those that were there the last time."""
    sources = sorted(path for pattern in COMPILED for path in package.glob(pattern))
    digest = hashlib.sha256()
    for path in sources:
        digest.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    stamp = package / "__pycache__" / "compiled-sources.sha256"
    if stamp.is_file() and stamp.read_text() == digest.hexdigest():
        return
    for path in package.rglob("*.nb[ic]"):
        path.unlink(missing_ok=True)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(digest.hexdigest())
