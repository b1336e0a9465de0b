"""Four hinges in a block of two by two: rigid to first order, mobile to first order and yet rigid,
or mobile.

The truth is the loop in the plane: hinges that open by small angles, none below zero, and carry the
block around once to where it was."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

import quirkpy as qp
from demos.imaging_in_orbit import mission
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.choices import Choice
from quirkpy.explore.scope.options import Hinge
from tests.studies import block

Pin = tuple[
    Any, float
]  # where its axis stands in the plane, in sides; in which sense the next module turns
AROUND = (("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"))
EVERY = list(itertools.product(("hinge 1", "hinge 2"), repeat=4))


@cache
def the_block() -> tuple[qp.Study, qp.Node]:
    study = block()
    return study, study.explore(budget=0, progress=False).nodes["n0"]


def pins(labels: tuple[str, ...]) -> list[Pin]:
    """The hinges in their order around the block."""
    study, node = the_block()
    out: dict[tuple[str, str], Pin] = {}
    for (pair, _), label in zip(study.open_pairs(node), labels, strict=True):
        one, two, _ = study.pairs[pair]
        site, option = study.sensors[one].site, study.option(study.pairs[pair], label)
        assert isinstance(option, Hinge)
        at, axis, _ = option.placed(site)
        place = (np.array(site.body.position) + site.at + site.axes @ at)[:2] / 0.1
        sense = float((site.axes @ axis)[2])
        names = site.body.name, study.sensors[two].site.body.name
        out |= {names: (place, sense), names[::-1]: (place, -sense)}
    return [out[names] for names in AROUND]


def missed(around: list[Pin], angles: Any) -> Any:
    """How far the block is from where it was, carried around once: a shift, and the sine of a
    turn."""
    turn, shift = np.eye(2), np.zeros(2)
    for (place, sense), angle in zip(around, angles, strict=True):
        c, s = math.cos(angle), sense * math.sin(angle)
        here = np.array([[c, -s], [s, c]])
        turn, shift = turn @ here, shift + turn @ (place - here @ place)
    return np.array([*shift, turn[1, 0]])


def least_miss(around: list[Pin], opened: float) -> float:
    """The least of that for hinges that open by so much in all [rad], from many starts."""
    found = [
        least_squares(
            lambda x: np.append(missed(around, x), 10.0 * (x.sum() - opened)),
            np.random.default_rng(seed).dirichlet(np.ones(4)) * opened,
            bounds=(0.0, np.inf),
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
        )
        for seed in range(6)
    ]
    return min(float(abs(one.fun).max()) for one in found)


def kind_of(around: list[Pin]) -> str:
    """What such hinges leave, by how the miss grows with the opening."""
    small, large = least_miss(around, 0.02), least_miss(around, 0.04)
    if large < 1e-9:
        return "mobile"
    return "rigid" if large < 3.0 * small else "rigid to second order"


def test_there_are_some_of_each_kind() -> None:
    kinds = [kind_of(pins(labels)) for labels in EVERY]
    assert [kinds.count(kind) for kind in ("rigid", "rigid to second order", "mobile")] == [
        10,
        4,
        2,
    ]


@pytest.mark.parametrize("labels", EVERY)
def test_a_block_moves_where_its_hinges_can(labels: tuple[str, ...]) -> None:
    """Springs push all modules apart: what can open does."""
    study, node = the_block()
    chosen = [
        c
        for c in study.choices(node)
        if c.potential == "apart" and tuple(label for _, label in c.joints) == labels
    ]
    (outcome,) = run_choice(study, node, chosen[0]).outcomes
    kind = kind_of(pins(labels))
    assert outcome.kind == ("moved" if kind == "mobile" else "stayed")
    if kind == "rigid to second order":
        assert outcome.reason == "nothing in it can move"


@pytest.mark.parametrize("potential", ["coast", "pull", "push"])
def test_three_pins_on_one_line_stand_whatever_pulls_across_it(potential: str) -> None:
    """One module locked to the next, in orbit: a triangle that lies flat is mobile to first order,
    and never moves."""
    study = mission(choosing=())
    node = study.explore(budget=0, progress=False).nodes["n0"]
    held = {
        "A up | B down": "hinge 1",
        "B ahead | C back": "lock",
        "C down | D up": "hinge 1",
        "A ahead | D back": "hinge 1",
    }
    joints = tuple(
        (study.pairs[pair].name, held[study.pairs[pair].name]) for pair, _ in study.open_pairs(node)
    )
    (outcome,) = run_choice(study, node, Choice(joints, potential)).outcomes
    assert (outcome.kind, outcome.reason) == ("stayed", "nothing in it can move")
