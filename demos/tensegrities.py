"""Tensegrities: the T-bar, the arm and the ball of Hsu, Tadiparthi and Bhattacharya, and a tower of
prisms that strings deploy.

Bars are rigid bodies, strings pull only, and where one becomes taut or slack is located.  Nothing
is corrected but what every run corrects: joints, and on request the energy.

    quirkpy simulate demos/tensegrities.py --report run.html
    python -m demos.tensegrities out    films and pages of arm, ball and tower
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import quirkpy as qp
from quirkpy.families.tensegrity import BarOptions, StringOptions

WOOD: BarOptions = {"density": 500.0, "radius": 0.05}
PLASTIC: BarOptions = {"density": 1300.0, "radius": 0.01}
NYLON: StringOptions = {"EA": 2e9 * math.pi * 0.001**2}
WEIGHT = qp.Gravity((0.0, 0.0, -9.806))
SWING = qp.Sine(1.0, 1.0)  # [1], at 1 rad/s
#: Nodes of the ball that are fixed, and those that are pushed along x, y and z.
FEET, TOPS = (8, 10, 6), (9, 11, 7)
#: Bars of the tower [m]; heights of its prisms stowed and deployed [m].
BAR, STOWED, DEPLOYED = 1.0, 0.15, 0.7
SECONDS = 2.0

t_bar = qp.tensegrities.t_bar(bar=WOOD, string={"stiffness": 100.0, "rest": (0.9, 0.9, 1.0)})
system = t_bar.system


class Row(NamedTuple):
    """What a run was like; length: the largest change of a bar [m]; energy: that of energy less
    work, relative to all that flows."""

    bars: int
    strings: int
    kinks: int
    steps: int
    refused: int
    length: float
    energy: float
    wall: float


def pushed(made: qp.Tensegrity, forces: dict[int, qp.Vector]) -> qp.Multibody:
    """Prestressed by 50 N and more under its weight, with forces that swing at some nodes [N]."""
    still = qp.prestress(made.system, 50.0, under=WEIGHT).system
    places = made.places()
    pushes = [
        qp.Load(f"push {i}", made.nodes[i].body, force=SWING * force, at=tuple(places[i]))
        for i, force in forces.items()
    ]
    return still.with_(WEIGHT, *pushes)


def fly(made: qp.Tensegrity, moving: qp.Multibody, seconds: float) -> Row:
    """Move it, and look at what must stay."""
    began = time.perf_counter()
    run = moving.simulate(seconds, rtol=1e-10, atol=1e-12, energy="conserve")
    wall = (time.perf_counter() - began) / seconds
    places = np.array([made.places(run.at(t)) for t in run.t[:: max(1, len(run.t) // 100)]])
    length = max(
        float(np.ptp(np.linalg.norm(places[:, i] - places[:, j], axis=1))) for i, j in made.ends
    )
    ledger, flow = run.energy - run.work, abs(run.energy).max() + abs(run.work).max()
    return Row(
        len(made.bars), len(made.strings), len(run.events), run.counts.steps,
        run.counts.rejections, length, float(np.ptp(ledger) / flow), wall,
    )  # fmt: skip


def prisms(height: float) -> tuple[qp.Tensegrity, qp.Prestress]:
    """Three prisms on each other, afloat, of bars of one length, prestressed."""
    radius = math.sqrt(BAR**2 - height**2) / (2.0 * math.sin(math.radians(75.0)))
    made = qp.tensegrities.tower(
        3, 3, radius, height, fixed=False, bar=PLASTIC, string={"stiffness": 5e3, "damping": 20.0}
    )
    return made, qp.prestress(made.system, 20.0)


def deployment(seconds: float = 10.0) -> tuple[qp.Tensegrity, qp.Multibody]:
    """The stowed tower, with strings that are wound until they hold it deployed."""
    (stowed, low), (_, high) = prisms(STOWED), prisms(DEPLOYED)
    return stowed, qp.tensegrities.winding(stowed, low.rest_length, high.rest_length, seconds)


def cases() -> dict[str, tuple[qp.Tensegrity, qp.Multibody]]:
    """The structures of the paper, each with what moves."""
    arm, ball = (
        qp.tensegrities.arm(3, bar=PLASTIC, string=NYLON),
        qp.tensegrities.ball(payload=1.0, fixed=FEET, bar=PLASTIC, string=NYLON),
    )
    small, large = (
        {i: tuple(force * axis) for i, axis in zip(TOPS, np.eye(3), strict=True)}
        for force in (30.0, 300.0)
    )
    return {
        "T-bar": (t_bar, system),
        "arm, 100 N": (arm, pushed(arm, {6: (0.0, 0.0, 100.0)})),
        "ball, 30 N": (ball, pushed(ball, small)),
        "ball, 300 N": (ball, pushed(ball, large)),
    }


def films(folder: Path, seconds: float = 6.3) -> None:
    """Write films of arm, ball and tower into a folder, and pages with them: strings are coloured
    by tension, and dashed where they are slack."""
    folder.mkdir(parents=True, exist_ok=True)
    moving = {
        name: pair[1] for name, pair in cases().items() if name in ("arm, 100 N", "ball, 300 N")
    }
    for name, one in {**moving, "tower": deployment()[1]}.items():
        run = one.simulate(15.0 if name == "tower" else seconds, rtol=1e-6, atol=1e-8)
        file = folder / name.partition(",")[0]
        run.movie(file.with_suffix(".mp4"), forces=False, trace=False)  # strings tell of forces
        run.report(file.with_suffix(".html"))


def main(seconds: float = SECONDS) -> dict[str, Row | float]:
    """Print a table; return it, and how high the tower has become."""
    print("            bars strings  kinks  steps refused  length   energy  wall s per s")
    told: dict[str, Row | float] = {}
    for name, (made, moving) in cases().items():
        row = told[name] = fly(made, moving, seconds)
        print(
            f"{name:11} {row.bars:4d} {row.strings:7d} {row.kinks:6d} {row.steps:6d} "
            f"{row.refused:7d} {row.length:8.0e} {row.energy:8.0e} {row.wall:8.4f}"
        )
    tower, winding = deployment()
    run = winding.simulate(15.0)
    for name, state in (("stowed", run.at(0.0)), ("deployed", run.final)):
        told[name] = float(np.ptp(tower.places(state)[:, 2]))
        print(f"tower, {name}: {told[name]:.3f} m high")
    return told


if __name__ == "__main__":
    films(Path(sys.argv[1])) if sys.argv[1:] else main()
