"""`DirectCall`: a kernel that is called many times with arguments of the same types."""

from __future__ import annotations

from typing import Any


class DirectCall:
    """Machine code of a kernel, called without repeating the check of argument types.

    Numba compares the types of all arguments at every call; for the sixty arrays of a model, its
    scratch and a run this takes 9 us, and the call itself 1 us. Here the first call goes through
    numba, which compiles the kernel or reads it from the cache; later calls go directly to the
    machine code.

    Only for call sites at which the package makes every argument itself, so that the types cannot
    vary: nothing checks them (`tests/contracts/test_direct_calls.py` does).  Where compilation is
    switched off, the kernel is the Python function."""

    __slots__ = ("kernel", "run")

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.run: Any = self._first if hasattr(kernel, "overloads") else kernel

    def _first(self, *arguments: Any) -> Any:
        result = self.kernel(*arguments)
        types = tuple(map(self.kernel.typeof_pyval, arguments))
        self.run = self.kernel.overloads[types].entry_point
        return result
