"""A stop or a taut rope in the way of a drive contradicts it: the run ends there, at once, and says
which and why."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.step.methods import Method
from quirkpy.motion.settings import StiffMethod

#: One worker runs them all, so that the kernels of stiff steps are compiled once.
pytestmark = pytest.mark.xdist_group("stiff")
#: 1.2 (10 s^3 - 15 s^4 + 6 s^5), s = t / 10.
SLEW = qp.Schedule((0.0, 10.0), (0.0, 1.2), "smooth")
#: More steps than any of these runs needs.
MOST = 3000
ARM = qp.Body("arm", 2.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
HINGE = qp.Revolute("hinge", qp.GROUND, ARM, at=(0, 0, 0), axis=(0, 0, 1))
CART = qp.Body("cart", 2.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
SLIDE = qp.Prismatic("slide", qp.GROUND, CART, at=(0.5, 0, 0), axis=(1, 0, 0))


def when(value: float) -> float:
    """At what time the slew has come so far [s]."""
    roots = np.roots([6.0, -15.0, 10.0, 0.0, 0.0, -value / 1.2])
    inside = [x.real for x in roots if abs(x.imag) < 1e-9 and 0.0 <= x.real <= 1.0]
    return 10.0 * inside[0]


def arm(motion: Any, **stop: float) -> qp.Multibody:
    return qp.Multibody(
        ARM, HINGE, qp.Prescribed("drive", HINGE, motion), qp.JointStop("limit", HINGE, **stop)
    )


def cart(motion: Any, **rope: float) -> qp.Multibody:
    return qp.Multibody(
        CART, SLIDE, qp.Prescribed("drive", SLIDE, motion), qp.Rope("rope", qp.GROUND, CART, **rope)
    )


def ends_at(
    run: qp.Trajectory, t: float, name: str, joints: tuple[str, ...], within: float = 1e-8
) -> None:
    """The run has stopped at the time t, with all that came before, the drive followed to the
    end."""
    assert run.stop is qp.Stop.JAMMED
    assert str(run.stop) == "a stop or a taut rope is in the way of a drive"
    assert (run.events[-1].name, run.events[-1].joints) == (name, joints)
    assert run.t[-1] == run.events[-1].t == pytest.approx(t, abs=within)
    assert np.all(np.diff(run.t) > 0.0)
    drive = run.system["drive"]
    assert isinstance(drive, qp.Prescribed)
    assert max(run.system.residual(run.final).gaps.values(), key=lambda gap: gap.size).size < 1e-9
    assert run.counts.steps < MOST
    assert len(run.events) < 10


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("method", [*get_args(Method), *get_args(StiffMethod)])
def test_an_angle_stop_in_the_way_of_a_driven_hinge(method: Any, restitution: float) -> None:
    run = arm(SLEW, upper=0.7, restitution=restitution).simulate(
        10.0, max_steps=MOST, method=method
    )
    ends_at(run, when(0.7), "limit in the way of drive", ("hinge", "drive"), 1e-7)
    assert run["hinge"].angle[-1] == pytest.approx(0.7, abs=1e-8)
    assert run["hinge"].rate[-1] > 0.1
    assert run.final.held == ()


@pytest.mark.kernels
def test_a_rope_in_the_way_of_a_driven_slide() -> None:
    run = cart(SLEW, length=1.0).simulate(10.0, max_steps=MOST, step=0.05)
    ends_at(run, when(0.5), "rope in the way of drive", ("rope", "drive"))
    assert run["rope"].travel[-1] == pytest.approx(1.0, abs=1e-9)
    ledger = run.energy - run.work
    np.testing.assert_allclose(ledger, ledger[0], atol=1e-9)


@pytest.mark.parametrize("step", [None, 0.01])
@pytest.mark.parametrize("by", ["schedule", "function"])
def test_resting_contact_at_which_a_drive_starts_to_press(by: str, step: float | None) -> None:
    """The arm lies at its stop for a second; the run ends where the drive has gone 5e-7 rad too
    far, as no rounding does: 9 (5e-7 / 12)^(1/3) s later, less what the higher powers of s make."""
    pause: Any = qp.Schedule((1.0, 10.0), (0.0, 1.2), "smooth")
    motion = pause if by == "schedule" else lambda t: tuple(float(x) for x in pause.motion(t))
    run = arm(motion, upper=0.0).simulate(10.0, max_steps=MOST, step=step)
    ends_at(
        run,
        1.0 + 9.0 * (5e-7 / 12.0) ** (1.0 / 3.0),
        "limit in the way of drive",
        ("hinge", "drive"),
        1e-3,
    )
    assert run["hinge"].angle[-1] == pytest.approx(5e-7, abs=1e-10)
    assert [event.name for event in run.events] == ["limit in the way of drive"]


def test_a_drive_that_presses_from_the_beginning() -> None:
    """With an acceleration into the stop at the first instant, and with a rate."""
    for motion in (lambda t: (0.3 * t * t, 0.6 * t, 0.6), lambda t: (0.3 * t, 0.3, 0.0)):
        run = arm(motion, upper=0.0).simulate(10.0, max_steps=MOST)
        assert run.stop is qp.Stop.JAMMED
        assert run.t[-1] < 2e-3
        assert run.events[-1].joints == ("hinge", "drive")


@pytest.mark.parametrize("bound", [1.2, 1.2 + 1e-16, 1.2 - 1e-9])
def test_a_drive_may_end_at_its_stop(bound: float) -> None:
    """And rest there, and go back."""
    there = qp.Schedule((0.0, 3.0, 5.0, 8.0), (0.0, 1.2, 1.2, 0.4), "smooth")
    system = arm(there, upper=bound).with_(qp.Load("wind", ARM, torque=(0, 0, 2.0)))
    run = system.simulate(10.0, max_steps=MOST)
    assert run.stop is qp.Stop.END
    assert run["hinge"].angle[-1] == pytest.approx(0.4, abs=1e-9)
    assert run["hinge"].angle.max() == pytest.approx(1.2, abs=1e-9)
    assert run.counts.steps < 200
    assert run.final.held == ()


def test_a_stop_of_another_joint_in_the_way_of_a_drive_through_gears() -> None:
    """b = -0.5 a reaches -0.3 where the slew is at half its way; a second drive elsewhere has
    nothing to do with it."""
    one, two = (
        qp.Body(name, 1.0, (0.1, 0.1, 0.1), position=(x, 0, 0))
        for name, x in (("one", 0.0), ("two", 1.0))
    )
    a, b = (
        qp.Revolute(n, qp.GROUND, w, at=w.position, axis=(0, 0, 1))
        for n, w in (("a", one), ("b", two))
    )
    parts = one, two, a, b, qp.Gear("gear", a, b, ratio=-0.5), qp.Prescribed("drive", a, SLEW)
    other = qp.Prescribed("other drive", HINGE, SLEW)
    run = qp.Multibody(*parts, qp.JointStop("limit", b, lower=-0.3), ARM, HINGE, other).simulate(
        10.0, max_steps=MOST
    )
    ends_at(run, 5.0, "limit in the way of drive", ("b", "drive"), 1e-6)


def towed(motion: Any, bound: float) -> qp.Multibody:
    """A driven cart that tows another one on a rope of 0.8 m, which a stop holds up after it has
    gone `bound`."""
    tail = qp.Body("tail", 1.0, (0.1, 0.1, 0.1), position=(0, 0, 0))
    rail = qp.Prismatic("rail", qp.GROUND, tail, at=(0, 0, 0), axis=(1, 0, 0))
    end, rope = qp.JointStop("end", rail, upper=bound), qp.Rope("rope", tail, CART, length=0.8)
    return qp.Multibody(CART, SLIDE, tail, rail, rope, end, qp.Prescribed("drive", SLIDE, motion))


def test_a_stop_and_a_rope_together_in_the_way_of_a_drive() -> None:
    """The rope alone is not in the way: it pulls the second cart along, until that is at its
    stop."""
    run = towed(SLEW, 0.4).simulate(10.0, max_steps=MOST)
    ends_at(run, when(0.7), "end in the way of drive", ("rail", "drive"), 1e-6)
    assert run.events[0].name == "rope reached"
    assert run.final.held == ("rope upper",)
    back = qp.Schedule(
        (0.0, 2.0, 4.0), (0.0, 0.5, 0.0), "smooth"
    )  # the tail flies on when the rope goes slack
    free = towed(back, 50.0).simulate(4.0, max_steps=MOST)
    assert free.stop is qp.Stop.END
    assert [event.name for event in free.events][:2] == ["rope reached", "rope released"]


def test_a_drive_that_starts_against_a_stop_and_a_rope() -> None:
    """Everything taut and at rest from the start."""
    pause = qp.Schedule((1.0, 10.0), (0.3, 1.2), "smooth")
    cart_there = qp.Body("cart", 2.0, (0.1, 0.1, 0.1), position=(0.8, 0, 0))
    tail = qp.Body("tail", 1.0, (0.1, 0.1, 0.1))
    slide = qp.Prismatic(
        "slide", qp.GROUND.site("g", at=(0.5, 0, 0), z=(1, 0, 0)), cart_there.site("c", z=(1, 0, 0))
    )
    rail = qp.Prismatic("rail", qp.GROUND, tail, at=(0, 0, 0), axis=(1, 0, 0))
    parts = (
        cart_there,
        tail,
        slide,
        rail,
        qp.Rope("rope", tail, cart_there),
        qp.JointStop("end", rail, upper=0.0),
    )
    run = qp.Multibody(*parts, qp.Prescribed("drive", slide, pause)).simulate(10.0, max_steps=MOST)
    assert run.stop is qp.Stop.JAMMED
    assert run.t[-1] == pytest.approx(1.0, abs=0.05)
    assert run["slide"].travel[-1] == pytest.approx(0.3, abs=2e-6)
    assert "drive" in run.events[-1].joints


def test_a_run_that_has_jammed_goes_on_without_the_drive() -> None:
    """The stop then does what stops do."""
    run = arm(SLEW, upper=0.7).simulate(10.0, max_steps=MOST)
    on = run.system.at(run.final).without("drive").simulate(1.0, max_steps=MOST)
    assert on.stop is qp.Stop.END
    assert on["hinge"].angle[-1] == pytest.approx(0.7, abs=1e-8)


def test_locked_bodies_that_move_as_one_jam_too() -> None:
    """Names and numbers of a run with clusters are those of the system."""
    load = qp.Body.box("load", (0.1, 0.1, 0.1), 1.0, position=(1.0, 0, 0))
    system = arm(SLEW, upper=0.7).with_(load, qp.Fixed("weld", ARM, load))
    ends_at(
        system.simulate(10.0, max_steps=MOST),
        when(0.7),
        "limit in the way of drive",
        ("hinge", "drive"),
        1e-7,
    )


@pytest.mark.parametrize("keep", ["ends", 7])
def test_a_jammed_run_can_be_saved(tmp_path: Any, keep: Any) -> None:
    run = arm(SLEW, upper=0.7).simulate(10.0, max_steps=MOST, keep=keep)
    run.save(tmp_path / "run.npz")
    again = qp.Trajectory.load(tmp_path / "run.npz")
    assert (again.stop, again.events, again.final) == (run.stop, run.events, run.final)
