"""The force derived from a user's potential: error over the step of the differences, ``python -m
benchmarks.gradient``.

Each potential is given twice, as U and as the load by hand; the error is relative to the largest
number of the load."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import quirkpy as qp
from benchmarks.tables import table
from quirkpy.kernels.users import users

MU0_4PI = 1e-7


class ByPotential(qp.Force):
    """U between two bodies, as a function of the view."""

    energy: Callable[[qp.MotionView], float]

    def potential(self, at: qp.MotionView) -> float:
        return self.energy(at)


class ByLoad(qp.Force):
    """The same by hand."""

    wrenches: Callable[[qp.MotionView], Mapping[qp.Body, qp.Wrench]]

    def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        return self.wrenches(at)


def pair(gap: float) -> tuple[qp.Body, qp.Body]:
    """Two 1 kg cubes, the second turned, `gap` between their centres along a skew line."""
    away = gap * np.array([2.0, -1.0, 2.0]) / 3.0
    a = qp.Body.box("a", (0.1, 0.1, 0.1), 1.0)
    return a, qp.Body.box(
        "b", (0.1, 0.1, 0.1), 1.0, position=away, orientation=qp.rotation((1, 2, 3), 0.7)
    )


def spring(length: float, offset: float) -> tuple[qp.Multibody, qp.Multibody]:
    """A spring from the centre of a to a point off the centre of b, stretched by a fifth."""
    a, b = pair(length)
    one, two = a.site("end"), b.site("end", at=(offset, 0.0, 0.0))
    built_in = qp.Spring("f", one, two, stiffness=100.0, rest_length=0.8 * length)

    def energy(at: qp.MotionView) -> float:
        return 50.0 * (np.linalg.norm(at[two].position - at[one].position) - 0.8 * length) ** 2

    return qp.Multibody(a, b, ByPotential("f", energy)), qp.Multibody(a, b, built_in)


def dipoles(gap: float, moment: float = 5.7) -> tuple[qp.Multibody, qp.Multibody]:
    """Two magnetic dipoles along the z axes."""
    a, b = pair(gap)

    def motion(at: qp.MotionView) -> tuple[np.ndarray, ...]:
        return at[b].position - at[a].position, moment * at[a].axes[:, 2], moment * at[b].axes[:, 2]

    def field(r: np.ndarray, m: np.ndarray) -> np.ndarray:
        d = np.linalg.norm(r)
        return MU0_4PI * (3.0 * (m @ r) * r / d**2 - m) / d**3

    def wrenches(at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        r, m1, m2 = motion(at)
        d = np.linalg.norm(r)
        u = r / d
        force = (m1 @ u) * m2 + (m2 @ u) * m1 + (m1 @ m2) * u - 5.0 * (m1 @ u) * (m2 @ u) * u
        force = 3.0 * MU0_4PI / d**4 * force
        return {
            a: qp.Wrench(-force, np.cross(m1, field(r, m2))),
            b: qp.Wrench(force, np.cross(m2, field(r, m1))),
        }

    def energy(at: qp.MotionView) -> float:
        r, m1, m2 = motion(at)
        return -float(m2 @ field(r, m1))

    return qp.Multibody(a, b, ByPotential("f", energy)), qp.Multibody(a, b, ByLoad("f", wrenches))


def planet(distance: float) -> tuple[qp.Multibody, qp.Multibody]:
    """A point mass in the gravity of the earth, seen from its centre."""
    mu = 3.986004418e14
    body = qp.Body.box(
        "a", (0.1, 0.1, 0.1), 1.0, position=distance * np.array([2.0, -1.0, 2.0]) / 3.0
    )

    def wrenches(at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
        r = at[body].position
        return {body: qp.Wrench(-mu * r / np.linalg.norm(r) ** 3)}

    def energy(at: qp.MotionView) -> float:
        return -mu / float(np.linalg.norm(at[body].position))

    return qp.Multibody(body, ByPotential("f", energy)), qp.Multibody(body, ByLoad("f", wrenches))


CASES = {
    "spring 1 m": lambda: spring(1.0, 0.5),
    "spring 0.1 m": lambda: spring(0.1, 0.05),
    "spring 0.02 m": lambda: spring(0.02, 0.05),
    "dipoles 0.2 m": lambda: dipoles(0.2),
    "dipoles 0.05 m": lambda: dipoles(0.05),
    "dipoles 0.02 m": lambda: dipoles(0.02),
    "planet 7e6 m": lambda: planet(7e6),
}


def error_at(step: float, systems: tuple[qp.Multibody, qp.Multibody]) -> float:
    """Largest error of the derived wrench, relative to the largest number of the given one."""
    usual, users.POSE_STEP = users.POSE_STEP, step
    try:
        derived, given = (system.initial.instant().loads.wrench for system in systems)
    finally:
        users.POSE_STEP = usual
    return float(abs(derived - given).max() / abs(given).max())


def main() -> None:
    systems = {name: make() for name, make in CASES.items()}
    rows = [
        [f"{step:.0e}", *(error_at(step, some) for some in systems.values())]
        for step in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6)
    ]
    title = f"error of the derived force over its step (POSE_STEP is {users.POSE_STEP:g})"
    print(table(title, ["step", *systems], rows))


if __name__ == "__main__":
    main()
