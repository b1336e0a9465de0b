"""Kernels with some of their constants, or of the functions that they call, exchanged: to see what each is for."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from numba import njit

from quirkpy.kernels.compiled import SETTINGS


def plainly(function: Any, **exchanged: Any) -> Any:
    """The kernel run by Python, and so all kernels that it calls, at any depth."""
    plain = function.py_func
    names = {
        name: plainly(value, **exchanged) if hasattr(value, "py_func") else value
        for name, value in plain.__globals__.items()
        if name in plain.__code__.co_names
    }
    used = {name: value for name, value in exchanged.items() if name in names}
    return FunctionType(plain.__code__, {**plain.__globals__, **names, **used}, plain.__name__)


def recompiled(function: Any, **exchanged: Any) -> Any:
    """The kernel compiled anew; what it calls stays as it is."""
    plain = function.py_func
    settings = {name: value for name, value in SETTINGS.items() if name != "cache"}
    return njit(**settings)(FunctionType(plain.__code__, {**plain.__globals__, **exchanged}, plain.__name__))
