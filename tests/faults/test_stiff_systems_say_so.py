"""A system that does not settle because it is stiff says so, and names what settles it."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import quirkpy as qp
from tests.studies import changed, far_pair


def damped(damping: float) -> qp.Multibody:
    """A hinged cube that a well pulls open against a damper."""
    hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
    arm = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    well = qp.PotentialWell("well", arm, centre=(0.2, 0, 0), stiffness=0.05)
    return qp.Multibody(
        hub, arm, hinge, well, qp.HingeSpring("damping", hinge, stiffness=0.0, damping=damping)
    )


@pytest.mark.parametrize("damping", [0.5, 10.0])
def test_stiffness_is_named_with_the_way_out(damping: float) -> None:
    """The times that the sentence names are those of the linear model, and its way out leads to the
    well's angle."""
    system = damped(damping)
    found = system.settle(evaluations=60_000, method="dop853")
    assert found.verdict == "never settles"
    assert "it is stiff" in found.reason
    assert "give method='auto' or 'radau', or ask equilibria()" in found.reason
    fast = float(re.search(r"one motion dies out in (\S+) s", found.reason)[1])  # type: ignore[index]
    rest = system.settle(evaluations=60_000, method="radau")
    assert rest.verdict == "stable"
    rates = -np.linalg.eigvals(system.linearize(rest.state).A).real
    assert fast == pytest.approx(1.0 / rates.max(), rel=0.05)  # it has two digits
    assert rest.state["hinge"].angle == pytest.approx(np.arctan2(-0.05, 0.1), abs=1e-9)
    assert "stiff" not in rest.reason


@pytest.mark.parametrize("damping", [0.5, 10.0])
def test_stiff_systems_settle_without_a_word(damping: float) -> None:
    """By default, at the place that implicit steps alone find, and with no more than twice the
    effort of 500 explicit steps, from which on one may know, and of those."""
    system = damped(damping)
    found, alone = system.settle(), system.settle(method="radau")
    assert found.verdict == "stable"
    assert found.state["hinge"].angle == pytest.approx(alone.state["hinge"].angle, abs=1e-9)
    effort = [rest.run.counts.evaluations for rest in (found, alone)]  # type: ignore[union-attr]
    assert effort[0] < 2 * (12 * 500 + effort[1])


def test_what_is_not_stiff_is_not_called_so() -> None:
    assert "stiff" not in damped(0.0).settle(evaluations=20_000, method="dop853").reason
    assert damped(2e-4).settle().verdict == "stable"


@pytest.mark.parametrize("damping", [0.5, 10.0])
def test_in_studies_the_way_out_is_one_that_studies_have(damping: float) -> None:
    """A `SettleRule` names no method, so the sentence names none either; what it names helps."""
    study = changed(
        far_pair(), always=[qp.ViscousHinges(damping)], settle=qp.SettleRule(evaluations=20_000)
    )
    said = [
        o.reason
        for edge in study.explore().edges
        for o in edge.outcomes
        if "it is stiff" in o.reason
    ]
    assert said
    for reason in said:
        assert reason.endswith(
            "; damp it less, or give the study settle=SettleRule(evaluations=...) above 20000"
        )
        assert "method=" not in reason
        assert "equilibria" not in reason


def test_less_damping_helps_in_studies() -> None:
    study = changed(
        far_pair(), always=[qp.ViscousHinges(5e-5)], settle=qp.SettleRule(evaluations=20_000)
    )
    assert "never settles" not in study.explore().kinds


# --- stiff by springs -----------------------------------------------------------------------------
PULL = math.hypot(0.3, 9.81)


def double_pendulum(
    stiffness: float, damping: float, above: float = 0.05, rest: float = 0.0
) -> qp.Multibody:
    """Two rods of half a metre and one kilogram in oblique gravity, a spring between them."""
    upper = qp.Body.rod("upper", (0, 0, 0), (0, 0, -0.5), mass=1.0)
    lower = qp.Body.rod("lower", (0, 0, -0.5), (0, 0, -1.0), mass=1.0)
    first = qp.Revolute("first", qp.GROUND, upper, at=(0, 0, 0), axis=(0, 1, 0))
    second = qp.Revolute("second", upper, lower, at=(0, 0, -0.5), axis=(0, 1, 0))
    return qp.Multibody(
        upper, lower, first, second, qp.Gravity((0.3, 0, -9.81)),
        qp.HingeSpring("above", first, stiffness=0.0, damping=above),
        qp.HingeSpring("below", second, stiffness=stiffness, damping=damping, rest_angle=rest),
    )  # fmt: skip


STIFF = [(1e6, 1.0), (1e8, 10.0), (1e8, 1e-3), (1e12, 1.0)]


@pytest.mark.parametrize(("stiffness", "damping"), STIFF)
def test_stiff_springs_are_named_with_the_way_out(stiffness: float, damping: float) -> None:
    """What swings fastest swings as the linear model says, and the first way out leads to the rest
    that a single rod of both would have."""
    system = double_pendulum(stiffness, damping)
    found = system.settle(evaluations=60_000, method="dop853")
    assert found.verdict == "never settles"
    assert "it is stiff" in found.reason
    assert found.reason.endswith("; ask equilibria(), or give method='auto' or 'radau'")
    low = system.equilibria(seeds=3)[0]
    swings = float(re.search(r"swings at (\S+) rad/s", found.reason)[1])  # type: ignore[index]
    assert swings == pytest.approx(
        abs(np.linalg.eigvals(system.linearize(low.state).A)).max(), 0.05
    )
    assert low.verdict == "stable"
    assert low.damped or "cannot be told" in low.reason  # as the stiffest hide what is slow
    assert low.state["first"].angle == pytest.approx(math.atan2(-0.3, 9.81), abs=1e-6)


@pytest.mark.parametrize(("stiffness", "damping"), STIFF)
def test_a_search_finds_the_rests_beside_stiff_springs(stiffness: float, damping: float) -> None:
    """Hanging and standing, with the energies of one straight rod, and no others: however stiff
    the spring, it is straight."""
    found = double_pendulum(stiffness, damping).equilibria(seeds=5)
    assert [e.verdict for e in found] == ["stable", "unstable"]
    assert [e.energy for e in found] == pytest.approx([-PULL, PULL], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("stiffness", "damping"), [(1e6, 1.0), (1e8, 10.0)])
def test_the_other_way_out_leads_there_too(stiffness: float, damping: float) -> None:
    rest = double_pendulum(stiffness, damping).settle(method="radau")
    assert rest.verdict == "stable"
    assert rest.state["first"].angle == pytest.approx(math.atan2(-0.3, 9.81), abs=1e-6)


def test_a_search_that_finds_nothing_says_why() -> None:
    """As where a bead slides down a rail for ever."""
    bead = qp.Body.sphere("bead", 0.1, 1.0)
    rail = qp.Prismatic("rail", qp.GROUND, bead, at=(0, 0, 0), axis=(1, 0, 0))
    found = qp.Multibody(bead, rail, qp.Gravity((1.0, 0, 0))).equilibria(seeds=2)
    assert not found
    assert re.match(r"none found: of (\d+) attempts \1 came to no rest", found.reason)
    assert found.reason in repr(found)
    assert double_pendulum(1.0, 1.0).equilibria(seeds=2).reason == ""


# --- rates that rounding hides --------------------------------------------------------------------
@pytest.mark.parametrize("damping", [1e3, 1e5, 1e7, 1e9])
def test_the_strongest_dampers_damp(damping: float) -> None:
    """Whatever rounding makes of the slow rate: they take energy from all that can move."""
    low = double_pendulum(0.0, damping, damping).equilibria(seeds=2)[0]
    assert low.damped
    assert low.reason == "a minimum of energy, and every motion around it dies out"


def test_nothing_is_said_to_be_undamped_that_rounding_hides() -> None:
    """A damper of 1e-6 beside one of 1e12 cannot be seen; no damper at all can."""
    hidden = double_pendulum(0.0, 1e12, 1e-6).equilibria(seeds=2)[0]
    assert hidden.verdict == "stable"  # it is the lowest place
    assert not hidden.damped
    figures = re.search(
        r"whether the motion of upper, lower dies out cannot be told \(a rate of (\S+) 1/s, known "
        r"to (\S+)\)",
        hidden.reason,
    )
    assert figures is not None
    assert float(figures[2]) > 1e-6  # half of 1e-6 / (2 M a^2) is far below
    free = double_pendulum(0.0, 0.0, 0.0).equilibria(seeds=2)[0]
    assert free.reason == "a minimum of energy; nothing damps the motion of upper, lower"
