"""Kernels compiled anew with some of their constants, or of the functions that they call,
exchanged.

Kernels that only kernels call have no wrapper for Python, and to call one from Python ends the
interpreter: scripts call what is made here."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from numba import njit

from quirkpy.kernels.base.compiled import GIVEN

#: Not kept on disk: numba would not see what has been exchanged.  References are not counted, as in
#: all kernels: who counts them would give back those of arrays that another kernel returns, and
#: never took.
AFRESH = {name: value for name, value in GIVEN.items() if name != "cache"}


def recompiled(function: Any, **exchanged: Any) -> Any:
    """The kernel with names exchanged in it and in all kernels that it calls, at any depth; Python
    may call it."""
    plain = getattr(function, "py_func", function)
    return njit(**AFRESH)(_renamed(plain, exchanged))


def _renamed(plain: FunctionType, exchanged: dict[str, Any]) -> FunctionType:
    """The function with its own global names; a kernel that needs no change stays the one that is
    compiled already."""
    known = {
        name: plain.__globals__[name]
        for name in plain.__code__.co_names
        if name in plain.__globals__
    }
    new = {name: exchanged[name] for name in known if name in exchanged}
    for name, value in known.items():
        if name not in new and _concerned(value, exchanged):
            new[name] = recompiled(value, **exchanged)
    # Under our own name: the package announces only what it compiles itself.
    return FunctionType(
        plain.__code__, {**plain.__globals__, **new, "__name__": __name__}, plain.__name__
    )


def _concerned(value: Any, exchanged: dict[str, Any]) -> bool:
    """Whether this is a kernel that meets one of the names, itself or deeper down."""
    plain = getattr(value, "py_func", value)
    if not isinstance(plain, FunctionType) or not plain.__module__.startswith("quirkpy.kernels"):
        return False
    names = plain.__code__.co_names
    return any(
        name in exchanged or _concerned(plain.__globals__.get(name), exchanged) for name in names
    )
