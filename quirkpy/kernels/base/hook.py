"""Calls from compiled code to users' functions through addresses: an address is data, so nothing is
compiled anew.

`ask` calls into Python; `call_law` calls laws that are machine code themselves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from quirkpy.kernels.base.compiled import inner
from quirkpy.maths.types import Floats, Ints

#: What Python is asked for: loads of the users' forces, rows of their joints, values of their
#: events, what is wrong with a law that gave no number.
LOADS, ROWS, EVENTS, WRONG_LAW = range(4)

# Columns of the hook: address of the function or 0; whether it has failed; whether parts ask (not
# events alone); whether there are compiled laws.
ADDRESS, FAILED, PARTS, LAWS, HOOK_WIDTH = range(5)

#: A function of what is asked for; returns 0, or 1 when it failed.
SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


def call(address: int, what: int) -> int:
    """Call the function at an address."""
    return int(SIGNATURE(int(address))(int(what)))


@intrinsic
def _call(typing_context: Any, address: Any, what: Any) -> Any:
    """Machine code that calls the function at an address with one number, and gives its answer."""

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


#: Where nothing is compiled, an address is the number of a Python function.
PLAIN_LAWS: dict[int, Callable[..., float]] = {}


def call_formula(
    address: int, which: int, t: float, x: float, rate: float, row: int, numbers: Floats
) -> float:
    """Call one of the formulas at an address, with its numbers in a row of an array."""
    return PLAIN_LAWS[int(address)](which, t, x, rate, row, numbers)


@intrinsic
def _call_formula(
    typing_context: Any, address: Any, which: Any, t: Any, x: Any, rate: Any, row: Any, numbers: Any
) -> Any:
    """Machine code that calls compiled formulas at an address; the array goes as the address of its
    numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[6])(context, builder, arguments[6])
        whole, real = ir.IntType(64), ir.DoubleType()
        kinds = [whole, real, real, real, whole, array.data.type]
        function = builder.inttoptr(arguments[0], ir.FunctionType(real, kinds).as_pointer())
        return builder.call(function, [*arguments[1:6], array.data])

    kinds = types.int64, types.float64, types.float64, types.float64, types.int64
    return types.float64(types.int64, *kinds, numbers), generate


formula_in_machine_code: Any = _call_formula


@overload(call_formula)
def _call_formula_compiled(
    address: Any, which: Any, t: Any, x: Any, rate: Any, row: Any, numbers: Any
) -> Any:
    def compiled(
        address: Any, which: Any, t: Any, x: Any, rate: Any, row: Any, numbers: Any
    ) -> Any:
        return formula_in_machine_code(address, which, t, x, rate, row, numbers)

    return compiled


def call_law(
    address: int, t: float, e: int, what: Ints, numbers: Floats, body: Ints, place: Floats,
    frames: Floats, wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """Call the law at an address for element e: it adds to wrench and power, and returns the
    potential energy."""
    return PLAIN_LAWS[int(address)](t, e, what, numbers, body, place, frames, wrench, power)


@intrinsic
def _call_law(
    typing_context: Any, address: Any, t: Any, e: Any, what: Any, numbers: Any, body: Any,
    place: Any, frames: Any, wrench: Any, power: Any,
) -> Any:  # fmt: skip
    """Machine code that calls a compiled law at an address; arrays go as addresses of numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = zip(signature.args[3:], arguments[3:], strict=True)
        data = [context.make_array(kind)(context, builder, value).data for kind, value in arrays]
        kinds = [ir.DoubleType(), ir.IntType(64), *(pointer.type for pointer in data)]
        function = builder.inttoptr(
            arguments[0], ir.FunctionType(ir.DoubleType(), kinds).as_pointer()
        )
        return builder.call(function, [arguments[1], arguments[2], *data])

    arrays = what, numbers, body, place, frames, wrench, power
    return types.float64(types.int64, types.float64, types.int64, *arrays), generate


law_in_machine_code: Any = _call_law


@overload(call_law)
def _call_law_compiled(
    address: Any,
    t: Any,
    e: Any,
    what: Any,
    numbers: Any,
    body: Any,
    place: Any,
    frames: Any,
    wrench: Any,
    power: Any,
) -> Any:
    def compiled(
        address: Any, t: Any, e: Any, what: Any, numbers: Any, body: Any, place: Any, frames: Any,
        wrench: Any, power: Any,
    ) -> Any:  # fmt: skip
        return law_in_machine_code(address, t, e, what, numbers, body, place, frames, wrench, power)

    return compiled
