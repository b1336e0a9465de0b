"""What a certificate costs: the two cubes settled, beside the mere simulation of the same
transient."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import Cost

SIDE = 0.1  # [m]
#: Pairs of one settling and one simulation, next to each other in time; the median of their ratios
#: counts.
PAIRS, FEW = 200, 40


class Task(NamedTuple):
    """name; system: in its start; what the motion ends in."""

    name: str
    system: qp.Multibody
    ends: str


def cubes(x: float, y: float = 0.0, stop: bool = False) -> qp.Multibody:
    """The cubes of demos/hinged_cubes.py, shut at the east face, with a well at (x, y, 0)."""
    a = qp.Body.box("A", (SIDE,) * 3, 1.0, fixed=True)
    b = qp.Body.box("B", (SIDE,) * 3, 1.0, position=(SIDE, 0.0, 0.0))
    hinge = qp.Revolute("hinge", a, b, at=(0.5 * SIDE, -0.5 * SIDE, 0.0), axis=(0.0, 0.0, 1.0))
    damping = qp.HingeSpring("damping", hinge, stiffness=0.0, damping=2e-4)
    well = qp.PotentialWell("pull", b, centre=(x, y, 0.0), stiffness=0.05)
    faces = [qp.JointStop("faces", hinge, lower=-3.0, upper=0.0)] if stop else []
    return qp.Multibody(a, b, hinge, damping, well, *faces)


def tasks() -> list[Task]:
    """The motion that decides, and two others."""
    return [
        Task("well at (0.2, 0, 0)", cubes(2.0 * SIDE), "stable"),
        Task("well at (0, -0.2, 0)", cubes(0.0, -2.0 * SIDE), "stable"),
        Task("well at (0, -0.2, 0), stop at -3 rad", cubes(0.0, -2.0 * SIDE, stop=True), "stable"),
    ]


def measure(quick: bool) -> Measured:
    """A row for each motion; the first decides."""
    rows: list[list[object]] = []
    figures: dict[str, float] = {}
    for task in tasks():
        found = task.system.settle()
        assert found.verdict == task.ends, found
        assert found.run is not None
        took = float(found.run.t[-1])
        pairs = side_by_side(
            task.system.settle, lambda s=task.system, t=took: s.simulate(t), FEW if quick else PAIRS
        )
        ratio = statistics.median(one.cpu / other.cpu for one, other in pairs)
        settled, moved = (
            1e3 * statistics.median(cost.wall for cost in costs) for costs in zip(*pairs)
        )
        rows.append([task.name, took, found.run.counts.evaluations, settled, moved, ratio])
        figures.setdefault("settle / simulate", ratio)
    heads = [
        "two cubes",
        "at rest after [s]",
        "evaluations",
        "settle [ms]",
        "simulate [ms]",
        "ratio",
    ]
    remark = (
        "settle: the motion to rest, the refined state and its certificate; simulate: the same "
        "motion alone. Medians; the ratio is the median over pairs that are timed next to each "
        "other, in processor time, since the longer of two is interrupted more often."
    )
    return Measured([Sheet("Settling", heads, rows, [remark])], figures)


def side_by_side(
    one: Callable[[], object], other: Callable[[], object], pairs: int
) -> list[tuple[Cost, Cost]]:
    """The cost of two works by turns, after a call of each."""
    one(), other()
    collects = gc.isenabled()
    gc.disable()
    try:
        return [(cost(one), cost(other)) for _ in range(pairs)]
    finally:
        if collects:
            gc.enable()


def cost(work: Callable[[], object]) -> Cost:
    """Of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)
