"""A rest is one where it is hidden by rounding: by that of forces that cancel, or by that of
steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp


@pytest.mark.parametrize("seed", range(20))
def test_what_cancels_within_locked_bodies_moves_no_hinge_between_them(seed: int) -> None:
    """Strained springs inside of two clusters: what they leave by rounding is neither a pull nor a
    stiffness."""
    rng = np.random.default_rng(seed)
    turn, shift = Rotation.random(random_state=seed), rng.normal(size=3)
    places = np.array([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.1, 0.1, 0.0), (0.2, 0.1, 0.0)])
    a, b, c, d = (
        qp.Body.box(name, (0.1, 0.1, 0.1), 1.0, position=turn.apply(r) + shift, orientation=turn)
        for name, r in zip("abcd", places)
    )
    locks = qp.Fixed("ab", a, b), qp.Fixed("cd", c, d)
    hinge = qp.Revolute(
        "hinge", b.site("edge", at=(0.05, 0.05, 0.0)), c.site("edge", at=(0.05, -0.05, 0.0))
    )
    springs = [
        qp.Spring(f"{x.name}{y.name} spring", x, y, stiffness=0.02, rest_length=rest)
        for x, y, rest in ((a, b, 0.0), (c, d, 0.4))
    ]
    found = qp.Multibody(a, b, c, d, *locks, hinge, *springs, qp.ViscousHinges(2e-4)).settle()
    assert (found.verdict, found.reason, found.run) == (
        "stable",
        "all that can move is neutral",
        None,
    )
    assert len(found.neutral) == 7


@pytest.mark.parametrize("off", [2.9e-4, 3e-5, 3e-6])
def test_a_rest_that_steps_make_tremble_is_one(off: float) -> None:
    """A module that hangs from another in orbit as a plumb line does: a weak pull, a strong
    damper.  Steps grow as long as the damper lets them be, and what they leave, by their
    tolerances, never dies out."""
    side, arm = 0.1, 0.1 * math.sqrt(0.5)
    tilt = 0.25 * math.pi + off  # from along its diagonal, about the corner of the other
    along = np.array([math.cos(off), math.sin(off), 0.0])
    bus = qp.Body.box("bus", (side, side, side), 1.0, fixed=True)
    corner = np.array([0.5 * side, 0.5 * side, 0.0])
    module = qp.Body.box("module", (side, side, side), 1.0, position=corner + arm * along,
                         orientation=qp.rotation((0, 0, 1), tilt))  # fmt: skip
    hinge = qp.Revolute("hinge", bus, module, at=corner, axis=(0, 0, 1))
    found = qp.Multibody(
        bus, module, hinge, qp.HillFrame(1.10678e-3), qp.ViscousHinges(1e-4)
    ).settle()
    assert (found.verdict, found.damped) == ("stable", True), found.reason
    assert found.run is not None
    assert found.run.counts.evaluations < 20_000
    assert found.state["module"].position == pytest.approx(corner + (arm, 0.0, 0.0), abs=1e-12)
