"""Strings with mass against what Lagrange says of such chains."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp

LENGTH, MASS, REST, EA = 2.0, 0.3, 1.9, 4000.0


def stretched(beads: int, **more: float) -> qp.String:
    """A string with mass between two points of the ground."""
    ends = (qp.GROUND.site("a", at=(1, 2, 3)), qp.GROUND.site("b", at=(1, 2 + LENGTH, 3)))
    return qp.String("s", *ends, EA=EA, rest_length=REST, mass=MASS, beads=beads, **more)


@pytest.mark.parametrize("beads", [1, 4])
def test_a_chain_of_beads_swings_as_lagrange_says(beads: int) -> None:
    """n beads of m / (n + 1) on a string under T: 2 sqrt(T / (a b)) sin(k pi / (2 n + 2)) across,
    for a bead a and a piece b; along the string the same with the stiffness of a piece."""
    system = qp.Multibody(*stretched(beads))
    pull = EA / REST * (LENGTH - REST)
    modes = system.settle().modes
    n, bead = beads + 1, MASS / (beads + 1)
    shares = [math.sin(k * math.pi / (2 * n)) for k in range(1, n)]
    across = [2.0 * math.sqrt(pull / (bead * LENGTH / n)) * s for s in shares]
    along = [2.0 * math.sqrt(EA * n / REST / bead) * s for s in shares]
    told = sorted([*across, *across, *along])
    found = sorted(mode.frequency for mode in modes if mode.frequency > 1e-3)
    np.testing.assert_allclose(found, told, rtol=1e-6)


def test_it_weighs_what_it_was_given_and_pulls_as_one_without_mass() -> None:
    light = qp.Body.box("light", (0.1, 0.1, 0.1), mass=1.0, position=(0, 0, -1))
    site = light.site("eye", at=(0, 0, 0.05))
    heavy = qp.String("s", qp.GROUND, site, stiffness=500.0, mass=0.4, limit_load=90.0, damping=2.0)
    system = qp.Multibody(light, *heavy, qp.Gravity((0, 0, -9.81)))
    own = [body.mass for body in heavy if isinstance(body, qp.Body)]
    assert sum(own) == pytest.approx(0.4 * (1.0 - 0.5 / 4.0))  # half a bead rests on the ground
    pieces = [part for part in heavy if isinstance(part, qp.String)]
    assert [piece.name for piece in pieces] == ["s 1", "s 2", "s 3", "s 4"]
    assert sum(1.0 / piece.stiffness for piece in pieces) == pytest.approx(1.0 / 500.0)
    assert sum(1.0 / piece.damping for piece in pieces) == pytest.approx(1.0 / 2.0)
    assert {piece.limit_load for piece in pieces} == {90.0}
    assert len(system.bodies) == 1 + 3 + 1
    run = system.simulate(0.2)
    assert run["s 1"].tension[-1] > run["s 4"].tension[-1]
    assert heavy.mass == qp.from_json(qp.to_json(heavy)).mass


def test_a_string_with_mass_is_given_as_its_parts() -> None:
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(0, 0, -1))
    string = qp.String("s", qp.GROUND, ball, stiffness=10.0, mass=0.1)
    with pytest.raises(qp.PartError, match=r"String 's': it has a mass, .* give these, \*string"):
        qp.Multibody(ball, string)
    over = [qp.GROUND.site("o", at=(1, 0, 0))]
    with pytest.raises(qp.PartError, match="only a string between two points may have"):
        qp.String("s", qp.GROUND, ball, stiffness=10.0, mass=0.1, over=over)
    plain = qp.String("s", qp.GROUND, ball, stiffness=10.0)
    assert tuple(plain) == (plain,)
