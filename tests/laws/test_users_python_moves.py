"""A user's force or joint moves a system as the built-in one does, in the same integrator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.parts.checks import instance, number
from tests.contracts.own_parts import Lift
from tests.motion import apart


class WellByLoad(qp.Force):
    """A pull to a point, written as a force."""

    body: qp.Body = qp.checked(instance(qp.Body))
    centre: qp.Vector = qp.checked(tuple)
    stiffness: float = qp.checked(number)

    def load(self, at: qp.MotionView) -> Any:
        return {
            self.body: qp.Wrench(
                self.stiffness * (np.asarray(self.centre) - at[self.body].position)
            )
        }


class WellByPotential(qp.Force):
    """The same, written as a potential."""

    body: qp.Body = qp.checked(instance(qp.Body))
    centre: qp.Vector = qp.checked(tuple)
    stiffness: float = qp.checked(number)

    def potential(self, at: qp.MotionView) -> float:
        d = at[self.body].position - np.asarray(self.centre)
        return float(0.5 * self.stiffness * d @ d)


class Bar(qp.GeneralJoint):
    """A massless bar, written as an equation: (d . d - length^2) / (2 length) = 0."""

    units = ("m",)
    length: float = qp.checked(number, kw_only=True)

    def _apart(self, at: qp.MotionView) -> tuple[Floats, Floats]:
        one, two = (at[site] for site in self.sites)
        return two.position - one.position, two.velocity - one.velocity

    def phi(self, at: qp.MotionView) -> Floats:
        d, _ = self._apart(at)
        return np.array([0.5 * (d @ d / self.length - self.length)])

    def jacobian(self, at: qp.MotionView) -> Floats:
        n = self._apart(at)[0] / self.length
        arms = [at[site].position - at[site.body].position for site in self.sites]
        return np.concatenate([-n, -np.cross(arms[0], n), n, np.cross(arms[1], n)])[None, :]

    def gamma(self, at: qp.MotionView) -> Floats:
        d, rate = self._apart(at)
        turning = [
            np.cross(
                m.angular_velocity,
                np.cross(m.angular_velocity, m.position - at[site.body].position),
            )
            for site in self.sites
            for m in (at[site],)
        ]
        return -np.array([(rate @ rate + d @ (turning[1] - turning[0])) / self.length])


def arm(*more: Any) -> qp.Multibody:
    """A bar on a hinge, with a second one on a ball, and what a test adds."""
    upper = qp.Body.box("upper", (1.0, 0.1, 0.1), 1.0, position=(0.5, 0, 0))
    lower = qp.Body.box("lower", (1.0, 0.1, 0.2), 2.0, position=(1.5, 0, 0))
    hinge = qp.Revolute("hinge", qp.GROUND, upper, at=(0, 0, 0), axis=(0, 1, 0.2))
    ball = qp.Spherical("ball", upper, lower, at=(1, 0, 0))
    made = [part(upper, lower) for part in more]
    return qp.Multibody(upper, lower, hinge, ball, qp.Gravity((0, 0, -9.81)), *made)


def same_motion(
    own: qp.Multibody, built_in: qp.Multibody, t: float = 0.5
) -> tuple[qp.Trajectory, qp.Trajectory]:
    """Both runs, equal to 1e-9, at equal cost."""
    one, two = (system.simulate(t, rtol=1e-9, atol=1e-11) for system in (own, built_in))
    assert apart(one.final, two.final) < 1e-9
    return one, two


def check_ledger(run: qp.Trajectory) -> None:
    assert np.ptp(run.energy + run.dissipated - run.work) < 1e-7


CENTRE, STIFFNESS = (1.0, 0.5, -0.5), 7.0


@pytest.mark.kernels
@pytest.mark.parametrize("kind", [WellByLoad, WellByPotential])
def test_own_force_moves_as_the_built_in_one(kind: Any) -> None:
    own = arm(lambda upper, lower: kind("well", lower, CENTRE, STIFFNESS))
    built_in = arm(lambda upper, lower: qp.PotentialWell("well", lower, CENTRE, STIFFNESS))
    one, two = same_motion(own, built_in, 0.2)
    if kind is WellByLoad:
        assert one.counts == two.counts
    else:  # differences are noisy where tolerances are tight
        assert one.counts.evaluations < 1.5 * two.counts.evaluations
    check_ledger(one)
    check_ledger(two)


def test_what_a_load_does_is_work_and_what_a_potential_does_is_energy() -> None:
    runs = [
        arm(lambda u, lower, k=kind: k("well", lower, CENTRE, STIFFNESS)).simulate(0.2)
        for kind in (WellByLoad, WellByPotential)
    ]
    assert abs(runs[0].work[-1]) > 1e-3
    assert not runs[1].work.any()
    for run in runs:
        check_ledger(run)


@pytest.mark.parametrize("frame", ["inertial", "body"])
def test_a_function_of_time_pushes_as_numbers_do(frame: Any) -> None:
    force, torque, at = (1.0, -2.0, 0.5), (0.1, 0.3, -0.2), (1.7, 0.0, 0.1)

    def push(f: Any, n: Any) -> qp.Multibody:
        return arm(
            lambda upper, lower: qp.Load("push", lower, force=f, torque=n, at=at, frame=frame)
        )

    one, two = same_motion(push(lambda t: force, lambda t: torque), push(force, torque))
    # the first steps are so short that their error estimates are rounding
    assert abs(one.counts.steps - two.counts.steps) <= 2
    assert one.work[-1] == pytest.approx(two.work[-1], abs=1e-9)
    check_ledger(one)


@pytest.mark.kernels
def test_own_joint_closes_a_loop_as_the_built_in_one() -> None:
    """A bar from the ground to the far end of the arm: a loop through hinge and ball."""
    ends = {"at1": (2.0, 0.5, 1.0), "at2": (2.0, 0.0, 0.0)}
    length = float(np.hypot(0.5, 1.0))
    ground, tip = qp.GROUND.site("post", at=ends["at1"]), (0.5, 0.0, 0.0)
    own = arm(lambda upper, lower: Bar("bar", ground, lower.site("tip", at=tip), length=length))
    built_in = arm(lambda upper, lower: qp.Distance("bar", qp.GROUND, lower, **ends))
    one, two = same_motion(own, built_in, 0.2)
    assert one.counts == two.counts
    for run in (one, two):
        assert abs(run.system.residual(run.final).position).max() < 1e-10


def test_own_joint_on_a_drifted_start_is_projected_like_the_built_in_one() -> None:
    body = qp.Body.sphere("body", 0.1, 1.0, position=(1, 0, 0), velocity=(0.3, 1.0, 0))
    own = qp.Multibody(body, Bar("bar", qp.GROUND.site("o"), body.site("c"), length=1.0))
    built_in = qp.Multibody(body, qp.Distance("bar", qp.GROUND, body))
    one, two = same_motion(own, built_in)
    np.testing.assert_allclose(one.drift[0], two.drift[0], rtol=1e-9, atol=1e-15)
    assert one.drift[0, 1] == pytest.approx(0.3, rel=1e-9)


def test_own_event_costs_nothing_in_the_integrator() -> None:
    """A function that never crosses: the same bits."""
    system = arm()
    plain, watched = (
        system.simulate(0.5),
        system.simulate(0.5, stop=[qp.When("never", lambda state: 1.0)]),
    )
    assert plain.counts == watched.counts
    assert apart(plain.final, watched.final) < 1e-12


# --- joints that move by themselves ---------------------------------------------------------------
def lifted() -> qp.Multibody:
    """A ball whose height is prescribed: z = 0.3 t + 2 t^2; along x it flies at 1 m/s."""
    ball = qp.Body.sphere("ball", 0.1, 1.0, velocity=(1.0, 0.0, 0.3))
    lift = Lift("lift", qp.GROUND.site("floor"), ball.site("eye"), climb=0.3)
    return qp.Multibody(ball, lift, qp.Gravity((0, 0, -5)))


@pytest.mark.kernels
def test_a_joint_that_moves_takes_the_body_along() -> None:
    run = lifted().simulate(1.0, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        run["ball"].position[:, 2], 0.3 * run.t + 2.0 * run.t**2, rtol=0.0, atol=1e-10
    )
    np.testing.assert_allclose(run["ball"].velocity[:, 2], 0.3 + 4.0 * run.t, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run["ball"].position[:, 0], run.t, rtol=0.0, atol=1e-12)


def test_a_joint_that_moves_starts_anew_with_every_run() -> None:
    system = lifted()
    one, two = (system.simulate(0.5, step=0.05) for _ in range(2))
    np.testing.assert_array_equal(one.course.states, two.course.states)


def test_a_joint_that_moves_is_where_it_belongs_at_an_event() -> None:
    """Two events in one step: the state at the first is projected at its own time."""
    stop = [
        qp.When(f"at {x}", lambda s, x=x: s["ball"].position[0] - x, terminal=False)
        for x in (0.3, 0.4)
    ]
    run = lifted().simulate(0.5, stop=stop, step=0.5)
    np.testing.assert_allclose(run.t, (0.0, 0.3, 0.4, 0.5), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(
        run["ball"].position[:, 2], 0.3 * run.t + 2.0 * run.t**2, rtol=0.0, atol=1e-9
    )
