"""Viscous hinges: one force that damps every angle of the joints that act, as a `JointDamper` on
each would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.motion import TIGHT

C = 0.02
GRAVITY = qp.Gravity((0.0, 0.0, -9.81))


def chain() -> tuple[Any, ...]:
    """Bars on a hinge, a sleeve and a cross; and a ball, which has no angle."""
    bars = [
        qp.Body.box(f"bar {k}", (0.3, 0.05, 0.05), 0.5, position=(0.15 + 0.3 * k, 0, 0))
        for k in range(4)
    ]
    hinge = qp.Revolute("hinge", qp.GROUND, bars[0], at=(0, 0, 0), axis=(0, 1, 0))
    sleeve = qp.Cylindrical("sleeve", bars[0], bars[1], at=(0.3, 0, 0), axis=(0.2, 1, 0))
    cross = qp.Universal("cross", bars[1], bars[2], at=(0.6, 0, 0), axis=(0, 1, 0))
    ball = qp.Spherical("ball", bars[2], bars[3], at=(0.9, 0, 0))
    return *bars, hinge, sleeve, cross, ball


PARTS = chain()
HINGE, SLEEVE, CROSS = PARTS[4:7]
WHOLE = (qp.ViscousHinges(C),)
EACH = (
    qp.JointDamper("d1", HINGE, damping=C),
    qp.JointDamper("d2", SLEEVE, coordinate="angle", damping=C),
    qp.JointDamper("d3", CROSS, coordinate="angle_x", damping=C),
    qp.JointDamper("d4", CROSS, coordinate="angle_y", damping=C),
)


@pytest.mark.kernels
def test_equal_a_damper_on_each_angle() -> None:
    one, many = (qp.Multibody(*PARTS, GRAVITY, *some) for some in (WHOLE, EACH))
    rates = {
        name: dict(angular_velocity=(0.3 * k, 1.0 - k, 0.5)) for k, name in enumerate(one.bodies)
    }
    state = one.initial.replace(rates)
    np.testing.assert_allclose(
        one.acceleration(state), many.acceleration(state), rtol=1e-13, atol=1e-13
    )
    assert (
        abs(one.acceleration(state) - one.without("viscous hinges").acceleration(state)).max()
        > 1e-3
    )


def test_springs_equal_a_spring_on_each_angle() -> None:
    each = (
        qp.JointSpring("s1", HINGE, stiffness=2.0, rest=0.4),
        qp.JointSpring("s2", SLEEVE, coordinate="angle", stiffness=2.0, rest=0.4),
        qp.JointSpring("s3", CROSS, coordinate="angle_x", stiffness=2.0, rest=0.4),
        qp.JointSpring("s4", CROSS, coordinate="angle_y", stiffness=2.0, rest=0.4),
    )
    one, many = (
        qp.Multibody(*PARTS, GRAVITY, *some) for some in ((qp.SprungHinges(2.0, rest=0.4),), each)
    )
    np.testing.assert_allclose(one.acceleration(), many.acceleration(), rtol=1e-13, atol=1e-13)
    assert one.energy().potential == pytest.approx(many.energy().potential, rel=1e-14)
    assert abs(one.acceleration() - one.without("sprung hinges").acceleration()).max() > 1e-3


def test_what_they_take_is_dissipated() -> None:
    one, many = (
        qp.Multibody(*PARTS, GRAVITY, *some).simulate(0.5, **TIGHT) for some in (WHOLE, EACH)
    )
    assert one.dissipated[-1] == pytest.approx(many.dissipated[-1], rel=1e-9)
    assert one.dissipated[-1] > 1e-3
    np.testing.assert_allclose(one.energy + one.dissipated, one.energy[0], rtol=0.0, atol=1e-9)
    assert one.work[-1] == 0.0


def hinged(*names: str) -> tuple[qp.Multibody, qp.Multibody]:
    """A lid with hinges at two edges, some of which may act later: damped as a whole, and one by
    one."""
    base = qp.Body.box("base", (0.1, 0.1, 0.1), 1.0, fixed=True)
    lid = qp.Body.box(
        "lid", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0), angular_velocity=(0.0, 0.5, 1.0)
    )
    hinges = [
        qp.Revolute("one", base, lid, at=(0.05, -0.05, 0), axis=(0, 0, 1)),
        qp.Revolute("two", base, lid, at=(0.05, 0, 0.05), axis=(0, 1, 0)),
    ]
    dampers = [qp.JointDamper(f"damper {h.name}", h, damping=C) for h in hinges]
    now, later = ([h for h in hinges if (h.name in names) == acts] for acts in (True, False))
    return (
        qp.Multibody(base, lid, *now, *WHOLE, candidates=later),
        qp.Multibody(base, lid, *now, *[d for d in dampers if d.joint in now], candidates=later),
    )


@pytest.mark.parametrize("names", [(), ("one",), ("two",)], ids=str)
def test_they_follow_the_selection(names: tuple[str, ...]) -> None:
    whole, single = hinged(*names)
    assert len(whole.selection.elements) == len(names)
    np.testing.assert_array_equal(whole.acceleration(), single.acceleration())
    for chosen in ((), ("one",), ("two",), ("one", "two")):
        assert len(whole.tables.select(chosen).elements) == len(chosen)
        assert len(whole.tables.select(chosen, []).elements) == 0


def test_their_damping_is_a_parameter() -> None:
    whole, _ = hinged("one")
    strong = whole.tables.with_parameters({"viscous hinges": {"damping": 3.0 * C}})
    assert strong.element_numbers[:, 2].tolist() == [3.0 * C, 3.0 * C]


def test_they_are_parts_as_others() -> None:
    whole, _ = hinged("one")
    assert qp.from_json(qp.to_json(whole)) == whole
    assert "ViscousHinges(0.02)" in whole.explain()
    with pytest.raises(qp.PartError, match=r"ViscousHinges 'viscous hinges': damping is -1\.0"):
        qp.ViscousHinges(-1.0)
