"""What a system says about itself at an instant: energy, residual, mobility, reactions, and all of
it in words."""

from __future__ import annotations

import pickle
from typing import Any, get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics import equation
from quirkpy.mechanics.equation import UndeterminedAcceleration
from quirkpy.mechanics.system import Evaluator
from tests.faults.sentence import check_sentence

G = 9.81
DOWN = qp.Gravity((0.0, 0.0, -G))
BALL = qp.Body.sphere("ball", 0.1, mass=2.0, position=(0.5, 0.0, 0.0), velocity=(0.0, 1.0, 0.0))


def cube(name: str, x: float, y: float) -> qp.Body:
    return qp.Body.box(name, (0.1, 0.1, 0.1), mass=1.0, position=(0.1 * x, 0.1 * y, 0.0))


def lattice() -> qp.Multibody:
    """Four cubes in a square, locked around: one lock more than needed."""
    a, b, c, d = cubes = cube("a", 0, 0), cube("b", 1, 0), cube("c", 1, 1), cube("d", 0, 1)
    pairs = ((a, b), (b, c), (c, d), (d, a))
    return qp.Multibody(
        *cubes, *(qp.Fixed(f"{one.name}{two.name}", one, two) for one, two in pairs), DOWN
    )


def four_bar(*more: qp.Part) -> qp.Multibody:
    """Planar four-bar linkage of hinges about z in three dimensions: three of its 20 rows say
    nothing new."""
    points = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (2.0, 1.5, 0.0), (1.5, 0.0, 0.0))
    rods = [qp.Body.rod(f"rod{k}", points[k], points[k + 1], mass=1.0) for k in range(3)]
    ends = (qp.GROUND, *rods, qp.GROUND)
    hinges = [
        qp.Revolute(f"h{k}", ends[k], ends[k + 1], at=points[k], axis=(0, 0, 1)) for k in range(4)
    ]
    return qp.Multibody(*rods, *hinges, DOWN, *more)


def pendulum() -> list[Any]:
    bob = qp.Body("bob", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(5.0, 0.0, -1.0))
    return [bob, qp.Revolute("pin", qp.GROUND, bob, at=(5.0, 0.0, 0.0), axis=(0, 1, 0))]


# --- energy ---------------------------------------------------------------------------------------
def test_energy_is_a_number_with_two_halves() -> None:
    system = qp.Multibody(BALL, DOWN, qp.PotentialWell("well", BALL, (0.0, 0.0, 0.0), 8.0))
    energy = system.energy(
        system.initial.replace({"ball": dict(position=(0.5, 0.0, 2.0), angular_velocity=(0, 3, 0))})
    )
    assert energy.kinetic == pytest.approx(0.5 * 2.0 + 0.5 * 0.4 * 2.0 * 0.01 * 9.0, rel=1e-15)
    assert energy.potential == pytest.approx(2.0 * G * 2.0 + 0.5 * 8.0 * 4.25, rel=1e-15)
    assert energy == energy.kinetic + energy.potential
    assert isinstance(energy, float)
    copy = pickle.loads(pickle.dumps(energy))
    assert (copy, copy.kinetic, copy.potential) == (energy, energy.kinetic, energy.potential)


# --- residual -------------------------------------------------------------------------------------
def test_residual_tells_positions_velocities_and_whose_they_are() -> None:
    rail = qp.Prismatic("rail", qp.GROUND, BALL, at=(0.5, 0.0, 0.0), axis=(0, 1, 0))
    tether = qp.Distance("tether", qp.GROUND, BALL, at1=(0.5, -1.0, 0.0))
    system = qp.Multibody(BALL, rail, tether)
    residual = system.residual(
        system.initial.replace({"ball": dict(position=(0.5, 5e-7, 3e-7), velocity=(2, 1, 0))})
    )
    assert residual.joints == ("rail",) * 5 + ("tether",)
    assert residual.gaps["rail"].unit == residual.gaps["tether"].unit == "m"
    assert residual.gaps["rail"].size == pytest.approx(3e-7, rel=1e-6)
    assert residual.gaps["tether"].size == pytest.approx(5e-7, rel=1e-6)
    assert residual.position[5] == pytest.approx(5e-7, rel=1e-6)
    assert sorted(abs(residual.velocity[:2])) == pytest.approx([0.0, 2.0], abs=1e-12)
    assert residual.velocity[5] == pytest.approx(1.0, abs=1e-6)


def test_residual_without_joints_is_empty() -> None:
    residual = qp.Multibody(BALL).residual()
    assert (
        residual.position.tolist(),
        residual.velocity.tolist(),
        residual.joints,
        residual.gaps,
    ) == ([], [], (), {})


# --- mobility -------------------------------------------------------------------------------------
def test_free_bodies_have_all_their_freedoms() -> None:
    assert qp.Multibody(BALL).mobility() == (6, 0, 0, (), 1.0)


def test_lattice_of_locked_cubes() -> None:
    mobility = lattice().mobility()
    assert mobility[:4] == (6, 18, 24, ("ab", "bc", "cd", "da"))
    assert mobility.smallest > 1e-2
    assert lattice().without("da").mobility()[:4] == (6, 18, 18, ())


def test_planar_four_bar_of_hinges() -> None:
    mobility = four_bar(*pendulum()).mobility()
    assert mobility[:4] == (2, 22, 25, ("h0", "h1", "h2", "h3"))


@pytest.mark.parametrize("angle", [1e-3, 1e-5])
def test_nearness_of_a_singular_pose_is_told(angle: float) -> None:
    """Two bars that hold a ball nearly in line: the smallest singular value falls with the angle
    between them."""
    bars = [
        qp.Distance(f"bar{x}", qp.GROUND, BALL, at1=(0.5 + x, angle * (x + 1) / 2, 0.0))
        for x in (-1.0, 1.0)
    ]
    mobility = qp.Multibody(BALL, *bars).mobility()
    assert mobility.rank == 2
    assert mobility.smallest == pytest.approx(angle / 2**0.5, rel=1e-3)


# --- reactions ------------------------------------------------------------------------------------
def test_reaction_carries_the_weight() -> None:
    beam = qp.Body(
        "beam",
        mass=2.0,
        inertia=(0.1, 0.2, 0.2),
        position=(0.5, 0.0, 0.0),
        orientation=qp.rotation((1, 0, 0), 2.0),
    )
    wall = qp.Fixed("wall", qp.GROUND.site("s"), beam)
    reaction = qp.Multibody(beam, wall, DOWN).reactions()["wall"]
    np.testing.assert_allclose(reaction.force, (0.0, 0.0, 2.0 * G), atol=1e-12)
    np.testing.assert_allclose(reaction.torque, (0.0, -0.5 * 2.0 * G, 0.0), atol=1e-12)
    assert reaction.unique


def test_reaction_on_a_swinging_bob() -> None:
    bob, pin = pendulum()
    system = qp.Multibody(bob, pin, DOWN)
    reaction = system.reactions(
        system.initial.replace({"bob": dict(velocity=(2, 0, 0), angular_velocity=(0, -2, 0))})
    )
    np.testing.assert_allclose(reaction["pin"].force, (0.0, 0.0, 3.0 * (G + 4.0)), atol=1e-11)
    np.testing.assert_allclose(reaction["pin"].torque, 0.0, atol=1e-11)


def test_reactions_of_redundant_joints_are_flagged_and_the_others_not() -> None:
    reactions = four_bar(*pendulum()).reactions()
    assert [name for name, one in reactions.items() if not one.unique] == ["h0", "h1", "h2", "h3"]
    assert list(reactions) == ["h0", "h1", "h2", "h3", "pin"]


@pytest.mark.parametrize("system", [lattice(), four_bar()], ids=["lattice", "four-bar"])
def test_reactions_add_up_to_what_the_joints_do(system: qp.Multibody) -> None:
    at = system.initial.instant()
    total = {name: np.zeros(6) for name in (*system.bodies, "ground")}
    for name, reaction in system.reactions().items():
        joint = system[name]
        for body, sign in zip(joint.bodies, (-1.0, 1.0)):
            arm = at.view[joint.sites[1]].position - at.view[body].position
            total[body.name] += sign * np.concatenate(
                [reaction.force, reaction.torque + np.cross(arm, reaction.force)]
            )
    forces = system.constraint_forces()
    for k, name in enumerate(system.bodies):
        axes = at.view[system[name]].axes
        np.testing.assert_allclose(total[name][:3], forces[k, :3], atol=1e-11)
        np.testing.assert_allclose(total[name][3:], axes @ forces[k, 3:], atol=1e-11)


# --- undetermined ---------------------------------------------------------------------------------
def test_moments_that_the_printed_equation_cannot_hold_are_refused_by_name() -> None:
    needle = qp.Body(
        "needle",
        mass=1.0,
        inertia=(1.0, 1.0, 1e-18),
        position=(1, 0, 0),
        orientation=qp.rotation((1, 2, 3), 1),
    )
    system = qp.Multibody(BALL, needle, DOWN)
    for evaluator in ("recursive", "dense"):
        np.testing.assert_allclose(system.acceleration(evaluator=evaluator)[:, 2], -G, rtol=1e-12)
    with pytest.raises(qp.PartError) as caught:
        system.acceleration(evaluator="literal")
    check_sentence(
        str(caught.value), "acceleration of needle", ("undetermined", "more comparable size")
    )
    assert "ball" not in str(caught.value)


@pytest.mark.parametrize(
    ("A", "columns"), [(((0, 1, 0, 0),), (2, 3)), (((0, 1, 0, 1), (0, 0, 1, 0)), (1, 3))]
)
def test_columns_without_mass_and_constraint_are_named(A: Any, columns: tuple[int, ...]) -> None:
    """M x'' = F with mass on the first coordinate only."""
    A, M = np.array(A, dtype=float), np.diag([1.0, 0.0, 0.0, 0.0])
    with pytest.raises(UndeterminedAcceleration) as caught:
        equation.literal(A, np.zeros(len(A)), M, np.zeros(4))
    assert caught.value.columns == columns
    check_sentence(
        str(caught.value), str(list(columns)), ("give these coordinates mass or constrain them",)
    )


def test_small_but_even_moments_are_no_trouble() -> None:
    speck = qp.Body(
        "speck",
        mass=1e-9,
        inertia=(1e-18, 1e-18, 1e-18),
        position=(1, 0, 0),
        angular_velocity=(1, 2, 3),
    )
    system = qp.Multibody(BALL, speck, DOWN)
    for evaluator in get_args(Evaluator):
        np.testing.assert_allclose(system.acceleration(evaluator=evaluator)[:, 2], -G, rtol=1e-12)


# --- in words -------------------------------------------------------------------------------------
def test_explain_says_everything_in_lines() -> None:
    base = qp.Body.box("base", (1, 1, 1), fixed=True)
    later = qp.Spherical("later", base.site("a"), BALL.site("b"))
    system = qp.Multibody(
        base, BALL, DOWN, candidates=[later, qp.Damper("d", base, BALL, damping=1.0)]
    )
    assert system.explain().split("\n") == [
        "1 moving body, 0 joints, 1 force",
        "  body   base: fixed, Box((1, 1, 1))",
        "  body   ball: 2 kg, Sphere(0.1)",
        "  later  later: Spherical between base and ball",
        "  later  Damper('d', first=<base>, second=<ball>, damping=1)",
        "  force  Gravity((0, 0, -9.81))",
        "6 degrees of freedom: 6 x 1 less 0 independent of 0 constraint rows",
        "energy: kinetic 1 J, potential 0 J",
    ]


def test_explain_names_what_is_redundant() -> None:
    text = four_bar().explain()
    assert text.startswith("3 moving bodies, 4 joints, 1 force\n")
    assert "  joint  h1: Revolute between rod0 and rod1\n" in text
    assert "1 degree of freedom: 6 x 3 less 17 independent of 20 constraint rows\n" in text
    assert "redundant here (accelerations are unique all the same): h0, h1, h2, h3\n" in text
