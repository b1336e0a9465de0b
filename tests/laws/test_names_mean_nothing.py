"""Whatever bodies and forces are called, by words of the sentences or by parts of each other's
names: a study has one graph, and its reasons name the right ones."""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import cache
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.journal import record_of, text_of
from quirkpy.explore.model.graph import Outcome
from quirkpy.explore.run.records import Record
from quirkpy.rest.reason import PLAIN, TOLD, WORDINGS, Of, Reason, reason_of, told
from tests.random_studies import Copy, random_study
from tests.random_systems import seeds
from tests.studies import changed

SIDE = 0.1
#: Words of sentences, names that contain each other, letters of patterns, quotes, lists, templates.
HOSTILE = [
    ("x", "a", "an"),
    ("of", "the", "body"),
    ("body", "body 1", "body 10"),
    ("one two", "one", "two"),
    ("leaves it", "it", "a.*b"),
    ("(a|b)", "a, b", "b"),
    ('"it"', "'", "\\w+"),
    ("nothing", "moves", "turns"),
    ("a minimum of energy", "minimum", "energy"),
    ("{parts}", "{0}", "%s"),
    ("stiffness", "jumps", "here"),
    ("upper", "lower", "faces lower"),
]
PLAINLY = ("P", "Q", "R")


def plainly(names: tuple[str, ...]) -> tuple[str, ...]:
    """Plain names, in the order of others."""
    order = sorted(names)
    return tuple(PLAINLY[order.index(name)] for name in names)


@cache
def arms(hub: str, east: str, west: str) -> qp.Study:
    """Two arms alike, hinged to a heavy hub from both sides, or locked: pushed over their hinges,
    or held by ropes that are just taut.  Whatever is called anything is called after a body."""
    size = (SIDE, SIDE, SIDE)
    middle = qp.Body.box(hub, size, 60.0)
    ends = [(name, sign) for name, sign in ((east, 1.0), (west, -1.0))]
    bodies = [
        qp.Body.box(name, size, 1.0, position=(sign * SIDE, 0.0, 0.0),
                    orientation=qp.rotation((0, 0, 1), 0.0 if sign > 0.0 else math.pi))
        for name, sign in ends
    ]  # fmt: skip
    up, sensors = (0.0, 0.0, 1.0), list[qp.Sensor]()
    for k, (_, sign) in enumerate(ends):
        site = middle.site(f"face {k}", at=(0.5 * sign * SIDE, 0.0, 0.0), z=(sign, 0.0, 0.0), x=up)
        sensors.append(qp.Sensor(f"{hub} face {k}", site, kind="hub", accepts=("arm",)))
    for body in bodies:
        site = body.site("root", at=(-0.5 * SIDE, 0.0, 0.0), z=(-1.0, 0.0, 0.0), x=up)
        sensors.append(qp.Sensor(f"{body.name} root", site, kind="arm", accepts=("hub",)))

    def line(what: str, k: int, y: float, to: float, **fields: Any) -> qp.Spring:
        sign = ends[k][1]
        at1, at2 = (sign * 0.4 * SIDE, sign * y, 0.0), (sign * to * SIDE, sign * y, 0.0)
        return qp.Spring(f"{ends[k][0]} {what}", middle, bodies[k], at1=at1, at2=at2,
                         stiffness=1.0, **fields)  # fmt: skip

    both = range(2)
    return qp.Study(
        qp.Multibody(middle, *bodies),
        sensors=sensors,
        options={("hub", "arm"): [qp.Free(), qp.Lock(), qp.Hinge(1), qp.Hinge(2)]},
        potentials={
            "push": [line("it", k, -0.5 * SIDE, 1.2, rest_length=2.0 * SIDE) for k in both],
            "hold": [line("of", k, 0.45 * SIDE, 0.9, rest_length=0.05, tension_only=True)
                     for k in both],
        },
        always=[qp.ViscousHinges(2e-4)], safety=[qp.StayTogether()], nudge=0.0,
        same=qp.SameShape(interchangeable=[bodies]),
    )  # fmt: skip


@cache
def graph_of(names: tuple[str, ...], reductions: bool = True) -> ReconfigurationGraph:
    return arms(*names).explore(reductions=reductions)


def renaming(one: tuple[str, ...], two: tuple[str, ...]) -> Any:
    """What a study calls things, in the names of another."""
    studies = arms(*one), arms(*two)
    bodies = dict(zip(one, two, strict=True))
    listed = [
        [part.name for pair in range(len(study.pairs)) for option in study.options["hub", "arm"]
         if option.joins for roll in range(len(study.rolls(study.pairs[pair])))
         for part in study.joint_parts(pair, roll, option)]
        for study in studies
    ]  # fmt: skip
    joints = dict(zip(*listed, strict=True))
    stops = {f"{a} {side}": f"{b} {side}" for a, b in joints.items() for side in ("lower", "upper")}
    forces = {a.name: b.name for p in studies[0].forces
              for a, b in zip(*(study.forces[p] for study in studies), strict=True)}  # fmt: skip
    known: dict[Of, dict[str, str]] = {"bodies": bodies, "stops": stops, "forces": forces}
    return lambda of, parts: [known[of][part] for part in parts]


def data_of(reason: Reason) -> Any:
    """What a reason says beside figures, which rounding changes where they are next to none."""
    return reason.kind, reason.parts, tuple(map(data_of, reason.why))


def check_alike(one: ReconfigurationGraph, two: ReconfigurationGraph, other: Any = None) -> None:
    """Two graphs are one, and say the same in the names of the second."""

    def said(reason: Reason) -> Any:
        named = reason if other is None else reason.renamed(other)
        assert named is not None, reason
        return data_of(named) if named.kind.startswith("level") else (str(named), data_of(named))

    def own(reason: Reason) -> Any:
        return data_of(reason) if reason.kind.startswith("level") else (str(reason), data_of(reason))

    assert [said(n.reason) for n in one.nodes.values()] == [
        own(n.reason) for n in two.nodes.values()
    ]
    assert [(e.source, e.kind, e.target) for e in one.edges] == [
        (e.source, e.kind, e.target) for e in two.edges
    ]
    for e, f in zip(one.edges, two.edges, strict=True):
        assert [said(o.reason) for o in e.outcomes] == [own(o.reason) for o in f.outcomes], e
        parts = [o.parts if other is None else tuple(other("bodies", o.parts)) for o in e.outcomes]
        assert parts == [o.parts for o in f.outcomes], e


@pytest.mark.parametrize("names", HOSTILE, ids=" ".join)
def test_reasons_name_the_right_ones(names: tuple[str, str, str]) -> None:
    """With reductions as without, and as the same study in plain names."""
    graph, plain = graph_of(names), plainly(names)
    check_alike(graph, graph_of(names, False))
    check_alike(graph, graph_of(plain), renaming(names, plain))
    named = [o.reason for e in graph.edges for o in e.outcomes
             if e.carried is not None and set(e.carried.by) & {"symmetry", "cache"}]  # fmt: skip
    kinds = {reason.kind for reason in named} | {why.kind for one in named for why in one.why}
    assert kinds >= {"falls beside", "minimum beside", "touches", "jumps"}
