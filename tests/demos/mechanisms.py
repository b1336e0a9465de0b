"""What must hold of the numbers of demos/mechanisms, by equations of their own: closed forms,
integrals of energy, angles with multipliers."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

import demos.mechanisms.bricard as bricards
import demos.mechanisms.flyball_governor as watts
import demos.mechanisms.ring as rings
import demos.mechanisms.sarrus as lifts
import demos.mechanisms.scissor_mast as masts
import demos.mechanisms.spatial_four_bar as rssr
import demos.mechanisms.stewart_platform as platforms
from tests.one_freedom import NO_MOMENTS, Motion, Piece, rod, still, turn
from tests.planar import Link, Mechanism, Point

TIGHT: Any = {"rtol": 1e-12, "atol": 1e-13, "progress": False}
G = 9.81


def andrews(told: Mapping[str, float]) -> None:
    """The published digits, which are 1.15e-9 rad off those of equations of its own
    (truths/test_mechanisms.py)."""
    assert 1e-9 < told["off"] < 3e-9
    assert told["freedoms"] == 1


def pendulum(told: Mapping[str, float]) -> None:
    """sin(angle / 2) = k sn(K - w t), from the vertical, k = sin(45 degrees)."""
    w, m = math.sqrt(G), 0.5
    sn, cn, dn, _ = ellipj(ellipk(m) - w * 10.0, m)
    half = math.asin(math.sqrt(m) * sn)
    rate = -2.0 * math.sqrt(m) * w * cn
    assert told["x"] == pytest.approx(-math.sin(2.0 * half), abs=1e-9)
    assert told["y"] == pytest.approx(-math.cos(2.0 * half), abs=1e-9)
    assert told["u"] == pytest.approx(-math.cos(2.0 * half) * rate, abs=1e-8)
    assert told["v"] == pytest.approx(math.sin(2.0 * half) * rate, abs=1e-8)
    assert dn > 0.0
    assert told["energy"] < 1e-10


def bricard(told: Mapping[str, float]) -> None:
    """Every second hinge turns alike, by cos a + cos b + cos a cos b = 0 (Chen, You and Tarnai,
    Int. J. Solids Structures 42, 2005); and the time by the integral of energy."""
    assert (told["rows"], told["freedoms"]) == (30, 1)
    assert told["gap"] < 1e-12
    assert told["energy"] < 1e-6
    run = bricards.system.simulate(0.97, **TIGHT)
    even, odd = (run[f"hinge {k}"].angle for k in (0, 1))
    for k in range(2, 6):
        assert run[f"hinge {k}"].angle == pytest.approx((even, odd)[k % 2], abs=1e-9)
    a, b = np.cos(0.5 * math.pi + even), np.cos(0.5 * math.pi + odd)
    assert abs(a + b + a * b).max() < 1e-10
    motion = bricard_motion()
    for turned in (-0.3, -1.0, -2.0):
        state = run.at(motion.time(0.0, turned))
        assert state["hinge 1"].angle == pytest.approx(turned, abs=1e-8)


def bricard_motion() -> Motion:
    """The ring over the turn of its second hinge since the start: every link a metre along x of its
    own axes, the next hinge across it, a quarter turn from the last."""

    def links(q: Any) -> list[tuple[Any, Any]]:
        c = np.cos(0.5 * math.pi + q)
        other = np.arccos(-c / (1.0 + c))
        # Columns: along the link before the first hinge, across it, and the axis of that hinge
        axes = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]).astype(complex)
        corner, out = np.zeros(3, dtype=complex), []
        for k in range(5):
            axes = axes @ turn((0.0, 0.0, 1.0), other if k % 2 == 0 else 0.5 * math.pi + q)
            out.append((corner + 0.5 * axes[:, 0], axes))
            corner = corner + axes[:, 0]
            twist = -0.5 * math.pi if k % 2 == 0 else 0.5 * math.pi
            axes = axes @ turn((1.0, 0.0, 0.0), twist)
        return out

    across, along = (1.0 + 0.01) / 12.0, 0.02 / 12.0
    pieces = [
        Piece(1.0, (along, across, across), lambda q, k=k: links(q)[k])  # type: ignore[misc]
        for k in range(5)
    ]
    return Motion(pieces, lambda q: G * sum(float(r[1].real) for r, _ in links(q)))


def flyball_governor(told: Mapping[str, float]) -> None:
    """Shaft angle, slope of both arms and height of the slider by Lagrange's equations, for a
    quarter of a second; beyond that momentum about the shaft and the ledger are kept."""
    assert told["momentum"] < 1e-10
    assert told["ledger"] < 1e-8
    assert 0.49 < told["lowest"] < 0.5 < told["highest"] < 0.8
    seconds = 0.25
    height, slope = governor(seconds)
    run = watts.system.simulate(seconds, rtol=1e-11, atol=1e-13, progress=False)
    assert run.final["slider"].position[1] == pytest.approx(height, abs=1e-9)
    turned = run.final["hinge right"].angle
    assert turned - math.radians(30.0) == pytest.approx(slope, abs=1e-9)


def governor(seconds: float) -> tuple[float, float]:
    """Height of the slider, and slope of the arms above level; momentum about the shaft is
    constant, so that its angle does not come in."""
    rods, ball, block, side = 3000.0 * 1e-4, 5.0, 3.0, 0.1
    J = rods / 3.0 + ball  # of an arm about its hinge
    moment = 0.5 * (
        rods * 1.0 + ball * 2.0
    )  # m r: half the length for the rod, the whole for the ball
    thin = rods * 1e-4 / 6.0  # of a rod about its line
    still = rods * 2e-4 / 12.0 + block * side**2 / 6.0  # shaft and slider about the axis

    def whole(b: float) -> tuple[float, float]:
        """Moment of inertia about the shaft, and its slope over b."""
        c, s = math.cos(b), math.sin(b)
        return still + 2.0 * (J * c * c + thin * s * s), 4.0 * (thin - J) * c * s

    momentum = whole(-math.pi / 6.0)[0] * 2.0 * math.pi

    def right(_: float, y: Any) -> list[float]:
        b, h, db, dh = y
        arm = 0.5 * cmath.exp(1j * b) + 1j
        way, speed = arm - 1j * h, 0.5j * cmath.exp(1j * b) * db - 1j * dh
        d = abs(way)
        closing = (way.conjugate() * speed).real / d
        pull = 8e5 * (d - 0.5) + 4e4 * closing
        on_b = -pull * (way.conjugate() * 0.5j * cmath.exp(1j * b)).real / d
        on_h = pull * way.imag / d  # from both struts below
        total, slope = whole(b)
        ddb = (2.0 * on_b - 2.0 * moment * G * math.cos(b)
               + 0.5 * slope * (momentum / total) ** 2) / (2.0 * J)  # fmt: skip
        return [db, dh, ddb, 2.0 * on_h / block - G]

    done = solve_ivp(
        right, (0.0, seconds), [-math.pi / 6.0, 0.5, 0.0, 0.0], "Radau", rtol=1e-10, atol=1e-12
    )
    return float(done.y[1, -1]), float(done.y[0, -1])


def spatial_four_bar(told: Mapping[str, float]) -> None:
    """The rod's length gives A sin b + B cos b = C for the rocker; the motor's work is the
    kinetic energy, of rods without spin."""
    assert told["freedoms"] == 2
    assert told["gap"] < 1e-12
    assert told["ledger"] < 1e-9
    motion, swing = rssr_motion()
    run = rssr.system.simulate(1.5, **TIGHT)
    for turned in (0.5, 2.0, 9.0):
        state = run.at(motion.time(0.0, turned))
        assert state["drive"].angle == pytest.approx(turned, abs=1e-8)
        assert state["swing"].angle == pytest.approx(float(swing(turned).real), abs=1e-8)
    turns = np.linspace(0.0, 2.0 * math.pi, 2001)
    reach = [float(swing(q).real) for q in turns]
    assert told["lowest"] == pytest.approx(min(reach), abs=2e-4)
    assert told["highest"] == pytest.approx(max(reach), abs=2e-4)


def rssr_motion() -> tuple[Motion, Callable[[Any], Any]]:
    """Over the angle of the crank; and the angle of the rocker."""
    foot, arm, length = np.array([1.0, 0.3, -0.3]), 0.8, math.sqrt(0.7**2 + 0.3**2 + 0.5**2)

    def ball(q: Any) -> Any:
        return 0.3 * np.array([np.cos(q), np.sin(q), 0.0 * q])

    def swing(q: Any) -> Any:
        d = foot - ball(q)
        A, B = 2.0 * arm * d[0], 2.0 * arm * d[2]
        C = length**2 - (d * d).sum() - arm**2
        return np.arcsin(C / np.sqrt(A * A + B * B)) - np.arctan(B / A)

    def head(q: Any) -> Any:
        return foot + arm * np.array([np.sin(swing(q)), 0.0 * q, np.cos(swing(q))])

    pieces = [
        *rod(0.6, lambda q: 0.0 * ball(q), ball),
        *rod(2.0 * length, ball, head),
        *rod(1.6, lambda q: foot + 0.0 * ball(q), head),
    ]
    return Motion(pieces, lambda q: -1.5 * q), swing


def sarrus(told: Mapping[str, float]) -> None:
    """One freedom by no formula that counts rows, height 2 sin(lean), and the fall by energy."""
    assert (told["freedoms"], told["redundant"]) == (1, 1)
    assert told["aside"] < 1e-12
    thin, wide = 0.02**2, 1.0

    def panel(k: int) -> Callable[[Any], tuple[Any, Any]]:
        def place(q: Any) -> tuple[Any, Any]:
            centre = np.array([0.5 * np.cos(q), 0.0 * q, (0.5 + k) * np.sin(q)])
            return centre, turn((0.0, 1.0, 0.0), (2 * k - 1) * q)

        return place

    moments = ((wide + thin) / 12.0, (wide + thin) / 12.0, 2.0 * wide / 12.0)
    plate = Piece(
        3.0, NO_MOMENTS, lambda q: (np.array([0.0 * q, 0.0 * q, 2.0 * np.sin(q)]), still(q))
    )
    pieces = [plate, *(Piece(1.0, moments, panel(k)) for k in (0, 1) for _ in range(2))]
    motion = Motion(pieces, lambda q: G * (3.0 * 2.0 + 2.0 * (0.5 + 1.5)) * math.sin(q))
    lean = math.asin(0.5 * told["height"])
    assert motion.time(math.radians(70.0), lean) == pytest.approx(lifts.SECONDS, abs=1e-9)


def scissor_mast(told: Mapping[str, float]) -> None:
    """Bars at an angle q rise to 6 L sin q, their feet L cos q apart; the time by energy."""
    assert told["freedoms"] == 1
    assert told["gap"] < 1e-12
    assert told["energy"] < 1e-7  # of 31 J
    bar, stages = 0.5, 6

    def end(side: int, level: int) -> Callable[[Any], Any]:
        return lambda q: bar * np.array([side * np.cos(q), level * np.sin(q), 0.0 * q])

    pieces = [
        piece
        for k in range(stages)
        for a in (0, 1)
        for piece in rod(0.4, end(a, k), end(1 - a, k + 1))
    ]
    motion = Motion(pieces, lambda q: 200.0 * (bar * math.cos(q) - 0.1) ** 2)
    lean = math.asin(told["top"] / (stages * bar))
    assert motion.time(math.radians(8.0), lean) == pytest.approx(masts.SECONDS, abs=1e-8)


def ring(told: Mapping[str, float]) -> None:
    """As many ways as bars, less three, and one about the peg; the motion by the angles of all bars
    with multipliers."""
    assert (told["freedoms"], told["redundant"]) == (8 - 3 + 1, 3)
    assert told["gap"] < 1e-12
    assert told["energy"] < 1e-8
    count, bar = 8, 0.5
    start = -2.0 * math.pi / count * np.arange(count)
    unit = np.eye(count, dtype=int)
    loop, links = Point(), []
    for k in range(count):
        centre = loop + Point((0.5 * bar, unit[k])) if k else Point((0.5 * bar, unit[0]))
        links.append(Link(1.0, bar**2 / 12.0, centre, unit[k]))
        loop = loop + Point((bar, unit[k])) if k else Point((bar, unit[0]))
    oracle = Mechanism(links, [loop], gravity=-1j * G)
    angles = oracle.fly(start, np.zeros(count), np.array([0.1, 0.2]))
    run = rings.system.simulate(0.2, **TIGHT)
    for t, truth in zip((0.1, 0.2), angles, strict=True):
        places = np.array([run.at(t)[f"bar {k}"].position[:2] for k in range(count)])
        exact = [link.centre.at(truth) for link in links]
        assert places[:, 0] + 1j * places[:, 1] == pytest.approx(exact, abs=1e-8)


def spring_four_bar(told: Mapping[str, float]) -> None:
    """V = 2 m g L sin a + k (2 L cos(a / 2) - rest)^2 / 2, inertia 5 / 3, the damper along the
    diagonal: equilibrium and eigenvalue in closed form."""
    k, c, rest = 25.0, 5.0, 1.2

    def slope(a: float) -> float:
        return 2.0 * G * math.cos(a) - k * (2.0 * math.cos(0.5 * a) - rest) * math.sin(0.5 * a)

    a = brentq(slope, 2.0, 3.0, xtol=1e-15, rtol=1e-15)
    short = 2.0 * math.cos(0.5 * a) - rest
    stiffness = (
        -2.0 * G * math.sin(a) + k * math.sin(0.5 * a) ** 2 - 0.5 * k * short * math.cos(0.5 * a)
    )
    root = cmath.sqrt((c * math.sin(0.5 * a) ** 2) ** 2 - 4.0 * 5.0 / 3.0 * stiffness)
    value = (-c * math.sin(0.5 * a) ** 2 + root) / (2.0 * 5.0 / 3.0)
    assert told["stable"]
    assert told["angle"] == pytest.approx(a, abs=1e-10)
    assert told["real"] == pytest.approx(value.real, abs=1e-10)
    assert told["imaginary"] == pytest.approx(abs(value.imag), abs=1e-10)


def stewart_platform(told: Mapping[str, float]) -> None:
    """It gets where the lengths of its legs say; drives give the change of potential energy; and at
    rest each bears what the balance of plate and legs asks."""
    assert told["freedoms"] == 0
    assert told["off"] < 1e-12
    assert told["turned"] < 1e-12
    assert told["work"] == pytest.approx(told["risen"], abs=1e-8)
    loads = leg_forces(np.array([0.0, 0.0, 1.0]), Rotation.identity())
    reactions = platforms.system.reactions()
    for k in range(6):
        assert np.linalg.norm(reactions[f"drive {k}"].force) == pytest.approx(
            abs(loads[k]), rel=1e-9
        )


def leg_forces(centre: Any, turned: Rotation) -> np.ndarray:
    """What each drive pushes with along its leg where nothing moves: the plate weighs 20 kg, tubes
    1.5 kg and rods 1 kg, with their middles 0.3 m from foot and head."""
    heads = turned.apply(platforms.HEADS)
    legs = centre + heads - platforms.FEET
    length = np.linalg.norm(legs, axis=1)
    u = legs / length[:, None]
    down = np.array([0.0, 0.0, -G])
    # Across its line, a leg's weight is borne by foot and head as by the ends of a beam
    share = (1.5 * 0.3 + 1.0 * (length - 0.3)) / length
    on_plate = share[:, None] * (down - (u @ down)[:, None] * u)
    force = 20.0 * down + on_plate.sum(axis=0)
    moment = np.cross(heads, on_plate).sum(axis=0)
    wrench = np.vstack([u.T, np.cross(heads, u).T])
    push = np.linalg.solve(wrench, -np.concatenate([force, moment]))
    return push - (u @ down) * 1.0  # and its own rod


#: Demo -> what must hold of the numbers that its main() returns.
TRUTHS: dict[str, Callable[[Mapping[str, float]], None]] = {
    f"mechanisms.{truth.__name__}": truth
    for truth in (
        andrews, pendulum, bricard, flyball_governor, spatial_four_bar, sarrus, scissor_mast, ring,
        spring_four_bar, stewart_platform,
    )
}  # fmt: skip
