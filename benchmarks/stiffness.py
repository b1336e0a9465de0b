"""The stiffness around a state: its error over the step of the differences, ``python -m
benchmarks.stiffness``.

K is that of `Vicinity`, over coordinates in which the mass matrix is one; errors are relative to
its largest entry."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import quirkpy as qp
from benchmarks.problems import four_bars
from benchmarks.tables import table
from quirkpy.rest import vicinity
from quirkpy.rest.vicinity import Vicinity

#: Steps of bodies [m] that are tried; turns go along at this lever [m], but where they are what is
#: tried.
FAR = (1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)
LEVER = vicinity.PROBE_LENGTH / vicinity.TURNED
TURNS = (2e-5, 2e-4, 6e-4, 2e-3, 6e-3, 2e-2, 6e-2)  # [rad]
G, MOMENT, SIZE = 9.81, 5.7, 6e-3  # [m/s2]; of the magnets [A m2], [m]
RATE = 1.1e-3  # of the orbit [rad/s]


class Case(NamedTuple):
    """A system at rest, and its stiffness over displacements of its bodies (6 nb, 6 nb): forces in
    N, torques in body axes, of which only the part along the joints counts."""

    name: str
    system: qp.Multibody
    truth: np.ndarray


@contextlib.contextmanager
def stepped(far: float, turned: float) -> Iterator[None]:
    """With other steps."""
    before = vicinity.PROBE_LENGTH, vicinity.TURNED
    vicinity.PROBE_LENGTH, vicinity.TURNED = far, turned  # type: ignore[misc]
    try:
        yield
    finally:
        vicinity.PROBE_LENGTH, vicinity.TURNED = before  # type: ignore[misc]


def error(case: Case) -> float:
    """Of K, relative to its largest entry."""
    around = Vicinity(case.system.clusters, case.system.initial)
    Z = around.basis.reshape(around.freedoms, -1)
    truth = Z @ case.truth @ Z.T
    return float(abs(around.stiffness.values - truth).max() / abs(truth).max())


# --- systems whose stiffness is known -------------------------------------------------------------
def pendulum(length: float) -> Case:
    """A rod that hangs from a hinge at its end.  With the displacement of its mass centre x = (l/2)
    phi to first order, V'' = m g l/2 over phi; nothing else counts along the joint."""
    rod = qp.Body.rod("rod", (0.0, 0.0, 0.0), (0.0, 0.0, -length), 1.3)
    hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    truth = np.zeros((6, 6))
    truth[0, 0] = 1.3 * G / (0.5 * length)  # m g l/2 phi^2 = (m g / (l/2)) x^2
    return Case(
        f"pendulum {length:g} m", qp.Multibody(rod, hinge, qp.Gravity((0.0, 0.0, -G))), truth
    )


def pinned(gap: float, lever: float = 0.05) -> Case:
    """A cube of 0.1 m with a magnet on an arm, over a superconductor; `linearized` differentiates
    without cancellation, about the magnet."""
    cube = qp.Body.box("cube", (0.1, 0.1, 0.1), 1.3, position=(0.0, 0.0, gap + lever))
    cold = qp.Superconductor("cold", qp.GROUND.site("face"))
    pinning = qp.FluxPinning(
        cold, qp.Magnet("magnet", cube.site("below", at=(0.0, 0.0, -lever)), MOMENT, radius=SIZE)
    )
    to_magnet = np.eye(6)
    to_magnet[0, 4], to_magnet[1, 3] = -lever, lever
    truth = to_magnet.T @ np.asarray(pinning.linearized("spring").stiffness) @ to_magnet
    return Case(f"pinned, {1e3 * gap:g} mm", qp.Multibody(cube, pinning), truth)


def loop() -> Case:
    """Two parallelograms that hang, all hinges in space: one freedom, redundant rows.  All uprights
    turn by phi, the couplers only travel: V'' = g (3 m l/2 + 2 m l)."""
    system = four_bars(2, -0.5 * math.pi, 0.0, (0.0, -G, 0.0))
    truth = np.zeros((6 * len(system.bodies),) * 2)
    truth[0, 0] = (
        G * (3 * 0.5 + 2 * 1.0) / 0.5**2
    )  # all of it laid on the first rod, which moves by phi l/2
    return Case("two four-bars", system, truth)


def attitude() -> Case:
    """A satellite in orbit, its long axis up, its largest moment normal: V'' in the turning
    frame."""
    one, two, three = 0.9, 2.0, 2.3
    body = qp.Body("satellite", 4.0, (one, two, three))
    bends = RATE**2 * np.array([three - two, 4.0 * (three - one), 3.0 * (two - one)])
    return Case(
        "attitude in orbit",
        qp.Multibody(body, qp.HillFrame(RATE)),
        np.diag([0.0, 0.0, 0.0, *bends]),
    )


def steps_of_bodies(far: tuple[float, ...]) -> str:
    """Errors over the longest step of a body."""
    cases = [pendulum(1.0), loop(), *(pinned(gap) for gap in (0.01, 0.02, 0.03, 0.05))]
    rows: list[list[object]] = []
    for step in far:
        with stepped(step, step / LEVER):
            rows.append([f"{step:g}", *(error(case) for case in cases)])
    return table("Error of K over the step [m]", ["step", *(case.name for case in cases)], rows)


def steps_of_turns(turns: tuple[float, ...]) -> str:
    """The same over the longest turn: of a satellite that turns on the spot, and of a magnet on an
    arm."""
    arms = (0.02, 0.05, 0.2, 0.5)
    cases = [attitude(), *(pinned(0.02, arm) for arm in arms)]
    rows: list[list[object]] = []
    for turn in turns:
        with stepped(vicinity.PROBE_LENGTH, turn):
            rows.append([f"{turn:g}", *(error(case) for case in cases)])
    heads = [
        "turn",
        "attitude in orbit",
        *(f"magnet on an arm of {1e3 * arm:g} mm" for arm in arms),
    ]
    return table("Error of K over the turn [rad], gap 20 mm", heads, rows)


# --- scales far apart -----------------------------------------------------------------------------
def satellites(gap: float, joint: bool) -> qp.Multibody:
    """A satellite and a module that is pinned to its upper face, in orbit; or on a hinge in place
    of the pinning."""
    main = qp.Body("satellite", 4.0, (0.4, 0.9, 1.0), position=(-0.05, 0.0, 0.0))
    module = qp.Body("module", 1.0, (0.01, 0.02, 0.025), position=(0.2 + gap, 0.0, 0.0))
    up = (1.0, 0.0, 0.0)
    face, below = (
        main.site("face", at=(0.2, 0.0, 0.0), z=up),
        module.site("below", at=(-0.05, 0.0, 0.0), z=up),
    )
    if joint:
        hinge = qp.Revolute("hinge", main, module, at=(0.15 + gap, 0.0, 0.0), axis=up)
        return qp.Multibody(main, module, qp.HillFrame(RATE), hinge)
    magnet = qp.Magnet("magnet", below, MOMENT, radius=SIZE)
    return qp.Multibody(
        main, module, qp.HillFrame(RATE), qp.FluxPinning(qp.Superconductor("cold", face), magnet)
    )


def spread(gaps: tuple[float, ...]) -> str:
    """The slow motions of a pinned pair in orbit, beside those of the pair on a hinge."""
    rows: list[list[object]] = []
    for gap in gaps:
        loose, tied = (satellites(gap, joint).settle(nudge=0.0) for joint in (False, True))
        slow = np.array([m.frequency for m in tied.modes])
        found = np.array([m.frequency for m in loose.modes])
        fastest = float(found.max())
        nearest = abs(found[:, None] / slow - 1.0).min(axis=0)
        share = (float(slow.min()) / fastest) ** 2
        rows.append(
            [
                f"{1e3 * gap:g}",
                fastest / (2.0 * math.pi),
                share,
                float(nearest.max()),
                loose.verdict,
            ]
        )
    heads = ["gap [mm]", "fastest [Hz]", "softest / stiffest", "frequencies differ by", "verdict"]
    return table(
        "A pinned pair in orbit: slow motions beside those of a pair on a hinge", heads, rows
    )


def main(quick: bool = False) -> None:
    print(steps_of_bodies(FAR[2:5] if quick else FAR), end="\n\n", flush=True)
    print(steps_of_turns(TURNS[2:5] if quick else TURNS), end="\n\n", flush=True)
    print(spread((0.03,) if quick else (0.01, 0.02, 0.03, 0.05)))


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
