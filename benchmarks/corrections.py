"""What each correction after a step is worth: figures 7 to 9 of Hsu, Tadiparthi and Bhattacharya,
for their method in NumPy, and for the runs of this toolbox.

A T-bar whose upright strings have a rest length of 50, 70 or 90 % of their length, at tolerances
of 1e-6 and 1e-10.  Motion: the largest deviation of the free nodes from a run at 1e-13 at the same
times [m]; length: the largest change of a bar [m]; energy: its largest change [J].

    python -m benchmarks.corrections [seconds]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import quirkpy as qp
from benchmarks.tensegrity import WOOD, Printed

RESTS, GOALS = (0.5, 0.7, 0.9), (1e-6, 1e-10)
#: The ways of the printed method, and what each is called.
PRINTED = {
    "none": "printed, no correction", "joints": "printed, eq. 33: joints",
    "printed": "printed, eq. 45: and energy", "weighted": "eq. 45 weighted by mass",
}  # fmt: skip
OURS: dict[str, dict[str, Any]] = {
    "here, no projection": {"drift": "none"},
    "here": {},
    "here, energy held": {"energy": "conserve"},
}


class Case(NamedTuple):
    """What was kept how well, by what: deviation [m], change of lengths [m] and of energy [J],
    steps, wall time [s]."""

    rest: float
    goal: float
    way: str
    motion: float
    length: float
    energy: float
    steps: int
    wall: float


class Told:
    """Nodes and energies at some times of a run."""

    def __init__(self, made: qp.Tensegrity) -> None:
        self.made, self.times = made, list[float]()
        self.places, self.energies = list[np.ndarray](), list[float]()

    def add(self, t: float, places: np.ndarray, energy: float) -> None:
        """Keep one time."""
        self.times.append(t)
        self.places.append(places.reshape(-1, 3))
        self.energies.append(energy)

    def compared(self, best: qp.Trajectory) -> tuple[float, float, float]:
        """Deviation, and changes of lengths and of energy."""
        right = [self.made.places(best.at(t)) for t in self.times]
        places = np.array(self.places)
        lengths = [np.linalg.norm(places[:, i] - places[:, j], axis=1) for i, j in self.made.ends]
        first = np.linalg.norm(np.diff(self.made.places()[list(self.made.ends[0])], axis=0))
        return (
            float(abs(places - np.array(right)).max()), float(abs(np.array(lengths) - first).max()),
            float(abs(np.array(self.energies) - best.energy[0]).max()),
        )  # fmt: skip


def t_bar(rest: float) -> qp.Tensegrity:
    """The T-bar with upright strings of a rest length."""
    string = {"stiffness": 100.0, "rest": (rest, rest, 1.0)}
    return qp.tensegrities.t_bar(bar=WOOD, string=string)  # type: ignore[arg-type]


def cases(rest: float, goal: float, seconds: float) -> Iterator[Case]:
    """All ways for one rest length and tolerance."""
    made = t_bar(rest)
    best = made.system.simulate(seconds, rtol=1e-13, atol=1e-14, energy="conserve")
    printed, start = Printed.of(made, [0, 1]), made.places().ravel()
    for way, name in PRINTED.items():
        told, began = Told(made), time.perf_counter()
        _, steps = printed.simulate(
            start, seconds, way, goal,
            lambda t, y, told=told: told.add(t, np.split(y, 2)[0], printed.energy(y)),
        )  # fmt: skip
        wall = time.perf_counter() - began
        yield Case(rest, goal, name, *told.compared(best), steps, wall)
    for name, options in OURS.items():
        told, began = Told(made), time.perf_counter()
        run = made.system.simulate(seconds, rtol=goal, atol=goal, **options)
        wall = time.perf_counter() - began
        for t, energy in zip(run.t, run.energy, strict=True):
            told.add(t, made.places(run.at(t)), energy)
        yield Case(rest, goal, name, *told.compared(best), run.counts.steps, wall)


def main(seconds: float = 20.0) -> list[Case]:
    """Print and return all cases."""
    print(f"{'rest':5} {'tol':6} {'way':28} motion   length   energy  steps  wall [s]")
    out = []
    for rest in RESTS:
        for goal in GOALS:
            for case in cases(rest, goal, seconds):
                print(
                    f"{case.rest:4.0%}  {case.goal:.0e} {case.way:28} {case.motion:.0e}   "
                    f"{case.length:.0e}   {case.energy:.0e} {case.steps:6d}  {case.wall:.4f}"
                )
                out.append(case)
    return out


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
