"""Folded sheets that open by the springs in their creases: maps, Miura patterns, a sheet that is
wrapped around its hub; afloat.

Rigid panels around a corner close a loop of hinges, most of them redundant, and a flat sheet is a
pose where ways to move meet.  Nothing is tuned for that: energy, momenta and closed corners are
kept through every flat pose.

    quirkpy simulate demos/folded_sheets.py --report run.html
    python demos/folded_sheets.py                   what some keep
    python demos/folded_sheets.py out               pages and films of a map that opens in two
                                                    stages, of a Miura pattern that is caught
                                                    short of flat, and of a wrapped sheet
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import quirkpy as qp
from quirkpy.families.origami import Fold
from quirkpy.families.panels import PanelOptions

SPRINGS: PanelOptions = {"stiffness": 0.1, "mass": 1.0, "thickness": 0.01}
SHEETS: dict[str, Callable[[], Fold]] = {
    "map 2 x 2": lambda: qp.origami.map_fold(2, 2, side=2.0, fold=3.0, **SPRINGS),
    "map 2 x 4": lambda: qp.origami.map_fold(2, 4, side=2.0, fold=3.0, **SPRINGS),
    "map 3 x 3": lambda: qp.origami.map_fold(3, 3, side=2.0, fold=3.0, **SPRINGS),
    "Miura 3 x 3": lambda: qp.origami.miura(3, 3, side=2.0, fold=3.0, **SPRINGS),
}
LARGE: dict[str, Callable[[], Fold]] = {
    "map 6 x 6": lambda: qp.origami.map_fold(6, 6, side=2.0, fold=3.0, **SPRINGS),
    "map 10 x 10": lambda: qp.origami.map_fold(10, 10, side=2.0, fold=3.0, **SPRINGS),
    "Miura 8 x 8": lambda: qp.origami.miura(8, 8, side=2.0, fold=3.0, **SPRINGS),
    "Scheel 6, 2": lambda: qp.origami.scheel(6, 2, side=2.0, fold=1.4, **SPRINGS),
}
SECONDS = 20.0
LATCHED: PanelOptions = {**SPRINGS, "latch": 0.0, "contact": True}
SHORT = 0.1  # of flat, where the Miura pattern is caught [rad]


def caught_short() -> Fold:
    """A Miura pattern that a single latch catches before it is flat: it has but one freedom."""
    fold = qp.origami.miura(4, 4, side=2.0, fold=3.0, **SPRINGS)
    crease = next(hinge for hinge in fold.hinges if hinge.name == "y 0,0")
    return fold._replace(system=fold.system.with_(qp.Latch("latch", crease, at=SHORT)))


SHOWN: dict[str, tuple[Callable[[], Fold], float]] = {
    "map": (lambda: qp.origami.map_fold(3, 3, side=2.0, fold=np.pi, **LATCHED), 10.0),
    "miura": (caught_short, 5.0),
    "scheel": (lambda: qp.origami.scheel(6, 2, side=2.0, fold=1.4, **SPRINGS), 3.4),
}

fold = SHEETS["map 3 x 3"]()
system = fold.system


class Row(NamedTuple):
    """What a run of a sheet was like; energy: its largest change, relative; gap: of the corners
    [m]; momentum: the largest change of both, relative; wall: seconds for each simulated one."""

    panels: int
    loops: int
    rows: int
    redundant: int
    steps: int
    flat: int
    energy: float
    gap: float
    momentum: float
    wall: float


def fly(fold: Fold, seconds: float) -> Row:
    """Open a sheet, and see what it keeps."""
    fold.system.simulate(1e-3, progress=False)
    began = time.perf_counter()
    run = fold.system.simulate(seconds, rtol=1e-10, atol=1e-12, progress=False)
    wall = (time.perf_counter() - began) / seconds
    mobility = fold.system.mobility()
    ledger = run.energy + run.dissipated + run.lost - run.work
    momentum = max(np.abs(h - h[0]).max() for h in (run.momentum, run.angular_momentum))
    mass = sum(panel.mass or 0.0 for panel in fold.panels)
    return Row(
        panels=len(fold.panels),
        loops=len(fold.hinges) - len(fold.panels) + 1,
        rows=mobility.rows,
        redundant=mobility.rows - mobility.rank,
        steps=len(run.t) - 1,
        flat=sum(event.name == "singular pose" for event in run.events),
        energy=float(np.abs(ledger - ledger[0]).max() / np.abs(run.energy).max()),
        gap=max(float(np.abs(fold.system.residual(x).position).max()) for x in run.states),
        momentum=float(momentum / np.sqrt(2.0 * mass * run.kinetic.max())),
        wall=wall,
    )


def main(large: bool = False) -> dict[str, Row]:
    """Print a table of sheets; large: also of those that take seconds for each simulated one."""
    print("sheet        panels loops rows redundant steps flat   energy      gap momentum   wall")
    rows = {}
    for name, make in (SHEETS | LARGE if large else SHEETS).items():
        row = rows[name] = fly(make(), SECONDS)
        print(
            f"{name:12} {row.panels:6d} {row.loops:5d} {row.rows:4d} {row.redundant:9d} "
            f"{row.steps:5d} {row.flat:4d} {row.energy:8.0e} {row.gap:8.0e} {row.momentum:8.0e} "
            f"{row.wall:6.3f}"
        )
    return rows


def show(folder: str) -> None:
    """Write a page and a film of each sheet that is shown."""
    there = Path(folder)
    there.mkdir(parents=True, exist_ok=True)
    for name, (make, seconds) in SHOWN.items():
        run = make().system.simulate(seconds, progress=False)
        run.report(there / f"{name}.html")
        run.movie(there / f"{name}.gif", fps=8.0, trace=False, forces=False)
        print(f"{there / name}.html and .gif: {len(run.t) - 1} steps, {run.energy[-1]:.0e} J left")


if __name__ == "__main__":
    main() if len(sys.argv) < 2 else show(sys.argv[1])
