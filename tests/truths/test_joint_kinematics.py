"""What textbooks say of joints: Hooke's law, screws, gears, racks, friction, drives and ropes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quirkpy as qp

PRECISE: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}


def wheel(name: str, x: float, moment: float = 0.5, speed: float = 0.0) -> qp.Body:
    """A wheel about z."""
    return qp.Body(
        name, 1.0, (moment, moment, moment), position=(x, 0, 0), angular_velocity=(0, 0, speed)
    )


def axle(body: qp.Body, carrier: qp.Body = qp.GROUND) -> qp.Revolute:
    return qp.Revolute(f"{body.name} axle", carrier, body, at=body.position, axis=(0, 0, 1))


# --- universal joint ------------------------------------------------------------------------------
def shafts(beta: float) -> qp.Multibody:
    """A driving shaft along z and a driven one that encloses the angle beta with it, in the y-z
    plane."""
    along = np.array([0.0, math.sin(beta), math.cos(beta)])
    one = qp.Body("one", 1.0, (1.0, 1.0, 0.6), position=(0, 0, -1), angular_velocity=(0, 0, 2.0))
    two = qp.Body(
        "two", 1.0, (1.0, 1.0, 0.6), position=along, orientation=qp.rotation((1, 0, 0), -beta)
    )
    y2 = np.cross(along, (1.0, 0.0, 0.0))
    cross = qp.Universal(
        "cross", one.site("end", at=(0, 0, 1), z=(0, 0, 1), x=(1, 0, 0)),
        two.site_at("start", (0, 0, 0), np.column_stack([(1.0, 0.0, 0.0), y2, along])),
    )  # fmt: skip
    drive = qp.Revolute("in", qp.GROUND, one, at=(0, 0, -1), axis=(0, 0, 1))
    driven = qp.Revolute("out", qp.GROUND, two, at=along, axis=along)
    return qp.Multibody(one, two, cross, drive, driven)


def test_a_universal_joint_keeps_hookes_law() -> None:
    """tan b = cos(beta) tan a, both counted from where the driving arm of the cross is
    perpendicular to both shafts (J. J. Uicker, G. R. Pennock, J. E. Shigley, Theory of Machines and
    Mechanisms: Hooke's joint)."""
    beta = math.radians(35.0)
    run = shafts(beta).simulate(7.0, **PRECISE)
    a, b = run["in"].angle, run["out"].angle
    assert a[-1] > 2.0 * math.pi
    np.testing.assert_allclose(
        np.sin(b) * np.cos(a), math.cos(beta) * np.sin(a) * np.cos(b), atol=1e-8
    )
    ratio = run["out"].rate / run["in"].rate
    np.testing.assert_allclose(
        ratio, math.cos(beta) / (1.0 - np.sin(beta) ** 2 * np.sin(a) ** 2), rtol=1e-7
    )


def test_both_angles_of_a_universal_joint_make_up_its_turn() -> None:
    """R = R_x(angle_x) R_y(angle_y), from site 1 to site 2."""
    run = shafts(0.6).simulate(3.0)
    for k in range(0, len(run.t), 5):
        state = run.states[k]
        one, two = (state.instant().view[site].axes for site in run.system["cross"].sites)  # type: ignore[attr-defined]
        a, b = run["cross"].angle[k]
        made = qp.quat.matrix(qp.rotation((1, 0, 0), a)) @ qp.quat.matrix(qp.rotation((0, 1, 0), b))
        np.testing.assert_allclose(one.T @ two, made, atol=1e-9)


# --- screw ----------------------------------------------------------------------------------------
def test_a_falling_nut_turns_as_fast_as_its_inertia_allows() -> None:
    """m p^2 a'' + I a'' = -m g p, and the travel is pitch x angle."""
    m, moment, pitch, g = 2.0, 0.03, 0.05, 9.81
    nut = qp.Body("nut", m, (moment, moment, moment))
    bolt = qp.Screw("bolt", qp.GROUND, nut, at=(0, 0, 0), axis=(0, 0, 1), pitch=pitch)
    run = qp.Multibody(nut, bolt, qp.Gravity((0, 0, -g))).simulate(1.5, **PRECISE)
    bend = -m * g * pitch / (m * pitch**2 + moment)
    np.testing.assert_allclose(run["bolt"].angle, 0.5 * bend * run.t**2, atol=1e-8)
    np.testing.assert_allclose(run["bolt"].travel, pitch * run["bolt"].angle, atol=1e-10)
    assert run["bolt"].angle[-1] < -4.0 * math.pi
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-8)


def test_a_screw_advances_by_its_lead_with_each_turn() -> None:
    """2 pi x pitch a turn, over twenty turns: left-handed as well."""
    for pitch in (0.002, -0.03):
        nut = qp.Body(
            "nut",
            2.0,
            (0.03, 0.03, 0.03),
            velocity=(0, 0, 40.0 * pitch),
            angular_velocity=(0, 0, 40.0),
        )
        bolt = qp.Screw("bolt", qp.GROUND, nut, at=(0, 0, 0), axis=(0, 0, 1), pitch=pitch)
        run = qp.Multibody(nut, bolt).simulate(20.0 * 2.0 * math.pi / 40.0, **PRECISE)
        turns = run["bolt"].angle / (2.0 * math.pi)
        assert turns[-1] == pytest.approx(20.0, rel=1e-9)
        np.testing.assert_allclose(
            run["nut"].position[:, 2], 2.0 * math.pi * pitch * turns, rtol=0.0, atol=1e-10
        )


# --- gears ----------------------------------------------------------------------------------------
def test_wheels_in_mesh_turn_against_each_other_and_share_a_torque() -> None:
    """I1 a1'' + r^2 I2 a1'' = torque for a2 = r a1."""
    one, two = wheel("one", 0.0, 0.5), wheel("two", 1.0, 0.2)
    a, b = axle(one), axle(two)
    gear = qp.Gear("mesh", a, b, ratio=-2.5)
    run = qp.Multibody(one, two, a, b, gear, qp.Load("push", one, torque=(0, 0, 3.0))).simulate(
        3.0, **PRECISE
    )
    bend = 3.0 / (0.5 + 2.5**2 * 0.2)
    np.testing.assert_allclose(run["one axle"].angle, 0.5 * bend * run.t**2, atol=1e-9)
    np.testing.assert_allclose(run["two axle"].angle, -2.5 * run["one axle"].angle, atol=1e-9)
    load = run.system.reactions(run.final, axes="joint")["mesh"]
    assert load.unique
    np.testing.assert_allclose(load.torque, (0.0, 0.0, 0.5 * bend - 3.0), atol=1e-9)


def test_gears_keep_their_ratio_over_hundreds_of_turns() -> None:
    """z1/z2 = 17/43 teeth: after 43 turns of the one the other has made 17 the other way, and so
    on."""
    one, two = wheel("one", 0.0, 0.5), wheel("two", 1.0, 0.2)
    a, b = axle(one), axle(two)
    system = qp.Multibody(one, two, a, b, qp.Gear("mesh", a, b, ratio=-17.0 / 43.0))
    rate = 30.0
    spun: dict[str, Any] = {
        "one": dict(angular_velocity=(0, 0, rate)),
        "two": dict(angular_velocity=(0, 0, -rate * 17.0 / 43.0)),
    }
    run = system.at(system.initial.replace(spun)).simulate(
        4.0 * 43.0 * 2.0 * math.pi / rate, **PRECISE
    )
    assert run["one axle"].angle[-1] / (2.0 * math.pi) == pytest.approx(172.0, rel=1e-9)
    assert run["two axle"].angle[-1] / (2.0 * math.pi) == pytest.approx(-68.0, rel=1e-9)
    np.testing.assert_allclose(
        run["two axle"].angle, -17.0 / 43.0 * run["one axle"].angle, rtol=0.0, atol=1e-8
    )


def test_a_planetary_train_keeps_willis_law() -> None:
    """(sun - carrier) / (ring - carrier) = -ring teeth / sun teeth, here 60 / 20, with a planet of
    20."""
    carrier = qp.Body("carrier", 2.0, (1, 1, 1.0))
    sun, planet, ring = (
        wheel("sun", 0.0, 0.2, 3.0),
        wheel("planet", 0.4, 0.1),
        wheel("ring", 0.0, 0.9),
    )
    bodies = [carrier, sun, planet, ring]
    arm = qp.Revolute("arm", qp.GROUND, carrier, at=(0, 0, 0), axis=(0, 0, 1))
    axles = [axle(body, carrier) for body in (sun, planet, ring)]
    mesh = qp.Gear("sun and planet", axles[0], axles[1], ratio=-20 / 20)
    rim = qp.Gear("planet and ring", axles[1], axles[2], ratio=20 / 60)
    loads = (
        qp.Load("load", carrier, torque=(0, 0, 0.7)),
        qp.Load("brake", ring, torque=(0, 0, -0.3)),
    )
    run = qp.Multibody(*bodies, arm, *axles, mesh, rim, *loads).simulate(2.0)
    speed = {body.name: run[body.name].angular_velocity[:, 2] for body in bodies}
    np.testing.assert_allclose(
        speed["sun"] - speed["carrier"], -3.0 * (speed["ring"] - speed["carrier"]), atol=1e-9
    )
    ledger = run.energy - run.work
    np.testing.assert_allclose(ledger, ledger[0], atol=1e-7)


def test_a_pinion_moves_its_rack_by_its_radius() -> None:
    pinion, rack = (
        wheel("pinion", 0.0, 0.5, 2.0),
        qp.Body("rack", 3.0, (1, 1, 1), position=(0, -0.3, 0)),
    )
    turn, slide = (
        axle(pinion),
        qp.Prismatic("slide", qp.GROUND, rack, at=(0, -0.3, 0), axis=(1, 0, 0)),
    )
    run = qp.Multibody(
        pinion, rack, turn, slide, qp.Gear("teeth", turn, slide, ratio=0.3)
    ).simulate(9.0)
    np.testing.assert_allclose(run["slide"].travel, 0.3 * run["pinion axle"].angle, atol=1e-9)
    kept = 0.5 / (
        0.5 + 3.0 * 0.3**2
    )  # least change of velocity, when the start was put onto the gear
    np.testing.assert_allclose(run["pinion axle"].rate, 2.0 * kept, rtol=1e-8)


# --- drives ---------------------------------------------------------------------------------------
SLEW = qp.Schedule((0.0, 10.0), (0.0, 1.2), "smooth")


def quintic(t: Any) -> Any:
    """Value, rate and acceleration of 1.2 (10 s^3 - 15 s^4 + 6 s^5), s = t / 10."""
    s = np.asarray(t) / 10.0
    value, rate = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4
    return 1.2 * value, 0.12 * rate, 0.012 * (60 * s - 180 * s**2 + 120 * s**3)


@pytest.mark.parametrize("by", ["schedule", "function"])
def test_a_slew_of_a_free_pair_takes_the_torque_of_its_reduced_inertia(by: str) -> None:
    """Two free wheels, I1 and I2, driven against each other: the torque is I1 I2 / (I1 + I2) x the
    acceleration, and neither momentum ever changes."""
    one, two = wheel("one", 0.0, 0.5), wheel("two", 0.0, 0.2)
    hinge = qp.Revolute("hinge", one, two, at=(0, 0, 0), axis=(0, 0, 1))
    motion: Any = SLEW if by == "schedule" else lambda t: tuple(map(float, quintic(t)))
    run = qp.Multibody(one, two, hinge, qp.Prescribed("drive", hinge, motion)).simulate(
        10.0, **PRECISE
    )
    angle, rate, bend = quintic(run.t)
    np.testing.assert_allclose(run["hinge"].angle, angle, atol=1e-10)
    np.testing.assert_allclose(run["hinge"].rate, rate, atol=1e-10)
    reduced = 0.5 * 0.2 / 0.7
    np.testing.assert_allclose(run["drive"].load[:, 5], reduced * bend, atol=1e-10)
    np.testing.assert_allclose(run["hinge"].reaction, 0.0, atol=1e-9)
    np.testing.assert_allclose(run.angular_momentum, 0.0, atol=1e-10)
    np.testing.assert_allclose(run.work, run.kinetic, atol=1e-11)
    assert run.kinetic.max() == pytest.approx(0.5 * reduced * rate.max() ** 2, rel=1e-9)


def test_a_driven_arm_carries_its_weight() -> None:
    """Torque I a'' + m g l cos(angle) of a drive that lifts an arm; its work is what the arm has
    gained."""
    arm = qp.Body("arm", 2.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    hinge = qp.Revolute("hinge", qp.GROUND, arm, at=(0, 0, 0), axis=(0, -1, 0))
    parts = arm, hinge, qp.Prescribed("drive", hinge, SLEW), qp.Gravity((0, 0, -9.81))
    run = qp.Multibody(*parts).simulate(10.0, **PRECISE)
    angle, _, bend = quintic(run.t)
    torque = (0.1 + 2.0 * 0.25) * bend + 2.0 * 9.81 * 0.5 * np.cos(angle)
    np.testing.assert_allclose(run["drive"].load[:, 5], torque, atol=1e-9)
    np.testing.assert_allclose(run.work, run.energy - run.energy[0], atol=1e-9)
    assert run.work[-1] == pytest.approx(2.0 * 9.81 * 0.5 * math.sin(1.2), rel=1e-9)


def test_a_slew_loads_its_hinge_with_what_the_arm_is_made_to_do() -> None:
    """In the axes of the hinge: m (-l a'^2, l a'') turned by the angle a, and the couples that hold
    an arm upright whose mass centre lies a height h above the hinge: r x f about the hinge is what
    the hinge and its drive give."""
    m, lever, h = 2.0, 0.5, 0.3
    arm = qp.Body("arm", m, (0.1, 0.2, 0.15), position=(lever, 0, h))
    hinge = qp.Revolute(
        "hinge", qp.GROUND.site("g", z=(0, 0, 1), x=(1, 0, 0)), arm.site("a", at=(-lever, 0, -h))
    )
    run = qp.Multibody(arm, hinge, qp.Prescribed("drive", hinge, SLEW)).simulate(10.0, **PRECISE)
    angle, rate, bend = quintic(run.t)
    c, s = np.cos(angle), np.sin(angle)
    x, y = -m * lever * rate**2, m * lever * bend  # along the arm and across
    force = np.transpose([c * x - s * y, s * x + c * y, 0 * x])
    np.testing.assert_allclose(run["hinge"].load[:, :3], force, rtol=0.0, atol=1e-9)
    place = np.transpose([lever * c, lever * s, np.full_like(c, h)])
    couple = np.cross(place, force)
    couple[:, 2] = 0.0  # the hinge gives none about its axis
    np.testing.assert_allclose(run["hinge"].load[:, 3:], couple, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(
        run["drive"].load[:, 5], (0.15 + m * lever**2) * bend, rtol=0.0, atol=1e-9
    )


def test_a_drive_counts_many_turns() -> None:
    body = wheel("rotor", 0.0, 0.5, 7.0)
    hinge = axle(body)
    drive = qp.Prescribed("drive", hinge, lambda t: (7.0 * t, 7.0, 0.0))
    run = qp.Multibody(body, hinge, drive).simulate(6.0)
    assert run["rotor axle"].rate[-1] == pytest.approx(7.0, abs=1e-10)
    assert qp.Multibody(body, hinge, drive).at(run.final).simulate(1.0).stop is qp.Stop.END


# --- springs, dampers and friction on any coordinate ----------------------------------------------
def test_springs_of_a_cylindrical_joint_swing_by_themselves() -> None:
    """A sleeve with a spring on its travel and one on its angle: two oscillators that know nothing
    of each other."""
    body = qp.Body(
        "sleeve", 2.0, (0.3, 0.3, 0.3), velocity=(0, 0, 1.0), angular_velocity=(0, 0, 2.0)
    )
    joint = qp.Cylindrical("rod", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
    coil = qp.JointSpring("coil", joint, coordinate="travel", stiffness=50.0)
    torsion = qp.HingeSpring("torsion", joint, stiffness=1.2)
    run = qp.Multibody(body, joint, coil, torsion).simulate(5.0, **PRECISE)
    np.testing.assert_allclose(run["rod"].travel, np.sin(5.0 * run.t) / 5.0, atol=1e-8)
    np.testing.assert_allclose(run["rod"].angle, np.sin(2.0 * run.t), atol=1e-8)
    np.testing.assert_allclose(run["rod"].rate[:, 0], 2.0 * np.cos(2.0 * run.t), atol=1e-8)
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-8)


def test_a_damped_travel_dies_away() -> None:
    body = qp.Body("cart", 2.0, (1, 1, 1), velocity=(3.0, 0, 0))
    slide = qp.Prismatic("slide", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0))
    run = qp.Multibody(body, slide, qp.JointDamper("oil", slide, damping=0.8)).simulate(
        4.0, **PRECISE
    )
    np.testing.assert_allclose(run["slide"].rate, 3.0 * np.exp(-0.4 * run.t), atol=1e-9)
    np.testing.assert_allclose(run.energy + run.dissipated, run.energy[0], atol=1e-9)


def test_friction_stops_a_slide_after_the_distance_of_its_energy() -> None:
    """m v^2 / 2 = mu N s, but for the creep below the slip rate."""
    body = qp.Body("cart", 2.0, (1, 1, 1), velocity=(3.0, 0, 0))
    slide = qp.Prismatic("slide", qp.GROUND, body, at=(0, 0, 0), axis=(1, 0, 0))
    rub = qp.JointFriction("rub", slide, coefficient=0.4, preload=10.0, slip=1e-4)
    run = qp.Multibody(body, slide, rub).simulate(1.6)
    assert run["slide"].travel[-1] == pytest.approx(0.5 * 2.0 * 9.0 / 4.0, rel=1e-4)
    assert abs(run["slide"].rate[-1]) < 1e-4
    np.testing.assert_allclose(run.energy + run.dissipated, run.energy[0], atol=1e-7)


def test_friction_of_a_hinge_takes_coefficient_times_preload_times_radius() -> None:
    body = wheel("rotor", 0.0, 0.5, 2.0)
    rub = qp.JointFriction("rub", axle(body), coefficient=0.4, preload=10.0, radius=0.05, slip=1e-3)
    system = qp.Multibody(body, axle(body), rub)
    assert system.acceleration()[0, 5] == pytest.approx(-0.4 * 10.0 * 0.05 / 0.5, rel=1e-12)


def test_a_stop_bounds_one_coordinate_of_several() -> None:
    body = qp.Body(
        "sleeve", 2.0, (0.3, 0.3, 0.3), velocity=(0, 0, 1.0), angular_velocity=(0, 0, 2.0)
    )
    joint = qp.Cylindrical("rod", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
    stop = qp.JointStop("end", joint, coordinate="travel", upper=0.5, restitution=0.5)
    run = qp.Multibody(body, joint, stop).simulate(2.0)
    assert run.events[0].t == pytest.approx(0.5, abs=1e-9)
    assert run["rod"].rate[-1] == pytest.approx((2.0, -0.5), abs=1e-9)
    assert run["rod"].angle[-1] == pytest.approx(4.0, abs=1e-6)


# --- ropes ----------------------------------------------------------------------------------------
def test_a_falling_weight_jerks_its_rope_and_hangs() -> None:
    """Taut after falling 0.2 m; all the energy of the fall goes, and then it hangs still."""
    weight = qp.Body("weight", 2.0, (1, 1, 1), position=(0, 0, -0.3))
    rope = qp.Rope("rope", qp.GROUND, weight, length=0.5)
    run = qp.Multibody(weight, rope, qp.Gravity((0, 0, -9.81))).simulate(1.0)
    assert [event.name for event in run.events] == ["rope reached"]
    assert run.events[0].t == pytest.approx(math.sqrt(0.4 / 9.81), abs=1e-9)
    assert run["rope"].travel[-1] == pytest.approx(0.5, abs=1e-9)
    assert run["rope"].rate[-1] == pytest.approx(0.0, abs=1e-9)
    assert run.dissipated[-1] == pytest.approx(2.0 * 9.81 * 0.2, rel=1e-8)


@pytest.mark.parametrize("restitution", [0.0, 0.6, 1.0])
def test_a_rope_between_free_bodies_keeps_their_momentum(restitution: float) -> None:
    one = qp.Body("one", 1.0, (1, 1, 1), velocity=(-1.0, 0.2, 0))
    two = qp.Body("two", 3.0, (1, 1, 1), position=(0.4, 0, 0), velocity=(1.0, 0, 0))
    rope = qp.Rope("rope", one, two, length=1.0, restitution=restitution)
    run = qp.Multibody(one, two, rope).simulate(1.0)
    np.testing.assert_allclose(run.momentum, np.tile(run.momentum[0], (len(run.t), 1)), atol=1e-12)
    np.testing.assert_allclose(
        run.angular_momentum, np.tile(run.angular_momentum[0], (len(run.t), 1)), atol=1e-9
    )
    assert max(run["rope"].travel) <= 1.0 + 1e-9
    taut = np.searchsorted(run.t, run.events[0].t)
    before, after = run["rope"].rate[taut - 1], run["rope"].rate[taut]
    assert after == pytest.approx(-restitution * before, rel=0.02, abs=1e-9)
    np.testing.assert_allclose(run.energy + run.dissipated, run.energy[0], atol=1e-9)


def test_a_pendulum_on_a_rope_that_goes_slack_flies() -> None:
    """Thrown up with less than it takes to go round, it leaves the circle where m v^2 / l = m g
    cos, and falls freely: v^2 = v0^2 - 2 g l (1 + cos a), a from the top; cos a = (v0^2 / (g l) -
    2) / 3."""
    g, length, v0 = 9.81, 1.0, 6.0
    bob = qp.Body("bob", 1.0, (1e-3, 1e-3, 1e-3), position=(0, 0, -length), velocity=(v0, 0, 0))
    run = qp.Multibody(bob, qp.Rope("rope", qp.GROUND, bob), qp.Gravity((0, 0, -g))).simulate(
        1.2, **PRECISE
    )
    released = next(event for event in run.events if event.name == "rope released")
    here = run.at(released.t)["bob"]
    assert here.position[2] / length == pytest.approx((v0**2 / (g * length) - 2.0) / 3.0, abs=1e-8)
    later = run.at(released.t + 0.1)["bob"]
    expected = here.position + 0.1 * here.velocity - (0, 0, 0.005 * g)
    np.testing.assert_allclose(later.position, expected, atol=1e-8)
