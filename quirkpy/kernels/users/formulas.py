"""Formulas of numbers that users wrote, as machine code that kernels call by its address: functions
of time, and laws of coordinates.

For each set of formulas, and each form of their numbers, a few lines are written that take the
numbers out of a row; numba compiles these together with the formulas, once in each process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numba
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from quirkpy.kernels.act.driven import CHANGE_OF, ENERGY_OF, LOAD_OF
from quirkpy.kernels.base.arrays import KNOT_VALUE, KNOT_WIDTH
from quirkpy.kernels.base.hook import PLAIN_LAWS
from quirkpy.kernels.place.schedules import ACCELERATION_AT, RATE_AT, VALUE_AT
from quirkpy.kernels.users.laws import KEPT, OF_USERS, SETTINGS, kind_of, nb, reason, returned_by
from quirkpy.parts.formulas import STEP, CompiledFunction, parameters_of
from quirkpy.parts.joint_laws import JointLaw
from quirkpy.parts.part import Part
from quirkpy.tables.tables import ELEMENT_WIDTH, Selection, Tables

types: Any = numba.types
#: The functions, by the numbers under which kernels ask for them; of each argument its name and
#: whether it is a number (1) or a tuple of n numbers (-n); whether they stand in one row, or one in
#: each row.
Formulas: TypeAlias = tuple[
    tuple[tuple[int, Callable[..., Any]], ...], tuple[tuple[str, int], ...], bool
]
#: Where a function is asked again, as shares of the time, at least of 1 s [s]: steps shrink until
#: they end right before what cannot be passed.
AHEAD = 0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8
#: Formulas -> address.
FORMULA_ADDRESSES: dict[Formulas, int] = {}
SIGNATURE = types.float64(
    types.int64, types.float64, types.float64, types.float64, types.int64,
    types.CPointer(types.float64),
)  # fmt: skip


def address_of_function(function: CompiledFunction) -> int:
    """The address of the machine code of a function of time, in this process."""
    words = {VALUE_AT: "value", RATE_AT: "rate", ACCELERATION_AT: "acceleration"}
    return _address(function, words, function.arguments, False)


def address_of_law(law: JointLaw) -> int:
    """The address of the machine code of a law of a coordinate, in this process."""
    return _address(law, {LOAD_OF: "load", ENERGY_OF: "energy"}, law.arguments, True)


def _address(
    part: Part, words: Mapping[int, str], arguments: Mapping[str, Any], in_row: bool
) -> int:
    functions = ((k, getattr(type(part), word)) for k, word in words.items())
    kinds = tuple((name, kind_of(value)) for name, value in arguments.items())
    key = tuple((k, function) for k, function in functions if function is not None), kinds, in_row
    if key not in FORMULA_ADDRESSES:
        FORMULA_ADDRESSES[key] = _compile(part, key)
    return FORMULA_ADDRESSES[key]


def _compile(part: Part, formulas: Formulas) -> int:
    functions, kinds, in_row = formulas
    if nb.config.DISABLE_JIT:
        PLAIN_LAWS[len(PLAIN_LAWS) + 1] = _chosen(formulas, dict(functions))
        return len(PLAIN_LAWS)
    width = ELEMENT_WIDTH if in_row else KNOT_WIDTH
    try:
        chosen = nb.njit(**SETTINGS)(
            _chosen(formulas, {k: _user(part, f, dict(kinds)) for k, f in functions})
        )

        @nb.cfunc(SIGNATURE, **SETTINGS)
        def called(which: int, t: float, x: float, rate: float, row: int, numbers: Any) -> float:
            # Rows are found by their width; how many there are nobody asks.
            try:
                return chosen(which, t, x, rate, row, nb.carray(numbers, (1, width)))
            except Exception:  # it is told from Python (see `PythonParts`)
                return math.nan

    except (NumbaError, UnsupportedBytecodeError) as error:
        raise part.refuse(
            f"numba cannot compile its formulas: {reason(error)}.", code="yours"
        ) from error
    KEPT.append(called)
    return int(called.address)


def _user(part: Part, function: Callable[..., Any], kinds: Mapping[str, int]) -> Any:
    """A user's function, compiled for its arguments; what it returns is checked."""
    made = nb.njit(**OF_USERS)(function)
    asked = [kinds.get(name, 1) for name in parameters_of(function)]
    made.compile(
        tuple(types.UniTuple(types.float64, -k) if k < 0 else types.float64 for k in asked)
    )
    if not isinstance(returned_by(made), (types.Float, types.Integer)):
        raise part.refuse(
            f"{function.__name__} must return one number, but returns {returned_by(made)}.",
            code="yours",
        )
    return made


def _chosen(formulas: Formulas, functions: Mapping[int, Any]) -> Callable[..., float]:
    """A function of the arrays that calls the formula that is asked for."""
    names: dict[str, Any] = {f"formula{k}": function for k, function in functions.items()}
    names |= {"nan": math.nan, "__name__": formulas[0][0][1].__module__}
    title = f"<formulas of {formulas[0][0][1].__qualname__}>"
    exec(compile(formula_source(formulas), title, "exec"), names)
    return names["chosen"]


def formula_source(formulas: Formulas) -> str:
    """The lines of Python that take numbers out of the arrays and call a formula with them."""
    functions, kinds, in_row = formulas
    words, k = {name: name for name in ("t", "x", "rate")}, 1 if in_row else 0
    for name, kind in kinds:
        count = max(1, -kind)
        place = "numbers[row, {}]" if in_row else f"numbers[row + {{}}, {KNOT_VALUE}]"
        some = [place.format(k + i) for i in range(count)]
        words[name], k = f"({', '.join(some)},)" if kind < 0 else some[0], k + count
    lines = []
    for number, function in functions:
        asked = [words[name] for name in parameters_of(function)]
        lines += [f"if which == {number}:", f"    return formula{number}({', '.join(asked)})"]
        if in_row and number == ENERGY_OF:
            lines += [f"if which == {CHANGE_OF}:", f"    return {_change(asked)}"]
    head = "def chosen(which, t, x, rate, row, numbers):\n    "
    return head + "\n    ".join([*lines, "return nan"]) + "\n"


def _change(asked: list[str]) -> str:
    """The slope of an energy over time, by differences; zero where it does not ask for the
    time."""
    if "t" not in asked:
        return "0.0"

    def at(k: int) -> str:
        moved = [f"t + {k * STEP!r}" if word == "t" else word for word in asked]
        return f"formula{ENERGY_OF}({', '.join(moved)})"

    return f"(8.0 * ({at(1)} - {at(-1)}) - ({at(2)} - {at(-2)})) / {12.0 * STEP!r}"


# --- what is wrong with them ----------------------------------------------------------------------
def check_functions(selection: Selection, t: float) -> None:
    """Raise an error that names the part and the time if a function of time of an acting part gives
    no number at a time [s], or right after it.

    The functions are called once more for this, uncompiled."""
    ahead = [t + some * max(1.0, abs(t)) for some in AHEAD]
    for part, formula in functions_of(selection):
        for at in ahead:
            try:
                formula.evaluate("value", at)
            except Exception as error:
                told = str(error).rstrip(".")
                raise part.refuse(
                    f"its {type(formula).__name__} gives no number at t = {at:.9g} s ({told}); "
                    "write it so that it does wherever the run comes by.",
                    code="yours",
                ) from error


def functions_of(selection: Selection) -> Iterator[tuple[Part, CompiledFunction]]:
    """The users' functions of time of all acting parts."""
    t = selection.tables
    asked: list[tuple[Part, int]] = []
    asked += [(t.joints[t.row_joint[r]], t.row_schedule[r]) for r in selection.rows]
    for e in selection.elements:
        force, joint = t.element_force[e], t.element_joint[e]
        part: Part = t.forces[force] if force >= 0 else t.joints[joint]
        asked += [(part, s) for s in t.element_schedule[e]]
    for part, s in asked:
        yield from ((part, formula) for formula in formulas_in(t, s))


def formulas_in(tables: Tables, s: int) -> Iterator[CompiledFunction]:
    """The formulas in one line of the table of schedules."""
    if s < 0:
        return
    formula, (first, last) = tables.schedule_formula[s], tables.schedule_parts[s]
    if formula is not None:
        yield formula
    for k in range(first, last + 1) if first >= 0 else ():
        yield from formulas_in(tables, k)
