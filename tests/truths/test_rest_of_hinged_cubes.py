"""Where the hinged cubes of Shoer and Peck come to rest, whether they stay, and over which pass
they would leave."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from tests.truths.test_hinged_cubes import DAMPING, LEVER, MOMENT, STIFFNESS, A, B, centre, cubes
from tests.truths.test_motion_of_hinged_cubes import NEAR, SWINGS

#: The well that closes the other pair of faces.
OTHER = (0.0, -0.1, 0.0)
#: k (hinge to well) (hinge to centre) / MOMENT: well and centre stand equally far from the hinge.
OMEGA2 = STIFFNESS * LEVER**2 / MOMENT


def rates(stiffness: float) -> list[complex]:
    """Roots of s^2 + (c / MOMENT) s + stiffness, a pair once."""
    roots = np.roots([1.0, DAMPING / MOMENT, stiffness])
    return sorted((s for s in roots if s.imag >= 0.0), key=abs)


def with_stops(system: qp.Multibody) -> qp.Multibody:
    """The faces stop the hinge at A and at B."""
    hinge = system["hinge"]
    assert isinstance(hinge, qp.Revolute)
    return system.with_(qp.JointStop("faces", hinge, lower=B - A, upper=0.0))


@pytest.mark.parametrize(("phi", "well"), [(A, NEAR), (B, OTHER)])
def test_pulled_shut_the_cubes_stay_at_a_minimum(
    phi: float, well: tuple[float, float, float]
) -> None:
    found = cubes(phi, 0.0, well).settle()
    assert (found.verdict, found.damped, found.run, found.nudge) == ("stable", True, None, None)
    assert found.energy == pytest.approx(0.0, abs=1e-18)
    assert found.state["hinge"].angle == pytest.approx(phi - A, abs=1e-12)
    np.testing.assert_allclose([m.eigenvalue for m in found.modes], rates(OMEGA2), rtol=1e-9)


@pytest.mark.parametrize(("phi", "well"), [(B, NEAR), (A, OTHER)])
def test_pulled_through_the_hinge_the_start_at_rest_is_recognised_as_unstable(
    phi: float, well: tuple[float, float, float]
) -> None:
    """At rest it would stay for ever, 5e-4 J above the bottom; with no nudge the answer says so,
    and stays."""
    found = cubes(phi, 0.0, well).settle(nudge=0.0)
    assert (found.verdict, found.run, found.nudge) == ("unstable", None, None)
    assert found.energy == pytest.approx(5e-4, rel=1e-12)
    assert found.unstable[0].moving == ("cube turns",)
    np.testing.assert_allclose([m.eigenvalue for m in found.modes], rates(-OMEGA2), rtol=1e-9)


@pytest.mark.parametrize("nudge", [1e-6, -1e-6, 1e-4])
@pytest.mark.parametrize(("phi", "well"), [(B, NEAR), (A, OTHER)])
def test_nudged_it_leaves_for_the_minimum_and_says_how(
    phi: float, well: tuple[float, float, float], nudge: float
) -> None:
    found = cubes(phi, 0.0, well).settle(nudge=nudge, seed=3)
    assert found.verdict == "stable"
    assert found.energy == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(found.state["cube"].position, well, rtol=0.0, atol=1e-9)
    assert found.nudge is not None
    assert (abs(found.nudge.size), found.nudge.seed) == (abs(nudge), 3)
    assert not found.nudge.blocked
    back = cubes(phi, 0.0, well).settle(nudge=-nudge, seed=3)
    assert back.nudge is not None
    assert back.nudge.size == -found.nudge.size


def test_the_time_to_leave_is_that_of_the_growth_of_the_nudge() -> None:
    """A nudge of 1e-4 grows as its mode: to a hundred times that in ln(200) over the rate, for cosh
    = exp / 2."""
    found = cubes(B, 0.0, NEAR).settle(nudge=1e-4)
    assert found.run is not None
    angle = abs(found.run["hinge"].angle - (B - A))
    grown, slow = (s.real for s in sorted(rates(-OMEGA2), key=lambda s: -s.real))
    ts = found.run.t[angle < 1e-2]
    share = (grown * np.exp(slow * ts) - slow * np.exp(grown * ts)) / (grown - slow)
    np.testing.assert_allclose(angle[angle < 1e-2], 1e-4 * share, rtol=2e-4)


@pytest.mark.parametrize(("phi", "well"), [(B, NEAR), (A, OTHER)])
def test_a_nudge_into_a_closed_stop_stays_on_that_side(
    phi: float, well: tuple[float, float, float]
) -> None:
    """One sense is blocked by the face that is closed already, the other leaves and closes the
    other one."""
    system = with_stops(cubes(phi, 0.0, well))
    ends = [system.settle(nudge=sense * 1e-6) for sense in (1.0, -1.0)]
    blocked = [end.nudge is not None and end.nudge.blocked for end in ends]
    assert sorted(blocked) == [False, True]
    stays, leaves = ends if blocked[0] else ends[::-1]
    assert stays.run is None
    assert stays.state["hinge"].angle == pytest.approx(phi - A, abs=1e-12)
    assert leaves.verdict == "stable"
    assert leaves.state["hinge"].angle == pytest.approx((A if phi == B else B) - A, abs=1e-9)


@pytest.mark.parametrize("side", ["A", "B"])
@pytest.mark.parametrize("name", SWINGS)
def test_every_swing_passes_the_faces_on_time_on_its_way_to_rest(name: str, side: str) -> None:
    """Undamped it never settles; damped it does, at the bottom of its well."""
    swing, target = (SWINGS[name], A) if side == "A" else (SWINGS[name].mirrored(), B)
    system = cubes(swing.phi, swing.rate, swing.well)
    found = (system if swing.damping else system.without("drag")).settle(rtol=1e-11, atol=1e-13)
    assert found.run is not None
    if not swing.damping:
        assert found.verdict == "never settles"
        assert "nothing takes its energy" in found.reason
        return
    assert found.verdict == "stable"
    assert found.run.at(swing.t)["hinge"].angle == pytest.approx(target - A, abs=1e-8)
    assert found.run.at(swing.t)["hinge"].rate == pytest.approx(swing.rate_there, abs=1e-8)
    toward = np.subtract(swing.well, (0.05, -0.05, 0.0))
    at = found.state["hinge"].angle + A
    assert math.remainder(at - math.atan2(toward[1], toward[0]), 2.0 * math.pi) == pytest.approx(
        0.0, abs=1e-9
    )


@pytest.mark.parametrize("name", ["pushed", "off centre", "far", "half way"])
def test_an_event_at_the_faces_ends_the_motion_on_time(name: str) -> None:
    swing = SWINGS[name]
    meet = qp.When("aligned", lambda state: state["hinge"].angle)
    found = cubes(swing.phi, swing.rate, swing.well).settle(stop=[meet], rtol=1e-12, atol=1e-13)
    assert found.verdict == "stopped"
    assert "aligned" in found.reason
    assert found.state.t == pytest.approx(swing.t, abs=1e-9)


def test_the_far_well_presses_the_faces_together_and_the_stop_is_named_with_its_load() -> None:
    """At A the well at (0.1, 0.1, 0) pulls up with k 0.1 m, 0.05 m beside the hinge: 2.5e-4 N m on
    the stop."""
    beyond = (0.1, 0.1, 0.0)
    found = with_stops(cubes(0.0, 0.0, beyond)).settle()
    assert found.verdict == "stable"
    (stop,) = found.state.held
    press = found.reactions["faces"].press
    lever = centre(A) - (0.05, -0.05, 0.0)
    known = np.cross(lever, STIFFNESS * np.subtract(beyond, centre(A)))[2]
    assert press == pytest.approx(known, rel=1e-9)
    assert known == pytest.approx(2.5e-4, rel=1e-12)
    assert stop == "faces upper"
    assert "faces" in found.explain()


def test_locked_at_the_faces_it_loses_what_it_had_and_the_lock_holds_the_well() -> None:
    """Caught at A all that the hinge had is lost, MOMENT rate^2 / 2; the lock must hold k 0.1 m and
    2.5e-4 N m."""
    swing = SWINGS["far"]
    system = cubes(swing.phi, swing.rate, swing.well)
    meet = qp.When("aligned", lambda state: state["hinge"].angle)
    state = system.simulate(60.0, stop=[meet], rtol=1e-12, atol=1e-13).final
    lock = qp.Fixed("lock", system["hub"], system["cube"])  # type: ignore[arg-type]
    caught = system.at(state).with_(lock).caught()
    assert caught.loss == pytest.approx(0.5 * MOMENT * swing.rate_there**2, rel=1e-8)
    assert abs(caught.state.v).max() < 1e-15
    found = system.at(caught.state).with_(lock).settle()
    assert found.verdict == "stable"
    whole = found.system
    assert whole is not None
    load = whole.without("drag", "hinge").reactions(found.state)["lock"]
    assert load.unique
    np.testing.assert_allclose(load.force, (-STIFFNESS * 0.1, 0.0, 0.0), atol=1e-12)
    shared = (
        found.reactions
    )  # by hinge and lock, but for the torque about the axis, which the lock alone can hold
    assert not shared["lock"].unique
    assert not shared["hinge"].unique
    assert "hinge" in found.explain()
    np.testing.assert_array_equal(shared["hinge"].needed, np.zeros(6))
    force, torque = np.split(shared["lock"].needed, 2)
    site = whole["lock"].sites[1]  # type: ignore[union-attr]
    arm = found.state["cube"].position + np.array(site.at) - (0.05, -0.05, 0.0)
    assert (torque + np.cross(arm, force))[2] == pytest.approx(2.5e-4, rel=1e-9)
    assert np.linalg.norm(force) < 0.1 * STIFFNESS


@pytest.mark.parametrize(("phi", "well"), [(A, NEAR), (B, OTHER)])
def test_the_barrier_is_twice_the_stiffness_times_the_lever_squared(
    phi: float, well: tuple[float, float, float]
) -> None:
    """U = k |centre - well|^2 / 2 rises from 0 to k (2 d)^2 / 2 = 5e-4 J on the far side of the
    hinge."""
    system = cubes(phi, 0.0, well)
    bottom = system.settle()
    over = system.saddle(bottom)
    assert over is not None
    assert over.barrier == pytest.approx(2.0 * STIFFNESS * LEVER**2, rel=1e-10)
    assert over.equilibrium.verdict == "unstable"
    assert len(over.equilibrium.unstable) == 1


@pytest.mark.parametrize("seed", range(3))
def test_both_equilibria_are_found_without_moving(seed: int) -> None:
    found = cubes(0.3, 0.0, NEAR).equilibria(seeds=20, seed=seed)
    assert [e.verdict for e in found] == ["stable", "unstable"]
    np.testing.assert_allclose([e.energy for e in found], (0.0, 5e-4), rtol=1e-10, atol=1e-18)
    assert min(found.hits) > 2
    assert 0.0 < found.unseen < 0.05
    assert found.left == 0


def test_a_closed_stop_blocks_a_nudge_of_locked_bars_as_well() -> None:
    """Two bars of two locked cubes, hinged in the middle of their faces, while springs pull along
    both diagonals."""
    side = 0.1
    lower, upper = ([qp.Body.box(f"{name} {k}", (side,) * 3, 1.0, position=(side * k, y,
    0.0)) for k in (0, 1)]
                    for name, y in (("lower", 0.0), ("upper", side)))  # fmt: skip
    hinge = qp.Revolute(
        "hinge", lower[0], upper[0], at=(0.5 * side, 0.5 * side, 0.0), axis=(0.0, 0.0, 1.0)
    )
    locks = [qp.Fixed("lower", *lower), qp.Fixed("upper", *upper)]
    pulls = [
        qp.Spring(f"pull {k}", lower[k], upper[1 - k], stiffness=0.02, rest_length=0.0)
        for k in (0, 1)
    ]
    faces = qp.JointStop("faces", hinge, lower=-3.0, upper=0.0)
    system = qp.Multibody(*lower, *upper, hinge, *locks, *pulls, faces)
    ends = [system.settle(nudge=sense * 1e-6, duration=60.0) for sense in (1.0, -1.0)]
    assert sorted(end.nudge is not None and end.nudge.blocked for end in ends) == [False, True]
    (left,) = (end for end in ends if end.run is not None)
    assert left.run is not None
    assert left.run["hinge"].angle.min() < -0.1
