"""`NoCollision`: what is in the way blocks a motion or jams it; clearances are those of bodies that
pass each other."""

from __future__ import annotations

import math

import pytest

import quirkpy as qp

SIDE = 0.1


def block(name: str, x: float, y: float, *, fixed: bool = False) -> qp.Body:
    """A cube whose centre stands on a lattice, in units of its side."""
    return qp.Body.box(
        name, size=(SIDE, SIDE, SIDE), mass=1.0, position=(SIDE * x, SIDE * y, 0.0), fixed=fixed
    )


def swing(*others: qp.Body, margin: float = 0.0) -> tuple[qp.Violation | None, qp.Trajectory]:
    """A cube east of a fixed one, hinged at their northern edge, driven half a turn around that to
    the north."""
    base, lid = block("base", 0.0, 0.0, fixed=True), block("lid", 1.0, 0.0)
    hinge = qp.Revolute("hinge", base, lid, at=(0.5 * SIDE, 0.5 * SIDE, 0.0), axis=(0.0, 0.0, 1.0))
    system = qp.Multibody(base, lid, *others, hinge, qp.SprungHinges(1e-3, rest=2.0 * math.pi))
    reached = qp.When("half a turn", lambda state: math.pi - 1e-3 - state["hinge"].angle)
    run = system.simulate(100.0, stop=[reached], progress=False)
    return qp.NoCollision(margin).first(run), run


def test_nothing_in_the_way() -> None:
    assert swing()[0] is None


def test_a_corner_in_passing_stops_nobody() -> None:
    """Its own far corner comes by the near corner of a cube across, at an eighth of a turn: both
    sqrt(2) away."""
    found, _ = swing(block("across", 2.0, 2.0, fixed=True))
    assert found is None


def test_what_touches_from_the_start_blocks() -> None:
    found, _ = swing(block("north", 1.0, 1.0, fixed=True))
    assert found is not None
    assert (found.reason, found.kind, set(found.parts)) == (
        "is blocked",
        "rejected",
        {"lid", "north"},
    )
    assert 0.0 < found.t < 0.1


def test_what_is_met_on_the_way_jams() -> None:
    """A cube to the north, 0.6 sides away: the corner that lies a side east of the hinge comes to
    its face."""
    found, run = swing(block("north", 1.0, 1.6, fixed=True))
    assert found is not None
    assert (found.reason, found.kind) == ("jams", "jammed")
    angle = run.at(found.t)["hinge"].angle
    assert angle == pytest.approx(math.asin(0.6), abs=2e-4)


def test_a_margin_is_kept() -> None:
    """A cube so far to the north that a thousandth of its side is left to the arc of the far
    corner."""
    gap = 1e-3
    far = block("north", 0.5, 0.5 + math.sqrt(2.0) + gap + 0.5, fixed=True)
    assert swing(far)[0] is None
    found, _ = swing(far, margin=2e-3 * SIDE)
    assert found is not None
    assert (found.reason, found.kind) == ("comes nearer than 0.0002 m", "rejected")
