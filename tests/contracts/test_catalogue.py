"""The catalogue holds every class of parts, and so do the public names and the table of types in
JSON."""

from __future__ import annotations

import importlib
import pkgutil

import quirkpy as qp
import quirkpy.parts
from quirkpy.parts.couplings import Coupling
from quirkpy.parts.joint import BaseJoint, PlacedJoint
from quirkpy.parts.json import PART_TYPES
from quirkpy.parts.plasticity import Plasticity
from tests.contracts.catalogue import (
    BASES,
    COUPLINGS,
    EVENTS,
    FORCES,
    JOINTS,
    PARTS,
    PRIMITIVES,
    SENSORS,
    UNWRITTEN,
)


def concrete() -> set[type[qp.Part]]:
    """Every class in the room of parts, the private and the abstract ones left out, and what a
    system adds by itself; those of studies stand apart."""
    for module in pkgutil.iter_modules(quirkpy.parts.__path__, "quirkpy.parts."):
        importlib.import_module(module.name)
    found, waiting = set[type[qp.Part]](), [qp.Part]
    while waiting:
        made = waiting.pop().__subclasses__()
        waiting += made
        found |= {
            cls
            for cls in made
            if cls.__module__.startswith("quirkpy.parts.") and not cls.__name__.startswith("_")
        }
    return found - {*BASES, BaseJoint, PlacedJoint, Coupling, Plasticity}


def examples() -> set[type[qp.Part]]:
    return {type(part) for part in (*PARTS, *UNWRITTEN)}


def test_catalogue_holds_every_class() -> None:
    assert concrete() - examples() == set()


def test_catalogue_lists_each_kind_in_its_place() -> None:
    events = (*EVENTS, *(part for part in UNWRITTEN if isinstance(part, qp.Event)))
    forces = (*FORCES, *(part for part in UNWRITTEN if isinstance(part, qp.Force)))
    kinds = (
        (BaseJoint, (*JOINTS, *COUPLINGS)),
        (qp.Force, forces),
        (qp.Sensor, SENSORS),
        (qp.Primitive, PRIMITIVES),
        (qp.Event, events),
    )
    for base, listed in kinds:
        assert {cls for cls in concrete() if issubclass(cls, base)} == {
            type(part) for part in listed
        }


def test_every_class_is_public() -> None:
    assert {cls.__name__ for cls in concrete()} - set(qp.__all__) == set()


def test_json_knows_every_class_by_its_name() -> None:
    assert {cls.__name__: cls for cls in concrete()} == PART_TYPES
