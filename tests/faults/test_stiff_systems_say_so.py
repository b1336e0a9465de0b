"""A system that does not settle because it is stiff says so, and names what settles it."""

from __future__ import annotations

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
    found = system.settle(evaluations=60_000)
    assert found.verdict == "never settles"
    assert "it is stiff" in found.reason
    assert "give method='radau' or 'bdf', or ask equilibria()" in found.reason
    fast = float(re.search(r"one motion dies out in (\S+) s", found.reason)[1])  # type: ignore[index]
    rest = system.settle(evaluations=60_000, method="radau")
    assert rest.verdict == "stable"
    rates = -np.linalg.eigvals(system.linearize(rest.state).A).real
    assert fast == pytest.approx(1.0 / rates.max(), rel=0.05)  # it has two digits
    assert rest.state["hinge"].angle == pytest.approx(np.arctan2(-0.05, 0.1), abs=1e-9)
    assert "stiff" not in rest.reason


def test_what_is_not_stiff_is_not_called_so() -> None:
    assert "stiff" not in damped(0.0).settle(evaluations=20_000).reason
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
