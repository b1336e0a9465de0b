"""A way from compiled code into Python, by the address of a function: data, so nothing is compiled again for it."""

from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from quirkpy.kernels.compiled import inner
from quirkpy.parts.checks import Ints

#: What Python is asked for: loads of the users' forces, rows of their joints, values of their events.
LOADS, ROWS, EVENTS = range(3)

# Columns of the hook: address of the function or 0; whether it has failed; whether parts ask (not events alone).
ADDRESS, FAILED, PARTS, HOOK_WIDTH = range(4)

#: A function of what is asked for; returns 0, or 1 when it failed.
SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def call(address: int, what: int) -> int:
    """Call the function at an address."""
    return int(SIGNATURE(int(address))(int(what)))


@intrinsic
def _call(typing_context: Any, address: Any, what: Any) -> Any:
    """The same in machine code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [arguments[1]])

    return types.int64(types.int64, types.int64), generate


in_machine_code: Any = _call


@overload(call)
def _call_compiled(address: Any, what: Any) -> Any:
    def compiled(address: Any, what: Any) -> Any:
        return in_machine_code(address, what)

    return compiled


@inner
def ask(hook: Ints, what: int) -> None:
    """Ask Python, unless it has failed before."""
    if hook[FAILED] == 0:
        hook[FAILED] = call(hook[ADDRESS], what)
