"""The programs that quirkpy is measured against: each is used where it is installed, and left out
where it is not.

A peer offers what it can express: `evaluation` one acceleration, `runs` ways to move a tree, and so
on; see in_*.py."""

from __future__ import annotations

import importlib
import importlib.metadata
from types import ModuleType

#: name -> the module that speaks to it, and the package that must be installed.
PEERS = {
    "MuJoCo": ("benchmarks.in_mujoco", "mujoco"),
    "Pinocchio": ("benchmarks.in_pinocchio", "pin"),
    "Exudyn": ("benchmarks.in_exudyn", "exudyn"),
    "Drake": ("benchmarks.in_drake", "drake"),
    "PyBullet": ("benchmarks.in_pybullet", "pybullet"),
}


def present() -> dict[str, ModuleType]:
    """The peers that can be imported here."""
    out = {}
    for name, (module, _) in PEERS.items():
        try:
            out[name] = importlib.import_module(module)
        except ImportError:
            continue
    return out


def versions() -> dict[str, str]:
    """name -> version of what is installed; a peer that is not installed is not listed."""
    out = {}
    libraries = {"NumPy": "numpy", "SciPy": "scipy", "numba": "numba"}
    for name, package in {**libraries, **{n: p for n, (_, p) in PEERS.items()}}.items():
        try:
            out[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return out


def absent() -> str:
    """A line that says who is missing, or nothing."""
    gone = [name for name in PEERS if name not in present()]
    if not gone:
        return ""
    return (
        f"Left out, because they are not installed: {', '.join(gone)}; pip install quirkpy[bench] "
        "brings them."
    )
