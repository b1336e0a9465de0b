"""The folded spacecraft of J. Fulton and H. Schaub (Acta Astronautica, 2021): panels that springs
open, as the tables 1 to 8 of their paper have it.

Four panels; a hub with seven panels in two columns; and a hub with eight in three, which their
method did not keep together. All begin shut and at rest. Panels have the moments of inertia that
are printed, which are not those of plates; creases that the paper cuts have no springs, as there;
the hub takes the place of a corner panel. Panels that lie on each other touch, which theirs do not.

Rigid panels that swing open pass the flat pose and shut on the other side: rows can only open
while columns are flat. In the paper they do so by the errors that its method makes in that pose.
Here latches catch the columns when flat, which takes all of their energy; then the rows open.

    python demos/folded_spacecraft.py               the numbers
    python demos/folded_spacecraft.py out           and the paper's figures in a folder: angles,
                                                    states of the hub, energy, momenta, loads
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import quirkpy as qp
from quirkpy.families.origami import Fold

SIDE, THICKNESS, PANEL, HUB = 2.0, 0.01, 1.0, 100.0  # [m], [m], [kg], [kg]
#: Moments about the mass centre, along columns, along rows and across a panel [kg m2]: table 1, and
#: table 5 for panels that fold about the first axis and about the second; the hub's.
SQUARE = (0.3342, 0.3342, 0.0017)
ACROSS, ALONG = (0.0017, 0.3342, 0.3342), (0.3342, 0.0017, 0.3342)
CUBE = (66.7, 66.7, 66.7)


class Deployment(NamedTuple):
    """A run; of which sheet; how long it took [s]."""

    fold: Fold
    run: qp.Trajectory
    wall: float


def four_panels() -> Fold:
    """Tables 1 to 4: springs of 0.1 N m/rad in three creases, and the fourth closes the loop."""
    fold = qp.origami.map_fold(
        2, 2, SIDE, math.pi, mass=PANEL, thickness=THICKNESS, inertia=SQUARE, contact=True
    )
    return sprung(fold, {"x 0,0": 0.1, "y 0,0": 0.1, "y 1,0": 0.1})


def with_hub(columns: int, rows: int) -> Fold:
    """Tables 5 to 8: springs of 0.03 N m/rad in the creases between the first panels of columns, of
    0.01 in all between rows."""
    names = [(i, j) for i in range(columns) for j in range(rows)]
    inertia = {f"p{i},{j}": ALONG if j == 0 else ACROSS for i, j in names} | {"p0,0": CUBE}
    masses = [HUB if place == (0, 0) else PANEL for place in names]
    fold = qp.origami.map_fold(
        columns, rows, SIDE, math.pi, mass=masses, thickness=THICKNESS, inertia=inertia,
        contact=True,
    )  # fmt: skip
    springs = {f"x {i},0": 0.03 for i in range(columns - 1)}
    springs |= {f"y {i},{j}": 0.01 for i in range(columns) for j in range(rows - 1)}
    return sprung(fold, springs)


def sprung(fold: Fold, stiffness: dict[str, float]) -> Fold:
    """With springs in some creases [N m/rad]."""
    springs = [
        qp.HingeSpring(f"spring {hinge.name}", hinge, stiffness=stiffness[hinge.name])
        for hinge in fold.hinges
        if hinge.name in stiffness
    ]
    return fold._replace(system=fold.system.with_(*springs))


def latched(fold: Fold) -> Fold:
    """With latches that catch every crease when it is flat."""
    latches = [qp.Latch(f"latch {hinge.name}", hinge, at=0.0) for hinge in fold.hinges]
    return fold._replace(system=fold.system.with_(*latches))


def fly(fold: Fold, seconds: float) -> Deployment:
    """Let it open, to a relative tolerance of 1e-10."""
    began = time.perf_counter()
    run = fold.system.simulate(seconds, rtol=1e-10, atol=1e-12, progress=False)
    return Deployment(fold, run, time.perf_counter() - began)


# --- told -----------------------------------------------------------------------------------------
def flat_at(done: Deployment, crease: str = "x 0,0") -> float:
    """When a crease is flat for the first time, which ends another run [s]."""
    there = qp.When.below(f"{crease}.angle", 0.0)
    seconds = float(done.run.t[-1])
    run = done.fold.system.simulate(
        seconds, stop=[there], rtol=1e-10, atol=1e-12, keep="ends", progress=False
    )
    return float(run.t[-1])


def figures(done: Deployment) -> dict[str, float]:
    """What a run keeps: energy, relative; gaps of creases [m]; both momenta, relative."""
    fold, run, wall = done
    ledger = run.energy + run.dissipated + run.lost - run.work
    mass = sum(panel.mass or 0.0 for panel in fold.panels)
    moved = max(abs(h - h[0]).max() for h in (run.momentum, run.angular_momentum))
    gaps = [float(abs(fold.system.residual(state).position).max()) for state in run.states]
    return {
        "flat": flat_at(done), "steps": len(run.t) - 1, "wall": wall, "gap": max(gaps),
        "energy": float(abs(ledger - ledger[0]).max() / run.energy[0]),
        "momentum": float(moved / math.sqrt(2.0 * mass * run.kinetic.max())),
    }  # fmt: skip


def tell(title: str, done: Deployment) -> dict[str, float]:
    """Print and return what a run keeps."""
    found = figures(done)
    print(
        f"{title}: flat after {found['flat']:.6f} s, {found['steps']} steps in "
        f"{found['wall']:.3f} s; energy to {found['energy']:.0e}, gaps {found['gap']:.0e} m, "
        f"momenta {found['momentum']:.0e}"
    )
    return {f"{title}, {name}": value for name, value in found.items()}


def tell_loads(done: Deployment, t: float) -> dict[str, float]:
    """The loads of creases at some time: those of a closed loop are shared in more than one way."""
    shared = done.fold.system.reactions(done.run.at(t))
    print(f"  loads after {t:g} s, the least of all that are possible; in brackets what is needed:")
    for name, load in shared.items():
        force, needed = (float(np.linalg.norm(f)) for f in (load.force, load.needed[:3]))
        words = "unique" if load.unique else f"[{needed:.4f} N]"
        print(f"    {name}: {force:.4f} N, {float(np.linalg.norm(load.torque)):.4f} N m  {words}")
    return {"unique": sum(load.unique for load in shared.values())}


def tell_stages(title: str, done: Deployment) -> dict[str, float]:
    """What the latches of each line took, and what is left."""
    run, before = done.run, 0.0
    told = {"given": float(run.energy[0]), "left": float(run.energy[-1])}
    for event in run.events:
        taken = taken_by(run, event.t) - before
        if event.name.startswith("latch") and taken > 1e-9 * told["given"]:
            line = event.name.removeprefix("latch ").removesuffix(" reached")
            print(f"  {event.t:8.4f} s: {line} is caught, {taken:.9f} J")
            told[line], before = taken, before + taken
    told["taken"] = before
    print(f"  {before:.9f} J taken of {told['given']:.9f} J, {told['left']:.0e} J left")
    return {f"{title}, {name}": value for name, value in told.items()}


def taken_by(run: qp.Trajectory, t: float) -> float:
    """What has been dissipated until a time, that included [J]."""
    return float(run.dissipated[int(np.searchsorted(run.t, t, side="right")) - 1])


#: How long each opens [s], and with latches.
SHEETS: dict[str, tuple[Callable[[], Fold], float]] = {
    "four panels": (four_panels, 10.0),
    "hub, 2 x 4": (lambda: with_hub(2, 4), 30.0),
    "hub, 3 x 3": (lambda: with_hub(3, 3), 60.0),
}
LATCHED = {"hub, 2 x 4": 120.0, "hub, 3 x 3": 240.0}


def main(folder: str | None = None) -> dict[str, Any]:
    """Open all of them; print and return what is to be known."""
    told: dict[str, Any] = {}
    for title, (make, seconds) in SHEETS.items():
        done = fly(make(), seconds)
        told |= tell(title, done)
        if folder is not None:
            draw(title, done, Path(folder))
        if title == "four panels":
            told |= tell_loads(done, 2.0)
    for title, seconds in LATCHED.items():
        done = fly(latched(SHEETS[title][0]()), seconds)
        told |= tell(f"{title}, latched", done) | tell_stages(f"{title}, latched", done)
    return told


def draw(title: str, done: Deployment, folder: Path) -> None:
    """Figures 8 to 18 of the paper: angles, energy, momenta and gaps of a run, the hub, loads."""
    folder.mkdir(parents=True, exist_ok=True)
    name = title.replace(",", "").replace(" ", "-")
    creases = [hinge.name for hinge in done.fold.hinges]
    done.run.plot("joints", of=creases[:8]).save(folder / f"{name}-creases.svg")
    done.run.plot("energy", "momenta", "drift").save(folder / f"{name}.svg")
    done.run.plot("states", of=["p0,0"]).save(folder / f"{name}-hub.svg")
    done.run.plot("reactions", of=["x 0,1"]).save(folder / f"{name}-loads.svg")


if __name__ == "__main__":
    main(*sys.argv[1:2])
