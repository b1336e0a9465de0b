"""A latch in a four-bar linkage against balances of momentum by hand: on the ground all momentum of
its one motion goes into the latch; afloat the latched whole turns as one rigid body."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT

#: Lengths of crank, coupler, rocker and of the base between their pivots [m]; a mass each [kg].
CRANK, COUPLER, ROCKER, BASE = 0.4, 1.0, 0.8, 1.1
MASSES = {"crank": 0.6, "coupler": 1.5, "rocker": 1.1, "base": 2.3}
START, CAUGHT = 0.6, 1.9  # angles of the crank [rad]


def pose(angle: float) -> tuple[float, float]:
    """Angles of coupler and rocker from the base [rad], from the two circles that meet at their
    pin."""
    x, y = CRANK * math.cos(angle), CRANK * math.sin(angle)
    dx, dy = BASE - x, -y
    d = math.hypot(dx, dy)
    inner = math.acos((COUPLER**2 + d**2 - ROCKER**2) / (2.0 * COUPLER * d))
    coupler = math.atan2(dy, dx) + inner
    pin = x + COUPLER * math.cos(coupler), y + COUPLER * math.sin(coupler)
    return coupler, math.atan2(pin[1], pin[0] - BASE)


def rates(angle: float) -> tuple[float, float]:
    """Rates of coupler and rocker for one of the crank, from the loop of velocities."""
    coupler, rocker = pose(angle)
    over = math.sin(coupler - rocker)
    return (
        CRANK * math.sin(rocker - angle) / (COUPLER * over),
        CRANK * math.sin(coupler - angle) / (ROCKER * over),
    )


def bar(
    name: str, length: float, start: tuple[float, float], angle: float, **more: bool
) -> qp.Body:
    middle = [s + 0.5 * length * c for s, c in zip(start, (math.cos(angle), math.sin(angle)))]
    return qp.Body.box(
        name, (length, 0.05, 0.05), MASSES[name], position=(*middle, 0.0),
        orientation=qp.rotation((0, 0, 1), angle), **more,
    )  # fmt: skip


def linkage(grounded: bool, latched: str) -> qp.Multibody:
    """Driven by a constant torque on the crank and back on the base; a latch on the hinge of the
    crank, or of the coupler on it."""
    coupler, rocker = pose(START)
    elbow = CRANK * math.cos(START), CRANK * math.sin(START)
    base = bar("base", BASE, (0.0, 0.0), 0.0, fixed=grounded)
    crank = bar("crank", CRANK, (0.0, 0.0), START)
    rod = bar("coupler", COUPLER, elbow, coupler)
    arm = bar("rocker", ROCKER, (BASE, 0.0), rocker)
    pin = elbow[0] + COUPLER * math.cos(coupler), elbow[1] + COUPLER * math.sin(coupler)
    hinges = {
        "crank": qp.Revolute("root", base, crank, at=(0, 0, 0), axis=(0, 0, 1)),
        "coupler": qp.Revolute("elbow", crank, rod, at=(*elbow, 0), axis=(0, 0, 1)),
        "far": qp.Revolute("far", base, arm, at=(BASE, 0, 0), axis=(0, 0, 1)),
        "pin": qp.Revolute("pin", rod, arm, at=(*pin, 0), axis=(0, 0, 1)),
    }
    there = {"crank": CAUGHT - START, "coupler": pose(CAUGHT)[0] - CAUGHT - coupler + START}
    sense = int(math.copysign(1, there[latched]))
    latch = qp.Latch("latch", hinges[latched], at=there[latched], sense=sense)
    drive = qp.HingeSpring("drive", hinges["crank"], stiffness=0.5, rest_angle=4.0)
    return qp.Multibody(base, crank, rod, arm, *hinges.values(), drive, latch)


def moment(mass: float, length: float) -> float:
    """Of a box about its middle, across."""
    return mass * (length**2 + 0.05**2) / 12.0


def inertia_of_the_motion() -> float:
    """Twice the kinetic energy for a rate of one of the crank, where it is caught, grounded."""
    (coupler, _), (w2, w3) = pose(CAUGHT), rates(CAUGHT)
    m1, m2, m3 = (MASSES[name] for name in ("crank", "coupler", "rocker"))
    elbow = CRANK * np.array([-math.sin(CAUGHT), math.cos(CAUGHT)])
    middle = elbow + 0.5 * COUPLER * w2 * np.array([-math.sin(coupler), math.cos(coupler)])
    turning = moment(m1, CRANK) + moment(m2, COUPLER) * w2**2 + moment(m3, ROCKER) * w3**2
    moving = m1 * (0.5 * CRANK) ** 2 + m2 * middle @ middle + m3 * (0.5 * ROCKER * w3) ** 2
    return float(turning + moving)


@pytest.mark.parametrize("latched", ["crank", "coupler"])
def test_on_the_ground_the_latch_takes_all_momentum(latched: str) -> None:
    """With J the inertia of the motion and w the rate of the crank the latch must give J w, over
    how its own angle goes with that of the crank."""
    system = linkage(True, latched)
    run = system.simulate(20.0, progress=False, **TIGHT)
    (event,) = run.events
    spring = 0.5 * 0.5 * ((4.0) ** 2 - (4.0 - (CAUGHT - START)) ** 2)
    J = inertia_of_the_motion()
    rate = math.sqrt(2.0 * spring / J)
    assert event.name == "latch reached"
    assert run["latch"].held[-1]
    (impact,) = [impact for impact in run.impacts if impact.joint == "latch"]
    along = 1.0 if latched == "crank" else rates(CAUGHT)[0] - 1.0
    couple = impact.impulse[latched].couple
    assert couple[2] == pytest.approx(-J * rate / along, rel=1e-8)
    assert sum(one.lost for one in run.impacts) == pytest.approx(spring, rel=1e-8)
    assert run.dissipated[-1] == pytest.approx(spring, rel=1e-8)
    assert abs(run.final.v).max() < 1e-12


@pytest.mark.parametrize("latched", ["crank", "coupler"])
def test_afloat_the_latched_whole_is_one_rigid_body(latched: str) -> None:
    """It keeps both momenta: beside its mass centre it turns with L / I, and the rest is lost."""
    system = linkage(False, latched)
    state = system.initial
    spin = (0.0, 0.0, 0.3)
    spun = {
        name: {
            "velocity": np.array((0.1, -0.2, 0.0)) + np.cross(spin, state[name].position),
            "angular_velocity": spin,
        }
        for name in system.bodies
    }
    run = system.at(state.replace(spun)).simulate(20.0, progress=False, **TIGHT)
    t = run.events[0].t
    k = int(np.searchsorted(run.t, t))
    at = run.states[k]
    mass = np.array([MASSES[name] for name in system.bodies])
    lengths = {"base": BASE, "crank": CRANK, "coupler": COUPLER, "rocker": ROCKER}
    own = np.array([moment(MASSES[name], lengths[name]) for name in system.bodies])
    centre = mass @ at.r / mass.sum()
    arms = at.r - centre
    inertia = float(own.sum() + mass @ (arms**2).sum(axis=1))
    about = run.angular_momentum[0, 2] - np.cross(centre, run.momentum[0])[2]
    turning = about / inertia
    np.testing.assert_allclose(at.omega[:, 2], turning, rtol=0, atol=1e-9)
    drift = run.momentum[0] / mass.sum()
    np.testing.assert_allclose(at.v, drift + np.cross((0.0, 0.0, turning), arms), rtol=0, atol=1e-9)
    rigid = 0.5 * mass.sum() * drift @ drift + 0.5 * inertia * turning**2
    assert run.kinetic[k] == pytest.approx(rigid, rel=1e-9)
    taken = sum(one.lost for one in run.impacts)
    before = run.energy[0] - run.potential[k]
    assert taken == pytest.approx(before - rigid, rel=1e-8)
