"""Four modules in orbit in the order of Shoer and Peck: out for nothing, and back under power; the
bus is free, and wheels hold its attitude.

In study IV.B of the paper the first two motions are passive, and the way back takes the power (its
figure 9).  Here the modules of `demos/imaging_in_orbit.py` fly so, in one run.  Nothing holds the
bus: all of it falls around the Earth, 500 km up, and three wheels keep one side of the bus to the
ground, by a PD that is sampled every two seconds and compiled.  Axes of N do not turn; what the
spacecraft gains and loses in its angular momentum is what the gradient of gravity does to it.

    transit     the four stand in a block
    wide angle  two of them are let go at the back edge: gravity draws up what is above, until they
                stand tilted on the edge, and a lock holds them as they are
    raster      the module beside the bus is let go at its lower edge: it falls below the bus, on
                beyond the plumb line, and a latch catches it where its face meets that of the bus:
                a column, whose cameras sweep the ground one after the other
    wide angle  the latch lets go; coils in the bus and in that module push it off, and then pull it
                up to where it was: minutes, under power, with a spike where the latch is opened;
                a degree before a latch takes hold they are switched off

    python demos/free_in_orbit.py               the numbers
    python demos/free_in_orbit.py out           and charts, and pictures of the shapes, in a folder
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import quirkpy as qp

SIDE, MASS = 0.1, 1.0  # [m], [kg]
ORBIT = qp.Orbit.circular(3.986004418e14, 6.878137e6)
COIL, POWER = 0.2, 0.25  # [A m2], [W]
LATCH = {"release": 1.0, "power": 2.0}  # the motor of its bolt [J], [W]
PERIOD = 2.0  # [s]
ARRIVED = math.radians(1.0)  # of the way home that is left as the coils are switched off
NORMAL = (0.0, 0.0, 1.0)
PLACES = {"A": (0.0, 0.0), "B": (1.0, 0.0), "C": (1.0, 1.0), "D": (0.0, 1.0)}
OPENED, HANGING, POWERED, END = 600.0, 7200.0, 14400.0, 15000.0  # [s]


class Level(qp.Controller):
    """A PD that keeps the bus as it stood to the Earth, in an orbit of a rate [rad/s]; stiffness
    [N m/rad], damping [N m s/rad]."""

    stiffness: float
    damping: float
    rate: float

    @staticmethod
    def command(t, measured, memory, stiffness, damping, rate):  # type: ignore[no-untyped-def]
        """What the wheels do to the bus [N m]."""
        w, x, y, z = measured[0], measured[1], measured[2], measured[3]
        c, s = math.cos(0.5 * rate * t), math.sin(0.5 * rate * t)
        off = 2.0 if w * c + z * s >= 0.0 else -2.0
        return (
            -stiffness * off * (x * c - y * s) - damping * measured[4],
            -stiffness * off * (y * c + x * s) - damping * measured[5],
            -stiffness * off * (z * c - w * s) - damping * (measured[6] - rate),
        )


def modules() -> dict[str, qp.Body]:
    """The block, turning as one with the orbit about its mass centre, which falls along it."""
    centre = SIDE * np.mean([*PLACES.values()], axis=0)
    spin = (0.0, 0.0, ORBIT.rate)
    made = {}
    for name, place in PLACES.items():
        at = (*(SIDE * np.array(place) - centre), 0.0)
        velocity = np.cross(spin, at)
        made[name] = qp.Body.box(
            name, (SIDE,) * 3, MASS, position=at, velocity=velocity, angular_velocity=spin
        )
    return made


def spacecraft() -> qp.Multibody:
    """All parts; in the beginning the modules are locked, and wheels, gravity and dampers act."""
    bodies = modules()
    a, b, c, d = (bodies[name] for name in "ABCD")
    half = 0.5 * SIDE
    corner = np.array(a.position)
    back = qp.Revolute("back edge", a, b, at=corner + (half, -half, 0.0), axis=NORMAL)
    low = qp.Revolute("lower edge", a, d, at=corner + (-half, half, 0.0), axis=NORMAL)
    locks = [
        qp.Fixed("A to B", a, b, here=True), qp.Fixed("A to D", a, d, here=True),
        qp.Fixed("B to C", b, c, here=True),
    ]  # fmt: skip
    wheels = qp.ReactionWheel("wheels", a.site("wheels"), (0.0, 0.0, 0.0))
    level = Level(
        "level", 2e-4, 4e-3, ORBIT.rate, period=PERIOD, compiled=True, drives=["wheels.torque"],
        reads=["A.orientation", "A.angular_velocity"],
    )  # fmt: skip
    always = [
        qp.GravityGradient(ORBIT), wheels,
        qp.HingeSpring("back friction", back, stiffness=0.0, damping=1e-4),
        qp.HingeSpring("lower friction", low, stiffness=0.0, damping=2e-6),
    ]  # fmt: skip
    later = [
        qp.Latch("column", low, at=math.pi, sense=+1, **LATCH),
        qp.Latch("home", low, at=0.0, sense=-1, **LATCH),
        coils("push", a, d, 1.0), coils("pull", a, d, -1.0),
    ]  # fmt: skip
    return qp.Multibody(*bodies.values(), *locks, *always, level, candidates=[back, low, *later])


def coils(name: str, bus: qp.Body, module: qp.Body, sense: float) -> qp.Dipoles:
    """Coils in the top faces of the bus and of a module, alike or against each other."""
    made = [
        qp.Electromagnet(
            f"{name} {body.name}", body.site("top", at=(0.0, 0.0, 0.5 * SIDE), z=NORMAL),
            moment * COIL, holding_power=POWER,
        )
        for body, moment in ((bus, 1.0), (module, sense))
    ]  # fmt: skip
    return qp.Dipoles(made, name=name)


def fly(system: qp.Multibody) -> qp.JoinedTrajectory:
    """The mission: what acts from when on."""
    free = ("gravity gradient", "wheels", "back friction", "lower friction")
    opened, near = (qp.When.below("lower edge.angle", turn) for turn in (0.5 * math.pi, ARRIVED))
    return system.simulate(
        END,
        switches=[
            qp.Switch(OPENED, joints=("back edge", "A to D", "B to C"), name="the pair let go"),
            qp.Switch(
                HANGING, joints=("A to B", "lower edge", "B to C"), forces=(*free, "column"),
                name="held as it hangs, D let go",
            ),
            qp.Switch(POWERED, forces=(*free, "push"), name="coils on, the latch opened"),
            qp.Switch(opened, forces=(*free, "pull", "home"), name="coils reversed"),
            qp.Switch(near, forces=(*free, "home"), name="coils off"),
        ],
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip


# --- told -----------------------------------------------------------------------------------------
def tilt(run: qp.JoinedTrajectory) -> NDArray[np.float64]:
    """How far the bus is turned from where it should stand to the Earth, at each row [rad]."""
    q, half = run.measure("A.orientation"), 0.5 * ORBIT.rate * run.t
    along = abs(q[:, 0] * np.cos(half) + q[:, 3] * np.sin(half))
    return np.asarray(2.0 * np.arccos(np.minimum(1.0, along)))


def momentum_and_gain(run: qp.JoinedTrajectory) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Angular momentum about the normal with that of the wheels, and what the gradient of gravity
    has given of it so far, at each row [N m s]."""
    turn = qp.quat.numpy_quaternion.as_rotation_matrix(run["A"].orientation)
    stored = [piece.system["wheels"] for _, piece in run.pieces]
    rows = [rows for rows, _ in run.stretches()]
    wheels = np.concatenate(
        [[w.momentum_at(t) for t in run.t[k]] for w, k in zip(stored, rows, strict=True)]  # type: ignore[attr-defined]
    )
    whole = run.angular_momentum[:, 2] + np.einsum("kj,kj->k", turn[:, 2], wheels)
    pulled = run.measure("gravity gradient.load")
    r = np.stack([run[name].position for name in PLACES], axis=1)
    torque = (np.cross(r, pulled[..., :3]) + pulled[..., 3:])[..., 2].sum(axis=1)
    steps = 0.5 * (torque[1:] + torque[:-1]) * np.diff(run.t)
    return whole, np.append(0.0, np.cumsum(steps))


def draw(run: qp.JoinedTrajectory, folder: Path) -> None:
    """Charts of the flight, and a picture of each shape."""
    folder.mkdir(parents=True, exist_ok=True)
    run.plot("joints", "commands", "power").save(folder / "free.png")
    for name, t in (("transit", 0.0), ("wide", HANGING), ("raster", POWERED), ("back", END)):
        run.system.at(run.at(t)).picture(folder / f"{name}.png")


def main(folder: str | None = None) -> dict[str, float]:
    """Fly, and tell what it takes."""
    run = fly(spacecraft())
    for event in run.events:
        print(f"  {event.t / 60.0:7.2f} min  {event.name}")
    whole, gain = momentum_and_gain(run)
    balance = run.energy + run.dissipated + run.lost - run.work - run.switched
    caught, home = (next(e.t for e in run.events if e.name == f"{name} reached")
                    for name in ("column", "home"))  # fmt: skip
    powered = next(e.t for e in run.events if e.name == "coils off") - POWERED
    off = np.degrees(tilt(run))
    print(
        f"\nOut in {(caught - OPENED) / 60.0:.0f} minutes of motion without power, back in "
        f"{powered:.0f} s: {2.0 * POWER * powered:.0f} J in the coils, {run.changed[-1]:.0f} J for "
        f"the latch.\nThe bus is off by {off[run.t < POWERED].max():.2f} degrees at most on the "
        f"way out, by {off.max():.2f} on the way back, and by {off[-1]:.3f} in the end."
    )
    if folder is not None:
        draw(run, Path(folder))
    return {
        "tilted": float(np.degrees(run["back edge"].angle[-1])),
        "caught": caught, "home": home, "latched": float(run["home"].held[-1]),
        "off, out": float(off[run.t < POWERED].max()), "off": float(off.max()),
        "off, end": float(off[-1]), "changed": float(run.changed[-1]),
        "balance": float(np.ptp(balance)), "scale": float(np.ptp(run.work)),
        "momentum": float(abs(whole - whole[0] - gain).max()), "gained": float(abs(gain).max()),
        "samples": float(len(run["level"].t)),
    }  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:2])
