"""Commands of compiled controllers, as machine code that kernels call by its address.

For each command, and each form of its numbers, a few lines are written that take them out of the
arrays and put what it returns into them; numba compiles these together with it, once in each
process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numba
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from quirkpy.kernels.base.hook import PLAIN_LAWS
from quirkpy.kernels.users.laws import (
    KEPT,
    NUMBERS,
    OF_USERS,
    SETTINGS,
    carray,
    kind_of,
    nb,
    reason,
    returned_by,
)
from quirkpy.parts.controller import Controller
from quirkpy.parts.formulas import parameters_of

types: Any = numba.types
SIGNATURE = types.int64(
    types.float64, NUMBERS, types.int64, types.int64, NUMBERS, types.int64, NUMBERS, types.int64
)
ROW = types.Array(types.float64, 1, "C")


class Counted(NamedTuple):
    """How many numbers a command is told, remembers and returns."""

    measured: int
    memory: int
    commands: int


#: The function; of each field that it asks for its name and whether it is a number (1) or a tuple
#: of n numbers (-n); how many numbers there are.
Form: TypeAlias = tuple[Callable[..., Any], tuple[tuple[str, int], ...], Counted]
#: Form -> address.
ADDRESSES: dict[Form, int] = {}


def address_of_command(controller: Controller, counted: Counted) -> int:
    """Where the machine code of a controller's command is in this process."""
    kinds = tuple((name, kind_of(value)) for name, value in controller.arguments.items())
    form = type(controller).command, kinds, counted
    if form not in ADDRESSES:
        ADDRESSES[form] = _compile(controller, form)
    return ADDRESSES[form]


def _compile(controller: Controller, form: Form) -> int:
    if nb.config.DISABLE_JIT:
        PLAIN_LAWS[len(PLAIN_LAWS) + 1] = _plain(_adapter(form, form[0], "any"))
        return len(PLAIN_LAWS)
    counted = form[2]
    try:
        made, way = _user(controller, form)
        adapter = nb.njit(**SETTINGS)(_adapter(form, made, way))

        @nb.cfunc(SIGNATURE, **SETTINGS)
        def called(
            t: float, row: Any, read: int, told: int, memory: Any, remembered: int, own: Any,
            mine: int,
        ) -> int:  # fmt: skip
            # How long arrays are beyond what is used of them nobody asks.
            try:
                return adapter(
                    t, carray(row, (told + counted.commands,)), read, told,
                    carray(memory, (remembered + counted.memory,)), remembered,
                    carray(own, (1,)), mine,
                )  # fmt: skip
            except Exception:  # it is told from Python (see `Controls.complain`)
                return 1

    except (NumbaError, UnsupportedBytecodeError) as error:
        raise controller.refuse(
            f"numba cannot compile its command: {reason(error)}.", code="yours"
        ) from error
    KEPT.append(called)
    return int(called.address)


def _plain(adapter: Callable[..., int]) -> Callable[..., int]:
    """Where nothing is compiled: an error is a failure, as in machine code."""

    def called(*given: Any) -> int:
        try:
            return adapter(*given)
        except Exception:
            return 1

    return called


def _user(controller: Controller, form: Form) -> tuple[Any, str]:
    """A user's command, compiled for its arguments, and whether it returns a number, a tuple or an
    array; what it returns is checked."""
    made, kinds = nb.njit(**OF_USERS)(form[0]), dict(form[1])
    named = {"t": types.float64, "measured": ROW, "memory": ROW}
    named |= {
        name: types.UniTuple(types.float64, -k) if k < 0 else types.float64
        for name, k in kinds.items()
    }
    made.compile(tuple(named[name] for name in parameters_of(form[0])))
    returned, count = returned_by(made), form[2].commands
    if isinstance(returned, (types.Float, types.Integer)) and count == 1:
        return made, "number"
    numbers = isinstance(returned, types.BaseTuple) and all(
        isinstance(one, (types.Float, types.Integer)) for one in returned.types
    )
    if numbers and len(returned.types) == count:
        return made, "tuple"
    if isinstance(returned, types.Array) and returned.ndim == 1:
        return made, "array"
    raise controller.refuse(
        f"command must return the {count} numbers of {', '.join(map(repr, controller.drives))}, "
        f"one after the other, as a tuple or an array, but returns {returned}.",
        code="yours",
    )


def _adapter(form: Form, command: Any, way: str) -> Callable[..., int]:
    """A function of the arrays that calls a command."""
    names: dict[str, Any] = {"command": command, "__name__": form[0].__module__}
    exec(compile(source(form, way), f"<command of {form[0].__qualname__}>", "exec"), names)
    return names["adapter"]


def source(form: Form, way: str) -> str:
    """The lines of Python that take numbers out of the arrays, call a command with them, and write
    down what it returns."""
    function, kinds, counted = form
    words: Mapping[str, str] = {
        "t": "t",
        "measured": f"row[read:read + {counted.measured}]",
        "memory": f"memory[remembered:remembered + {counted.memory}]",
    } | _fields(kinds)
    lines = [f"made = command({', '.join(words[name] for name in parameters_of(function))})"]
    if way == "number":
        lines.append("row[told] = made")
    elif way == "any":
        lines.append(f"row[told:told + {counted.commands}] = made")
    else:
        lines += [f"if len(made) != {counted.commands}:", "    return 1"]
        lines += [f"row[told + {k}] = made[{k}]" for k in range(counted.commands)]
    head = "def adapter(t, row, read, told, memory, remembered, own, mine):\n    "
    return head + "\n    ".join([*lines, "return 0"]) + "\n"


def _fields(kinds: tuple[tuple[str, int], ...]) -> dict[str, str]:
    """Where the fields that a command asks for stand among its own numbers."""
    out, k = dict[str, str](), 0
    for name, kind in kinds:
        some = [f"own[mine + {k + i}]" for i in range(max(1, -kind))]
        out[name], k = f"({', '.join(some)},)" if kind < 0 else some[0], k + len(some)
    return out
