"""Laws of `CompiledForce`s as machine code that kernels call by its address.

For each law, and each form of its arguments, a few lines are written that take them out of the
arrays and add what the law returns; numba compiles these together with the law, once in each
process."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numba
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.extending import register_jitable

from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.arrays import (
    ELEMENT_COLUMNS,
    ELEMENT_SITE1,
    FRAME_WIDTH,
    PLACE_WIDTH,
    Sites,
)
from quirkpy.kernels.base.compiled import woven
from quirkpy.kernels.base.hook import PLAIN_LAWS
from quirkpy.kernels.place.sites import SiteMotion, load_at, power_at, site_axis, site_motion
from quirkpy.maths import triples
from quirkpy.maths.types import Floats
from quirkpy.parts.body import Body, Site
from quirkpy.parts.law import CompiledForce
from quirkpy.parts.motion import PlaceMotion, Wrench
from quirkpy.tables.tables import ELEMENT_WIDTH

#: numba's own annotations know less than it does.
nb: Any = numba
types: Any = numba.types
carray: Any = nb.carray

for _helper in (triples.add, triples.sub, triples.scale, triples.dot, triples.norm, triples.cross):
    register_jitable(_helper)

#: Law, energy, and of each argument its name and whether it is a place (0), a number (1) or a tuple
#: of n numbers (-n).
Form: TypeAlias = tuple[Callable[..., Any], Callable[..., Any] | None, tuple[tuple[str, int], ...]]
PLACE, NUMBER = 0, 1

#: Form -> address; and what must live as long as addresses are in use.
ADDRESSES: dict[Form, int] = {}
KEPT: list[Any] = []

#: As the kernels' own; users' arrays are checked for their bounds, for nothing may crash.
SETTINGS: dict[str, Any] = {"error_model": "numpy"}
OF_USERS: dict[str, Any] = {**SETTINGS, "boundscheck": True, "forceinline": True}
TRIPLE = types.UniTuple(types.float64, 3)
PLACE_TYPE = types.NamedUniTuple(TRIPLE, 6, PlaceMotion)
WHOLE, NUMBERS = types.CPointer(types.int64), types.CPointer(types.float64)
SIGNATURE = types.float64(
    types.float64, types.int64, WHOLE, NUMBERS, WHOLE, NUMBERS, NUMBERS, NUMBERS, NUMBERS
)


def address_of(force: CompiledForce) -> int:
    """The address of the machine code of a law, in this process."""
    form = form_of(force)
    if form not in ADDRESSES:
        ADDRESSES[form] = _compile(force, form)
    return ADDRESSES[form]


def form_of(force: CompiledForce) -> Form:
    """The data on which the machine code of a force depends."""
    kinds = ((name, kind_of(value)) for name, value in force.arguments.items())
    return type(force).law, type(force).energy, tuple(kinds)


def kind_of(value: Any) -> int:
    """How a law takes an argument: `PLACE`, `NUMBER`, or minus the length of a tuple."""
    if isinstance(value, (Body, Site)):
        return PLACE
    return -len(value) if isinstance(value, tuple) else NUMBER


def _compile(force: CompiledForce, form: Form) -> int:
    if nb.config.DISABLE_JIT:
        PLAIN_LAWS[len(PLAIN_LAWS) + 1] = _adapter(form, form[0], form[1], [True] * len(form[2]))
        return len(PLAIN_LAWS)
    try:
        law, energy = _law(force, form), _energy(force, form)
        adapter = nb.njit(**SETTINGS)(
            _adapter(form, law, energy, [len(w.types) > 1 for w in _wrenches(law, form)])
        )

        @nb.cfunc(SIGNATURE, **SETTINGS)
        def called(
            t: float,
            e: int,
            what: Any,
            numbers: Any,
            body: Any,
            place: Any,
            frames: Any,
            wrench: Any,
            power: Any,
        ) -> float:
            # Rows are found by their width; how many there are nobody asks.
            try:
                return adapter(
                    t,
                    e,
                    carray(what, (1, ELEMENT_COLUMNS)),
                    carray(numbers, (1, ELEMENT_WIDTH)),
                    carray(body, (1,)),
                    carray(place, (1, PLACE_WIDTH)),
                    carray(frames, (1, FRAME_WIDTH)),
                    carray(wrench, (1, 6)),
                    carray(power, (2,)),
                )
            except Exception:  # it is told from Python (see `PythonParts`)
                return math.nan

    except (NumbaError, UnsupportedBytecodeError) as error:
        raise force.refuse(
            f"numba cannot compile its law: {reason(error)}.", code="yours"
        ) from error
    KEPT.append(called)
    return int(called.address)


def _law(force: CompiledForce, form: Form) -> Any:
    """The law, compiled for its arguments; what it returns is checked."""
    law = _user(form[0], form)
    wrenches = _wrenches(law, form)
    if len(wrenches) != _places(form) or not all(map(is_wrench, wrenches)):
        raise force.refuse(
            f"law must return {_places(form)} qp.Wrench, one for each body and site that it asks "
            "for, each of three "
            "numbers or twice three, without a point.",
            code="yours",
        )
    return law


def _energy(force: CompiledForce, form: Form) -> Any:
    """The energy of a force [J], compiled by numba; None where it states none."""
    if form[1] is None:
        return None
    energy = _user(form[1], form)
    if not isinstance(returned_by(energy), (types.Float, types.Integer)):
        raise force.refuse(
            f"energy must return one number [J], but returns {returned_by(energy)}.", code="yours"
        )
    return energy


def _user(function: Callable[..., Any], form: Form) -> Any:
    made, kinds = nb.njit(**OF_USERS)(function), dict(form[2])
    made.compile(
        tuple(_type_of(kinds.get(name, NUMBER)) for name in inspect.signature(function).parameters)
    )
    return made


def returned_by(compiled: Any) -> Any:
    """The return type of a compiled function, as numba's type."""
    return compiled.nopython_signatures[0].return_type


def _wrenches(law: Any, form: Form) -> list[Any]:
    returned = returned_by(law)
    return [returned] if _places(form) == 1 else list(getattr(returned, "types", ()))


def _places(form: Form) -> int:
    """The number of places on which the law acts."""
    kinds = dict(form[2])
    return sum(kinds.get(name) == PLACE for name in inspect.signature(form[0]).parameters)


def _type_of(kind: Any) -> Any:
    if kind == PLACE:
        return PLACE_TYPE
    return types.UniTuple(types.float64, -kind) if kind < 0 else types.float64


def is_wrench(kind: Any) -> bool:
    """Whether a type of numba's is a wrench about the origin of a site."""
    if getattr(kind, "instance_class", None) is not Wrench:
        return False
    given, point = kind.types[:2], kind.types[2:]
    vectors = all(isinstance(v, types.BaseTuple) and len(v.types) == 3 for v in given)
    whole = vectors and all(
        isinstance(x, (types.Float, types.Integer)) for v in given for x in v.types
    )
    return whole and all(isinstance(p, types.NoneType) for p in point)


def reason(error: Exception) -> str:
    """The message of a compilation error, with a way out if the message is only about numba's
    internals."""
    if "IMPORT_NAME" in str(error):
        return "it imports a module; import it where the class is defined, outside of the law"
    return first_line(error)


def first_line(error: Exception) -> str:
    """The first line of a compilation error."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [
        line
        for line in lines
        if line and not line.startswith(("Failed in", "No implementation", "- "))
    ]
    return (told[0] if told else "it gives no reason")[:200].rstrip(".:")


def _adapter(form: Form, law: Any, energy: Any, turning: list[bool]) -> Callable[..., float]:
    """A function of the arrays that calls law and energy for element e; turning: which wrenches
    have a torque."""
    names = {
        "law": law,
        "energy": energy,
        "Sites": Sites,
        "moving": moving,
        "resting": resting,
        "load_at": load_at,
    }
    names |= {"power_at": power_at, "INTO": INTO, "OUT": OUT, "__name__": form[0].__module__}
    exec(compile(source(form, turning), f"<law of {form[0].__qualname__}>", "exec"), names)
    return names["adapter"]


def source(form: Form, turning: list[bool]) -> str:
    """The lines of Python that take the arguments of a law out of the arrays and add its load."""
    law, energy, kinds = form
    words: dict[str, str] = {"t": "t"}
    places: list[str] = []
    k = 0
    for name, kind in kinds:
        if kind == PLACE:
            words[name] = f"at{len(places)}"
            places.append(name)
        elif kind == NUMBER:
            words[name], k = f"numbers[e, {k}]", k + 1
        else:
            words[name] = "(" + "".join(f"numbers[e, {k + i}], " for i in range(-kind)) + ")"
            k -= kind

    def call(function: Callable[..., Any], at: str = "at") -> str:
        asked = [words[name] for name in inspect.signature(function).parameters]
        return f"({', '.join(at + word[2:] if word.startswith('at') else word for word in asked)})"

    acted = [
        words[name][2:]
        for name in inspect.signature(law).parameters
        if words[name].startswith("at")
    ]
    lines = ["sites = Sites(body, place)"]
    for i in range(len(places)):
        lines.append(f"site{i}, at{i} = moving(what[e, {ELEMENT_SITE1 + i}], sites, frames)")
    lines.append(f"{', '.join(f'w{i}' for i in acted)} = law{call(law)}")
    torques = [f"w{i}[1]" if turns else "(0.0, 0.0, 0.0)" for i, turns in zip(acted, turning)]
    loads = [f"site{i}, w{i}[0], {torque}" for i, torque in zip(acted, torques)]
    lines.append("given = 0.0")
    for load in loads:
        lines += [f"load_at({load}, wrench)", f"given += power_at({load})"]
    if energy is None:
        # nan where that is no number
        return _function([*lines, "power[INTO] += given", "return 0.0 * given"])
    lines += [f"still{i} = resting(at{i})" for i in range(len(places))]
    lines.append(f"{', '.join(f'w{i}' for i in acted)} = law{call(law, 'still')}")
    lines += [f"given -= power_at({load})" for load in loads]
    return _function([*lines, "power[OUT] -= given", f"return energy{call(energy)} + 0.0 * given"])


def _function(lines: list[str]) -> str:
    head = "def adapter(t, e, what, numbers, body, place, frames, wrench, power):\n    "
    return head + "\n    ".join(lines) + "\n"


@woven
def moving(site: int, sites: Sites, frames: Floats) -> tuple[SiteMotion, PlaceMotion]:
    """The motion of a site, in the form that a law sees."""
    at = site_motion(site, sites, frames)
    axes = (
        site_axis(site, 0, sites, frames),
        site_axis(site, 1, sites, frames),
        site_axis(site, 2, sites, frames),
    )
    return at, PlaceMotion(at.position, axes[0], axes[1], axes[2], at.velocity, at.spin)


@woven
def resting(at: PlaceMotion) -> PlaceMotion:
    """A place with the same pose, at rest."""
    return PlaceMotion(at.position, at.x, at.y, at.z, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
