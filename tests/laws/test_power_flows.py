"""Energy is accounted for: kinetic energy grows by the power of the applied forces, potentials pay
for theirs."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.jets import Frame, dot, frames, root
from tests.random_systems import (
    FAMILIES,
    free_acceleration,
    instant,
    masses,
    moved,
    random_system,
    seeds,
    velocities,
)
from tests.user_parts import Attraction, Compass, Drag, SlideSpring
from tests.workshop import Workshop, World, constant, knots, wavy

systems = lru_cache(maxsize=None)(random_system)
every_family = pytest.mark.parametrize("family", FAMILIES)
every_seed = seeds(8, 3)


def body_wrench(system: qp.Multibody, *forces: str) -> Floats:
    """What the named forces (all: none named) do to each body: force in N, torque in body axes (6
    n,)."""
    selection = system.tables.select(system.selection.joint_names, forces or None)
    at = system.initial.instant(selection)
    turns = at.frames.axes[:-1].reshape(-1, 3, 3)
    return np.hstack(
        [at.loads.wrench[:, :3], np.einsum("nij,ni->nj", turns, at.loads.wrench[:, 3:])]
    ).reshape(-1)


def power(system: qp.Multibody, *forces: str) -> float:
    """Power of the named forces [W]."""
    return float(body_wrench(system, *forces) @ velocities(system.initial))


def terms(system: qp.Multibody, *forces: str) -> float:
    """The sum of the sizes of all terms in that power: what rounding is measured by."""
    return float(abs(body_wrench(system, *forces)) @ abs(velocities(system.initial))) + 1e-3


@every_seed
@every_family
def test_kinetic_energy_grows_by_the_power_of_applied_forces(family: str, seed: int) -> None:
    system = random_system(family, seed, driven=False)
    momentum, growth = (
        masses(system) @ velocities(system.initial),
        system.acceleration().reshape(-1),
    )
    # v . m v' + omega . I omega': the gyroscopic torque omega x I omega has no power
    scale = terms(system) + abs(momentum) @ (
        abs(growth) + abs(free_acceleration(system).reshape(-1))
    )
    assert abs(momentum @ growth - power(system)) <= 1e-11 * scale


@every_family
def test_kinetic_energy_is_half_momentum_times_velocity(family: str) -> None:
    system = systems(family, 3)
    u = velocities(system.initial)
    assert system.energy().kinetic == pytest.approx(0.5 * u @ masses(system) @ u, rel=1e-13)


# --- potentials -----------------------------------------------------------------------------------
def potential_rate(system: qp.Multibody, force: str) -> float:
    """dU/dt along the motion, by differences of sixth order."""
    one = system.without(
        *(p.name for p in system.parts if isinstance(p, qp.Force) and p.name != force)
    )
    h = 1e-3
    u = [one.energy(moved(system.initial, k * h)).potential for k in (-3, -2, -1, 1, 2, 3)]
    return (45.0 * (u[3] - u[2]) - 9.0 * (u[4] - u[1]) + u[5] - u[0]) / (60.0 * h)


@every_seed
@every_family
def test_potential_falls_by_the_power_of_its_force(family: str, seed: int) -> None:
    system = random_system(family, seed, driven=False, conservative=True)
    for force in system.tables.force_names:
        size = terms(system, force) + abs(system.energy().potential)
        assert abs(potential_rate(system, force) + power(system, force)) <= 1e-9 * size


@every_family
def test_potentials_are_met(family: str) -> None:
    """The test above is not about nothing: each force with a potential does work somewhere."""
    kinds = set()
    for seed in range(8):
        system = random_system(family, seed, driven=False, conservative=True)
        kinds |= {
            type(system[name])
            for name in system.tables.force_names
            if abs(power(system, name)) > 1e-6
        }
    expected = {qp.Gravity, qp.Spring, qp.PotentialWell, Compass, Attraction}
    assert expected <= kinds


# --- each force, stated a second time -------------------------------------------------------------
def spring_power(force: Any, motion: dict[str, Frame], stiffness: float, rest: float) -> float:
    """-(k (L - L0) + c L') L', with L from the two points."""
    one, two = force.sites()
    apart = motion[two.body.name].point(np.array(two.at)) - motion[one.body.name].point(
        np.array(one.at)
    )
    length = root(dot(apart, apart))
    tension = stiffness * (length.f - rest) + force.damping * length.d
    if getattr(force, "tension_only", False) and (length.f <= rest or tension < 0.0):
        return 0.0
    return float(-tension * length.d)


def spin(frame: Frame) -> Floats:
    """Angular velocity in N: the vector part of 2 q' q*."""
    q, d = frame.q.f, frame.q.d
    return 2.0 * (-d[0] * q[1:] + q[0] * d[1:] - np.cross(d[1:], q[1:]))


def hinge_power(force: qp.HingeSpring, motion: dict[str, Frame], angle: float) -> float:
    """-(k (angle - rest) + c angle') angle'."""
    one, two = (motion[site.body.name] for site in force.joint.sites)
    rate = one.turned(force.joint.sites[0].axes[:, 2]).f @ (spin(two) - spin(one))
    return float(-(force.stiffness * (angle - force.rest_angle) + force.damping * rate) * rate)


def at_time(value: Any, t: float) -> Any:
    """A vector in time, whatever form it was given in; the schedule is the workshop's, joined by
    lines."""
    if isinstance(value, qp.Schedule):
        return [np.interp(t, value.times, column) for column in np.transpose(value.values)]
    return value(t) if callable(value) else value


def load_power(force: qp.Load, motion: dict[str, Frame], t: float) -> float:
    """f . (velocity of its point) + torque . omega."""
    body = motion[force.body.name]
    centre = force.body.matrix.T @ (np.array(force.at) - force.body.position)
    push, torque = (
        v.at(t) if isinstance(v, qp.Schedule) else v(t) if callable(v) else v
        for v in (force.force, force.torque)
    )
    if force.frame == "body":
        push, torque = body.turned(np.array(push)).f, body.turned(np.array(torque)).f
    return float(push @ body.point(centre).d + np.asarray(torque) @ spin(body))


def stated_power(system: qp.Multibody, force: Any, motion: dict[str, Frame]) -> float:
    """The power of a force by its law, from positions and velocities alone."""
    match force:
        case qp.Gravity():
            moving: list[Any] = [system[name] for name in system.bodies]
            return float(
                sum(b.mass * np.dot(force.acceleration, motion[b.name].r.d) for b in moving)
            )
        case qp.Spring():
            return spring_power(force, motion, force.stiffness, force.rest_length)
        case qp.Damper():
            return spring_power(force, motion, 0.0, 0.0)
        case qp.HingeSpring():
            return hinge_power(force, motion, system.initial[force.joint.name].angle)
        case qp.PotentialWell():
            r = motion[force.body.name].r
            return float(-force.stiffness * (r.f - force.centre) @ r.d)
        case qp.Load():
            return load_power(force, motion, system.initial.t)
        case Drag():
            body = motion[force.body.name]
            return float(
                -force.linear * body.r.d @ body.r.d - force.angular * spin(body) @ spin(body)
            )
        case Compass():
            return float(
                force.strength
                * dot(motion[force.body.name].turned(np.array(force.needle)), force.field).d
            )
        case Attraction():
            apart = motion[force.second.name].r - motion[force.first.name].r
            distance = root(dot(apart, apart) + force.softening**2)
            return float(-force.strength * distance.d / distance.f**2)
    raise NotImplementedError(f"no second statement of {force!r}")


@every_seed
@every_family
def test_every_force_has_the_power_that_its_law_says(family: str, seed: int) -> None:
    system = systems(family, seed)
    motion = frames(system, system.initial, np.zeros((len(system.bodies), 6)))
    for name in system.tables.force_names:
        stated = stated_power(system, system[name], motion)
        assert abs(stated - power(system, name)) <= 1e-9 * (abs(stated) + terms(system, name))


@pytest.mark.kernels
@pytest.mark.parametrize("form", [constant, knots, wavy])
@pytest.mark.parametrize("t", [-1.0, 0.3, 0.7, 1.9, 9.0])
def test_loads_have_the_power_that_their_law_says_at_any_time(form: Any, t: float) -> None:
    shop = Workshop([5], World(), driven=False, conservative=False)
    shop.body()
    for _ in range(4):
        shop.load(form)
    written = qp.Multibody(*shop.parts)
    system = written.at(
        dataclasses.replace(written.initial, t=t, v=np.ones((1, 3)), omega=np.full((1, 3), -2.0))
    )
    motion = frames(system, system.initial, np.zeros((1, 6)))
    assert {system[name].frame for name in system.tables.force_names} == {"body", "inertial"}
    for name in system.tables.force_names:
        assert power(system, name) == pytest.approx(
            stated_power(system, system[name], motion), rel=1e-12
        )


def test_holding_schedule_keeps_its_value_until_the_next_knot() -> None:
    body = qp.Body.sphere("ball", 0.1, 2.0)
    steps = qp.Schedule((0.0, 1.0), ((2, 0, 0), (6, 0, 0)), "hold")
    system = qp.Multibody(body, qp.Load("push", body, force=steps))
    pushes = [
        system.acceleration(system.initial.replace(t=t))[0, 0] for t in (-1.0, 0.0, 0.999, 1.0, 5.0)
    ]
    assert pushes == pytest.approx([1.0, 1.0, 1.0, 3.0, 3.0], rel=1e-14)


@pytest.mark.kernels
@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_spring_on_a_slide_has_the_power_that_its_law_says(damping: float) -> None:
    """The element behind hinge springs also acts on travels x: power -(k (x - rest) + c x') x'."""
    shop = Workshop([8], World(), driven=False, conservative=True)
    slide = shop.join(shop.body(), shop.body(), (qp.Prismatic,))
    shop.add(SlideSpring("slide spring", slide, 20.0, 0.3, damping))
    written = qp.Multibody(*shop.parts)
    v, omega = np.random.default_rng(1).normal(size=(2, 2, 3))
    system = written.at(dataclasses.replace(written.initial, v=v, omega=omega))
    x, rate = system.initial[slide.name].travel, system.initial[slide.name].rate
    stated = -(20.0 * (x - 0.3) + damping * rate) * rate
    assert power(system, "slide spring") == pytest.approx(stated, rel=1e-12)
    assert potential_rate(system, "slide spring") == pytest.approx(
        20.0 * (x - 0.3) * rate, rel=1e-9
    )
    assert system.energy().potential == pytest.approx(10.0 * (x - 0.3) ** 2, rel=1e-12)


@pytest.mark.kernels
def test_forces_that_vanish_have_no_power_and_no_energy() -> None:
    """A slack rope, a rope that would have to push, and a spring whose ends coincide."""
    one, two = (
        qp.Body.sphere("one", 0.1, 1.0, velocity=(5, 0, 0)),
        qp.Body.sphere("two", 0.1, 1.0, position=(1, 0, 0)),
    )
    slack = qp.Spring(
        "slack", one, two, stiffness=10.0, rest_length=2.0, damping=1.0, tension_only=True
    )
    eased = qp.Spring(
        "eased", one, two, stiffness=10.0, rest_length=0.9, damping=1.0, tension_only=True
    )
    point = qp.Spring(
        "point", one, two, at1=(1, 0, 0), stiffness=10.0, rest_length=0.0, damping=1.0
    )
    for force, stored in ((slack, 0.0), (eased, 0.05), (point, 0.0)):
        system = qp.Multibody(one, two, force)
        assert not instant(system).loads.wrench.any()
        assert system.energy().potential == pytest.approx(stored, abs=1e-15)
