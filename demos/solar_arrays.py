"""Solar arrays: held down for launch, released, unfolded by tape springs, and latched.

A spacecraft of 100 kg floats free. On either side a wing of two panels, a metre square and 3 kg
each, lies folded on its face. One lock holds a wing down, as it stands; after five seconds it lets
go of the one, three seconds later of the other. Tape springs across the hinges, four strips of
steel to each, unfold the panels: they snap straight in the end, and latches catch them there.

Each latch is a plastic impact: what it takes is told, and so is who gave which impulse to whom.
Nothing pulls from outside, so that the spacecraft keeps its momenta over every release and every
latch, whatever that does to its attitude.

    python demos/solar_arrays.py                    the numbers
    python demos/solar_arrays.py out                and charts in a folder: angles, impulses and
                                                    energy; loads of the hinges of a wing
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

import quirkpy as qp

BUS, PANEL = 100.0, 3.0  # [kg]
STRIPS = 4  # of steel tape across each hinge
STEEL = {"young": 210e9, "poisson": 0.3, "thickness": 1e-4, "subtended": math.radians(100.0)}
RELEASES = {"left": 5.0, "right": 8.0}  # [s]
END = 25.0  # [s]
SIDES = {"left": 1.0, "right": -1.0}


def tape(name: str, hinge: qp.Revolute, straight: float) -> qp.TapeSpring:
    """The strips across a hinge that unfolds towards growing angles."""
    plateau = tuple(STRIPS * moment for moment in qp.TapeSpring.steady_moments(**STEEL))
    peak = (6.0 * plateau[0], 3.0 * plateau[1])
    return qp.TapeSpring(
        name, hinge, stiffness=8.0, peak=peak, plateau=plateau, straight=straight, damping=0.03
    )


def wing(bus: qp.Body, side: str) -> list[qp.Part]:
    """Two panels folded on one face of the bus, from the root outwards: hinges, tapes, latches,
    and the lock that holds the outer panel down."""
    s = SIDES[side]
    inner, outer = (
        qp.Body.box(f"{side} {name}", (1.0, 0.02, 1.0), PANEL, position=(0.0, s * y, 0.0))
        for name, y in (("inner", 0.51), ("outer", 0.53))
    )
    root = qp.Revolute(f"{side} root", bus, inner, at=(0, s * 0.5, 0.5), axis=(s, 0, 0))
    middle = qp.Revolute(f"{side} middle", inner, outer, at=(0, s * 0.52, -0.5), axis=(-s, 0, 0))
    straight = ((root, 0.5 * math.pi), (middle, math.pi))
    return [
        inner, outer, root, middle,
        *(tape(f"{hinge.name} tape", hinge, at) for hinge, at in straight),
        *(qp.Latch(f"{hinge.name} latch", hinge, at=at, sense=+1) for hinge, at in straight),
        qp.JointStop(f"{side} stowed", root, lower=0.0),
        qp.Fixed(f"{side} hold-down", bus, outer, here=True),
    ]  # fmt: skip


def spacecraft() -> qp.Multibody:
    """The bus with both wings, held down."""
    bus = qp.Body.box("bus", (1.0, 1.0, 1.0), BUS)
    return qp.Multibody(bus, *(part for side in SIDES for part in wing(bus, side)))


def deploy(system: qp.Multibody) -> qp.Trajectory:
    """The flight: one hold-down after the other lets go."""
    acting, releases = list(system.selection.joint_names), []
    for side, t in RELEASES.items():
        acting.remove(f"{side} hold-down")
        releases.append(qp.Switch(t, joints=acting, name=f"{side} wing released"))
    return system.simulate(END, switches=releases)


def tell(run: qp.Trajectory) -> None:
    """What happened when; each latch with what it took and how hard it struck."""
    for event in run.events:
        print(f"  {event.t:7.3f} s  {event.name}")
        mine = [impact for impact in run.impacts if impact.t == event.t]
        for latch in (impact for impact in mine if event.name.startswith(impact.joint)):
            couple = max(float(np.linalg.norm(one.couple)) for one in latch.impulse.values())
            taken = math.fsum(impact.lost for impact in mine)
            if latch.joint.endswith("latch"):
                told = f"{1e3 * taken:.1f} mJ by a couple impulse of {couple:.3f} N m s"
                print(13 * " " + f"takes {told}")
    print("\n               hinge [N]  tape [N m]  hinge [N s]  latch [N m s]   at most")
    for name in (f"{side} {hinge}" for side in SIDES for hinge in ("root", "middle")):
        pull = float(np.linalg.norm(run[name].load[:, :3], axis=1).max())
        bend = float(abs(run[f"{name} tape"].load).max())
        struck, caught = run.shocks[name].force, run.shocks[f"{name} latch"].couple
        print(f"  {name:13}{pull:9.3f}{bend:12.3f}{struck:13.3f}{caught:15.3f}")


def draw(run: qp.Trajectory, folder: Path) -> None:
    """The charts."""
    folder.mkdir(parents=True, exist_ok=True)
    run.plot("joints", "impulses", "energy").save(folder / "arrays.png")
    run.plot("reactions", of=["left root", "left middle"]).save(folder / "loads.png")


def main(folder: str | None = None) -> dict[str, float]:
    """Deploy, and tell what it takes."""
    system = spacecraft()
    run = deploy(system)
    tell(run)
    balance = run.energy + run.dissipated + run.lost - run.work - run.switched
    turned = 2.0 * np.arccos(np.minimum(1.0, abs(run.measure("bus.orientation")[:, 0])))
    print(
        f"\n{1e3 * run.energy[0]:.1f} mJ in the tapes at first, {1e3 * run.energy[-1]:.1g} mJ of "
        f"energy left; the bus has turned by up to {np.degrees(turned.max()):.2f} degrees, and "
        f"stands {np.degrees(turned[-1]):.2f} degrees off."
    )
    if folder is not None:
        draw(run, Path(folder))
    tips = (run.final[f"{side} outer"].position for side in SIDES)
    impacts = [impact for impact in run.impacts if impact.joint.endswith("latch")]
    return {
        "latched": sum(label.endswith("latch upper") for label in run.final.held),
        "impacts": len(impacts), "stored": float(run.energy[0]), "left": float(run.energy[-1]),
        "taken by latches": math.fsum(one.lost for one in run.impacts),
        "balance": float(np.ptp(balance)),
        "momentum": float(abs(run.momentum).max()),
        "angular momentum": float(abs(run.angular_momentum).max()),
        "turned": float(turned.max()), "off": float(turned[-1]),
        "span": float(np.linalg.norm(np.subtract(*tips))),
    }  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:2])
