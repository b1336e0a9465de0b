"""Two CubeSats with flexible panels dock: the impulse rings the panels, and the certificate of what
has docked names the motions that are left.

Each is a cube of 1 kg with two panels of 40 cm, whose softest bending is along the way of approach.
They meet face to face at 4 cm/s and lock.  A lock holds two sites and stiffens nothing, so the
panels swing on: what the lock takes, and what the panels keep, follow from how much of their mass
moves with their roots.

    python demos/docking_panels.py                     the story
    python demos/docking_panels.py out/docking.svg     and a chart of the tips
"""

from __future__ import annotations

import sys

import numpy as np

import quirkpy as qp

SIDE, APART = 0.1, 0.02  # of a cube, and between the faces at the start [m]
SPEED = 0.04  # at which they close in [m/s]
LENGTH, LINE = 0.4, 0.25  # of a panel [m], [kg/m]
SOFT, FIRM = 2e-3, 0.4  # bending stiffness across the panel, and in its plane [N m2]
SECONDS = 30.0


def craft(name: str, sense: float) -> tuple[qp.Body, list[qp.Part]]:
    """A cube on one side of the origin, with a panel up and one down; and all its parts."""
    x, motion = sense * 0.5 * (SIDE + APART), {"velocity": (-0.5 * sense * SPEED, 0.0, 0.0)}
    cube = qp.Body.box(name, (SIDE,) * 3, 1.0, position=(x, 0.0, 0.0), **motion)
    parts: list[qp.Part] = [cube]
    for word, way in (("up", 1.0), ("down", -1.0)):
        foot, tip = (x, 0.5 * way * SIDE, 0.0), (x, way * (0.5 * SIDE + LENGTH), 0.0)
        panel = qp.Beam(
            f"{name} {word}", start=foot, end=tip, y=(1, 0, 0), EA=1e4, EI=(FIRM, SOFT), GJ=0.02,
            mass_per_length=LINE, modes=(0, 2, 1, 1), damping=0.02, **motion,
        )  # fmt: skip
        parts += [panel, qp.Fixed(f"{panel.name} root", cube, panel, at=foot)]
    return cube, parts


def pair() -> qp.Multibody:
    """Both, and the lock that may hold their faces."""
    (left, mine), (right, theirs) = craft("left", -1.0), craft("right", 1.0)
    half = 0.5 * SIDE
    lock = qp.Fixed(
        "lock", left.site("east", at=(half, 0, 0)), right.site("west", at=(-half, 0, 0))
    )
    return qp.Multibody(*mine, *theirs, candidates=(lock,))


def dock() -> qp.Trajectory:
    """Closing in, taking hold, and ringing."""
    system = pair()
    then = qp.Switch(APART / SPEED, joints=(*system.selection.joint_names, "lock"), reach=1e-9)
    return system.simulate(SECONDS, switches=[then], rtol=1e-9, progress=False)


def main(picture: str | None = None) -> dict[str, float]:
    """Tell the story; return its numbers."""
    run = dock()
    hit = APART / SPEED
    swing = float(abs(run["left up"].tip[:, 1]).max())
    before = float(run.kinetic[0])
    lost = float(run.lost[-1])
    force = float(np.linalg.norm(run.shocks["lock"].force))
    print(f"at {hit:g} s the lock takes hold: {force:.4g} N s, {1e6 * lost:.4g} of "
          f"{1e6 * before:.4g} microjoules lost")  # fmt: skip
    print(f"the tips swing out by {1e3 * swing:.3g} mm")
    docked = run.pieces[-1][1].system.at(run.final)
    rest = docked.settle()
    print(f"{rest.verdict}: {rest.reason}")
    for mode in rest.modes[:4]:
        print(f"  {mode.frequency:8.4f} rad/s, damping {mode.damping:.3f}: {mode.words}")
    if picture is not None:
        run.plot("left up.tip", "right up.tip").save(picture)
    momentum = float(abs(run.momentum - run.momentum[0]).max())
    return {
        "lost": lost, "before": before, "impulse": force, "swing": swing, "momentum": momentum,
        "stable": float(rest.verdict == "stable"), "left over": float(len(rest.neutral)),
        **{f"mode {k}": mode.frequency for k, mode in enumerate(rest.modes)},
    }  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:2])
