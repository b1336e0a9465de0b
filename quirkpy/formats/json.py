"""`to_json` and `from_json`: a part, a state or a whole system as text, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from quirkpy.explore.scope.choices import SettleRule
from quirkpy.explore.scope.choosing import OneHinge
from quirkpy.explore.scope.identity import SameShape
from quirkpy.explore.scope.options import Free, Hinge, Lock, Pin
from quirkpy.explore.scope.safety import KeepOut, Limit, NoCollision, StayTogether
from quirkpy.explore.scope.scope import Scope
from quirkpy.explore.study import Study
from quirkpy.maths.warnings import reading
from quirkpy.mechanics.state import State
from quirkpy.parts.json import PART_TYPES, Reader, Writer
from quirkpy.parts.part import Part
from quirkpy.system.multibody import Multibody

#: Every class that a document may name without modules chosen by the reader. Those of studies have
#: fixed names, since the digest of a study, and with it every journal, depends on them.
TYPES: dict[str, type[Part]] = PART_TYPES | {
    f"quirkpy.explore.{kind}:{cls.__name__}": cls
    for kind, classes in (
        ("choices", (SettleRule,)),
        ("choosing", (OneHinge,)),
        ("identity", (SameShape,)),
        ("options", (Free, Lock, Hinge, Pin)),
        ("safety", (StayTogether, NoCollision, Limit, KeepOut)),
    )
    for cls in classes
}


def to_json(what: Part | State | Multibody | Scope) -> str:
    """A part, a state, a system or a study as JSON text; functions raise an error."""
    return Writer(
        {Multibody: _write_system, State: _write_state, Study: _write_study}, TYPES
    ).document(what)


def from_json(text: str | bytes, modules: Iterable[str] = ()) -> Any:
    """The object written by `to_json`, restored bit for bit.

    modules: names of the modules whose own parts (subclasses of Joint, Force ...) the document may
    use; they are imported. No other code is run."""
    kinds = {"Multibody": _read_system, "State": _read_state, "Study": _read_study}
    with reading():
        return Reader(text, modules, kinds, TYPES).root()


def _write_system(writer: Writer, system: Multibody) -> dict[str, Any]:
    start = system.initial if system.initial != State.written(system.selection) else None
    return {
        "type": "Multibody",
        "parts": writer.value(system.parts),
        "candidates": writer.value(system.candidates),
        "start": writer.value(start),
    }


def _read_system(fields: dict[str, Any]) -> Multibody:
    return Multibody(*fields["parts"], candidates=fields["candidates"], start=fields["start"])


def _write_state(writer: Writer, state: State) -> dict[str, Any]:
    arrays = ("bodies", "r", "q", "v", "omega", "joints", "windings")
    further = (*("further",) * bool(state.further.size), *("here",) * bool(state.here))
    return {"type": "State", "t": state.t} | {
        name: writer.value(getattr(state, name)) for name in (*arrays, *further)
    }


def _read_state(fields: dict[str, Any]) -> State:
    widths = {"r": 3, "q": 4, "v": 3, "omega": 3}
    r, q, v, omega = (
        np.array(fields[name], dtype=float).reshape(-1, width) for name, width in widths.items()
    )
    joints, windings = fields["joints"], fields["windings"]
    further = np.array(fields.get("further", ()), dtype=float)
    return State(
        fields["t"], fields["bodies"], r, q, v, omega, joints, windings, further=further,
        here=fields.get("here", ()),
    )  # fmt: skip


def _write_study(writer: Writer, study: Study) -> dict[str, Any]:
    fields = study.fields()
    fields["options"] = [[list(kinds), list(chosen)] for kinds, chosen in study.options.items()]
    fields["potentials"] = [[name, list(forces)] for name, forces in study.potentials.items()]
    return {"type": "Study"} | {name: writer.value(value) for name, value in fields.items()}


def _read_study(fields: dict[str, Any]) -> Study:
    fields["options"] = {tuple(kinds): chosen for kinds, chosen in fields["options"]}
    fields["potentials"] = dict(fields["potentials"])
    return Study(fields.pop("system"), **fields)
