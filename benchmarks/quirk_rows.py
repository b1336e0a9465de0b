"""The rows with which QuIRK writes a hinge and a slide, beside full-rank rows: ``python -m
benchmarks.quirk_rows``.

The hinge is two ball joints displaced along the axis (errata of Shoer and Peck, eq. (19)): six rows
for five demands.  The slide is d x a = 0, three rows for two demands."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

import numpy as np

import quirkpy as qp
from benchmarks.cutoffs import eliminated, error, solve
from benchmarks.tables import table
from quirkpy.mechanics import equation

DRIFTS = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


def across(a: np.ndarray) -> np.ndarray:
    """The matrix of a x."""
    return np.cross(a, np.eye(3)).T


class CrossSlide(qp.GeneralJoint):
    """d x a = 0, with d = x2 - x1 and a the z axis of site 1."""

    units: ClassVar[tuple[Literal["m", "rad"], ...]] = ("m", "m", "m")

    def _motion(self, at: qp.MotionView) -> tuple[np.ndarray, ...]:
        one, two = (at[site] for site in self.sites)
        c1, c2 = (at[site].position - at[site.body].position for site in self.sites)
        return two.position - one.position, one.axes[:, 2], c1, c2

    def phi(self, at: qp.MotionView) -> np.ndarray:
        d, a, _, _ = self._motion(at)
        return np.cross(d, a)

    def jacobian(self, at: qp.MotionView) -> np.ndarray:
        d, a, c1, c2 = self._motion(at)
        A = across(a)
        return np.hstack([A, -A @ across(c1) - across(d) @ A, -A, A @ across(c2)])

    def gamma(self, at: qp.MotionView) -> np.ndarray:
        d, a, c1, c2 = self._motion(at)
        one, two = (at[site] for site in self.sites)
        w1, w2 = one.angular_velocity, two.angular_velocity
        d2 = np.cross(w2, np.cross(w2, c2)) - np.cross(w1, np.cross(w1, c1))
        a1, a2 = np.cross(w1, a), np.cross(w1, np.cross(w1, a))
        return -(
            np.cross(d2, a) + 2.0 * np.cross(two.velocity - one.velocity, a1) + np.cross(d, a2)
        )


class PrintedBall(qp.GeneralJoint):
    """x1 - x2 = 0 along the axes of N: eqs. (17) and (18)."""

    units: ClassVar[tuple[Literal["m", "rad"], ...]] = ("m", "m", "m")
    takes_axis = False

    def phi(self, at: qp.MotionView) -> np.ndarray:
        return at[self.sites[0]].position - at[self.sites[1]].position

    def jacobian(self, at: qp.MotionView) -> np.ndarray:
        c1, c2 = (at[site].position - at[site.body].position for site in self.sites)
        return np.hstack([np.eye(3), -across(c1), -np.eye(3), across(c2)])

    def gamma(self, at: qp.MotionView) -> np.ndarray:
        turned = []
        for site in self.sites:
            w = at[site].angular_velocity
            turned.append(np.cross(w, np.cross(w, at[site].position - at[site.body].position)))
        return turned[1] - turned[0]


class Aligned(qp.Joint):
    """Parallel axes and nothing else."""

    takes_axis = False

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (qp.SameOrientation(),)


def two_cubes() -> tuple[qp.Body, qp.Body]:
    cubes = [
        qp.Body.box(name, (0.1, 0.1, 0.1), 1.0, position=(x, 0.0, 0.0))
        for name, x in (("a", 0.0), ("b", 0.15))
    ]
    return cubes[0], cubes[1]


def pushed(a: qp.Body, b: qp.Body) -> tuple[qp.Load, qp.Load]:
    return qp.Load("on a", a, force=(0.1, 0.2, 0.3)), qp.Load("on b", b, torque=(0.01, 0.02, -0.01))


def slides(axis: tuple[float, float, float]) -> dict[str, qp.Multibody]:
    a, b = two_cubes()
    far = {
        "first": a.site("s", z=axis),
        "second": b.site("s", at=0.1 * np.asarray(axis) - (0.15, 0, 0), z=axis),
    }
    rows = CrossSlide("slide", **far), Aligned("aligned", a, b, at=(0.0, 0.0, 0.0))
    return {
        "two perpendiculars": qp.Multibody(a, b, qp.Prismatic("slide", **far), *pushed(a, b)),
        "cross product": qp.Multibody(a, b, *rows, *pushed(a, b)),
    }


def hinges() -> dict[str, qp.Multibody]:
    a, b = two_cubes()
    at, axis = np.array([0.05, -0.05, 0.0]), np.array([2.0, 1.0, 2.0]) / 3.0
    out = {
        "full rank": qp.Multibody(a, b, qp.Revolute("hinge", a, b, at=at, axis=axis), *pushed(a, b))
    }
    for lever in (0.05, 1.0):
        ends = {"-": at - lever * axis, "+": at + lever * axis}
        balls = [PrintedBall(f"ball {sign}", a, b, at=end) for sign, end in ends.items()]
        out[f"two balls, {lever:g} m"] = qp.Multibody(a, b, *balls, *pushed(a, b))
    return out


def drifted(state: qp.State, size: float) -> qp.State:
    """The second cube aside [m] and aslant [rad]."""
    r, q = np.array(state.r), np.array(state.q)
    r[1] += size * np.array([0.0, 0.6, 0.8])
    q[1] = np.cos(0.5 * size), 0.0, np.sin(0.5 * size), 0.0
    return dataclasses.replace(state, r=r, q=q)


def compare(title: str, systems: dict[str, qp.Multibody]) -> str:
    """Rank and error of each form over drift; the first form in extended precision without drift is
    the truth."""
    truth = eliminated(next(iter(systems.values())))
    rows: list[list[object]] = []
    for drift in DRIFTS:
        row: list[object] = [f"{drift:.0e}" if drift else "0"]
        for system in systems.values():
            at = drifted(system.initial, drift).instant()
            row += [
                f"{equation.decompose(at).rank} of {len(at.rows.phi)}",
                error(solve("dense", at), truth),
            ]
        rows.append(row)
    heads = ["drift", *(word for name in systems for word in (name, "error"))]
    return table(title, heads, rows)


def main() -> None:
    what = "rank, and error of the accelerations, over drift [m] aside and [rad] aslant"
    print(compare(f"slide along x: {what}", slides((1.0, 0.0, 0.0))), end="\n\n")
    print(compare(f"slide along (2, 1, 2): {what}", slides((2 / 3, 1 / 3, 2 / 3))), end="\n\n")
    print(compare(f"hinge: {what}", hinges()))


if __name__ == "__main__":
    main()
