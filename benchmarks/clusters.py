"""Locked cubes that move as one, and one by one: ``python -m benchmarks.clusters``."""

from __future__ import annotations

import itertools
import sys

import numpy as np

import quirkpy as qp
from benchmarks.tables import table
from benchmarks.timing import race
from quirkpy.kernels.base.states import bodies_of, positions_of
from quirkpy.mechanics.clusters import Clusters
from quirkpy.motion.course import Course
from quirkpy.motion.driver import Driver
from quirkpy.motion.settings import Settings

SIDE, DURATION = 0.1, 20.0  # [m], [s]
SETTINGS = Settings()


class Apart(Clusters):
    """Every body on its own."""

    merger = None


def made(clusters: Clusters) -> None:
    """Merged, with an engine ready for runs."""
    with clusters.merged_layout.lend():
        pass


def block(n: int) -> qp.Multibody:
    """n^3 cubes, each locked to all neighbours, and a bar that swings on a hinge and a spring at
    one corner."""
    cells = list(itertools.product(range(n), repeat=3))
    cubes = {
        cell: qp.Body.box(f"cube {cell}", (SIDE,) * 3, 1.0, position=SIDE * np.array(cell))
        for cell in cells
    }
    locks = [
        qp.Fixed(f"lock {one} {two}", cubes[one], cubes[two])
        for one, two in itertools.combinations(cells, 2)
        if sum(abs(a - b) for a, b in zip(one, two)) == 1
    ]
    corner = np.array([SIDE * (n - 0.5), 0.0, 0.0])
    bar = qp.Body.box(
        "bar",
        (3 * SIDE, SIDE, SIDE),
        2.0,
        position=corner + (1.5 * SIDE, 0, 0),
        velocity=(0, 1.5 * SIDE, 0),
        angular_velocity=(0, 0, 1),
    )
    hinge = qp.Revolute("hinge", cubes[n - 1, 0, 0], bar, at=corner, axis=(0, 0, 1))
    return qp.Multibody(
        *cubes.values(), bar, *locks, hinge, qp.HingeSpring("torsion", hinge, stiffness=0.5)
    )


def run(clusters: Clusters, start: qp.State) -> Course:
    """What `simulate` does."""
    return Driver(clusters, start, DURATION, (), SETTINGS).run()


def costs(sizes: tuple[int, ...], turns: int) -> str:
    """Milliseconds of a run, and of merging, which is done once for a selection."""
    rows: list[list[object]] = []
    for n in sizes:
        system = block(n)
        chosen, start = system.selection, system.initial
        one, each = Clusters(chosen), Apart(chosen)
        wall = race(
            {
                "one": lambda one=one, start=start: run(one, start),
                "each": lambda each=each, start=start: run(each, start),
                "merging": lambda chosen=chosen: made(Clusters(chosen)),
            },
            turns,
        )
        ends = [
            positions_of(bodies_of(run(clusters, start).states))[-1] for clusters in (one, each)
        ]
        times = [1e3 * wall[name].wall for name in ("each", "one", "merging")]
        rows.append([n**3, *times, times[0] / times[1], float(abs(ends[0] - ends[1]).max())])
    heads = [
        "cubes",
        "one by one [ms]",
        "as one [ms]",
        "merging [ms]",
        "times faster",
        "apart at the end [m]",
    ]
    return table(
        f"{DURATION:g} s of a block of locked cubes with a bar on one hinge, rtol 1e-8", heads, rows
    )


def main(quick: bool = False) -> None:
    print(costs((2,) if quick else (2, 3, 4, 5), 1 if quick else 5))


if __name__ == "__main__":
    main("--quick" in sys.argv)
