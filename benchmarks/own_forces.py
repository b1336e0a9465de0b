"""A user's own force against the built-in one of the same law, in runs of small systems: compiled,
and in Python.

``python -m benchmarks own-forces``.  Runs of one row take turns; all take the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race
from quirkpy import triples

SIDE, DURATION = 0.1, 10.0
#: How a force is given, the built-in one first.
WAYS = ("built in", "compiled law", "load in Python", "potential in Python")


class LawSpring(qp.CompiledForce):
    """Tension k (L - L0) + c dL/dt."""

    first: qp.Site
    second: qp.Site
    stiffness: float
    length: float
    damping: float

    @staticmethod
    def law(first, second, stiffness, length, damping):  # type: ignore[no-untyped-def]
        d = triples.sub(second.position, first.position)
        apart = triples.norm(d)
        along = triples.scale(1.0 / apart, d)
        rate = triples.dot(along, triples.sub(second.velocity, first.velocity))
        pull = triples.scale(stiffness * (apart - length) + damping * rate, along)
        return qp.Wrench(pull), qp.Wrench(triples.scale(-1.0, pull))

    @staticmethod
    def energy(first, second, stiffness, length):  # type: ignore[no-untyped-def]
        d = triples.sub(second.position, first.position)
        return 0.5 * stiffness * (triples.norm(d) - length) ** 2


class LawWell(qp.CompiledForce):
    """A pull to a point of N."""

    body: qp.Body
    centre: tuple[float, float, float]
    stiffness: float

    @staticmethod
    def law(body, centre, stiffness):  # type: ignore[no-untyped-def]
        return qp.Wrench(triples.scale(stiffness, triples.sub(centre, body.position)))

    @staticmethod
    def energy(body, centre, stiffness):  # type: ignore[no-untyped-def]
        d = triples.sub(centre, body.position)
        return 0.5 * stiffness * triples.dot(d, d)


class LoadSpring(qp.Force):
    """The spring in Python, without its damping where only the potential is asked."""

    first: qp.Site
    second: qp.Site
    stiffness: float
    length: float
    damping: float

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        one, two = at[self.first], at[self.second]
        d = two.position - one.position
        apart = math.sqrt(d @ d)
        along = d / apart
        pull = (
            self.stiffness * (apart - self.length)
            + self.damping * (along @ (two.velocity - one.velocity))
        ) * along
        return {
            self.first.body: qp.Wrench(pull, point=one.position),
            self.second.body: qp.Wrench(-pull, point=two.position),
        }


class LoadWell(qp.Force):
    """The well in Python."""

    body: qp.Body
    centre: tuple[float, float, float]
    stiffness: float

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        return {
            self.body: qp.Wrench(self.stiffness * (np.array(self.centre) - at[self.body].position))
        }


class PotentialWell(qp.Force):
    """The well as a potential in Python."""

    body: qp.Body
    centre: tuple[float, float, float]
    stiffness: float

    def potential(self, at: qp.MotionView) -> float:
        d = at[self.body].position - np.array(self.centre)
        return 0.5 * self.stiffness * float(d @ d)


def springs() -> dict[str, qp.Multibody]:
    """Two cubes afloat, a damped spring between points beside their centres."""
    a = qp.Body.box("a", (SIDE,) * 3, 1.0)
    b = qp.Body.box(
        "b",
        (SIDE,) * 3,
        1.0,
        position=(0.5, 0.1, 0),
        velocity=(0, 0.3, 0.2),
        angular_velocity=(1, 2, 3),
    )
    ends = a.site("eye", at=(0.05, 0.02, 0)), b.site("eye", at=(-0.05, 0, 0.03))
    forces = {
        WAYS[0]: qp.Spring("spring", *ends, stiffness=3.0, rest_length=0.3, damping=0.1),
        WAYS[1]: LawSpring("spring", *ends, 3.0, 0.3, 0.1),
        WAYS[2]: LoadSpring("spring", *ends, 3.0, 0.3, 0.1),
    }
    return {way: qp.Multibody(a, b, force) for way, force in forces.items()}


def wells() -> dict[str, qp.Multibody]:
    """A cube hinged to another that stands, pulled to a point, as in the studies of two cubes."""
    a = qp.Body.box("a", (SIDE,) * 3, 1.0, fixed=True)
    b = qp.Body.box("b", (SIDE,) * 3, 1.0, position=(SIDE, 0, 0))
    hinge = qp.Revolute("hinge", a, b, at=(0.5 * SIDE, -0.5 * SIDE, 0), axis=(0, 0, 1))
    pull = b, (2.0 * SIDE, 0.0, 0.0), 0.05
    classes = (qp.PotentialWell, LawWell, LoadWell, PotentialWell)
    return {way: qp.Multibody(a, b, hinge, kind("well", *pull)) for way, kind in zip(WAYS, classes)}


SYSTEMS = {"spring between two cubes": springs, "well on a hinged cube": wells}


def measure(quick: bool) -> Measured:
    """Runs of 10 s, with both ends kept."""
    rows, figures = [], {}
    for name, make in SYSTEMS.items():
        systems = make()
        runs = {way: system.simulate(DURATION, keep="ends") for way, system in systems.items()}
        costs = race(
            {
                way: lambda s=system: s.simulate(DURATION, keep="ends")
                for way, system in systems.items()
            }
        )
        ends = {way: np.concatenate([run.final.r, run.final.v]) for way, run in runs.items()}
        for way, run in runs.items():
            ratio = costs[way].wall / costs[WAYS[0]].wall
            apart = float(abs(ends[way] - ends[WAYS[0]]).max())
            each = 1e6 * costs[way].wall / run.counts.evaluations
            cpu = costs[way].cpu / costs[way].wall
            rows.append(
                [name, way, 1e3 * costs[way].wall, run.counts.evaluations, each, ratio, apart, cpu]
            )
            figures[f"{name}, {way}"] = ratio
    heads = [
        "system",
        "force",
        "run ms",
        "evaluations",
        "us each",
        "/ built in",
        "differ by",
        "CPU / wall",
    ]
    remarks = [
        f"Runs of {DURATION:g} s from a system that is kept. A compiled law is called by its "
        "address; law and energy "
        "are compiled in each process, in one to two seconds, which is not counted."
    ]
    return Measured([Sheet("A force of one's own", heads, rows, remarks)], figures)
