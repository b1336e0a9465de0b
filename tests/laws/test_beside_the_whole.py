"""What bodies do beside the motion of the whole, as kernels tell it: König's theorem, displacements
and what carries them, and how far states are from their stops."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.base.states import (
    angular_of,
    attitudes_of,
    linear_of,
    positions_of,
    speeds_of,
    spins_of,
    velocities_of,
    zero_rows,
)
from quirkpy.kernels.place.carried import displace_bodies
from quirkpy.maths.types import Floats
from quirkpy.mechanics.momenta import angular_momentum, spinning
from quirkpy.mechanics.rigid_motion import (
    Whole,
    displacement_between,
    relative_kinetic_energy,
)
from quirkpy.motion.capture import clearances
from quirkpy.rest.kinks import gaps_of
from quirkpy.rest.vicinity import Vicinity

pytestmark = pytest.mark.kernels
#: Two groups that drift, of which the first turns freely, and a body in N.
ISLANDS = np.array([0, 1, 0, -1, 1])


def bodies() -> qp.Multibody:
    """Five bodies with nothing between them."""
    rng = np.random.default_rng(5)
    sizes = rng.uniform(0.1, 0.4, size=(5, 3))
    return qp.Multibody(*[qp.Body.box(f"b{k}", size, 1.0 + k) for k, size in enumerate(sizes)])


def states(count: int) -> Floats:
    """Any states of five bodies."""
    out = zero_rows(count, 5)
    out[:] = np.random.default_rng(6).normal(size=out.shape)
    attitudes_of(out)[:] /= np.linalg.norm(attitudes_of(out), axis=-1, keepdims=True)
    return out


def whole(turning: float) -> Whole:
    """How they are carried along."""
    arrays = np.random.default_rng(7).normal(size=(4, 5, 3))[:, ISLANDS]
    turns, drifts = ISLANDS == 0, ISLANDS >= 0
    return Whole(*arrays[:3], turning * arrays[3] * turns[:, None], ISLANDS, drifts, turns)


def test_energy_beside_the_whole_is_what_koenig_leaves() -> None:
    """T less m V^2 / 2 of each group that drifts, and L.w / 2 of that which turns."""
    tables, rows = bodies().tables, states(4)
    m, inertia, v, w = tables.body_mass, tables.body_inertia, velocities_of(rows), spins_of(rows)
    left = 0.5 * (np.einsum("n,kni,kni->k", m, v, v) + np.einsum("kni,nij,knj->k", w, inertia, w))
    for g in (0, 1):
        mine = g == ISLANDS
        drift = np.einsum("n,kni->ki", m[mine], v[:, mine]) / m[mine].sum()
        left -= 0.5 * m[mine].sum() * (drift**2).sum(axis=1)
    mine = ISLANDS == 0
    turning = spinning(m[mine], inertia[mine], rows[:, mine])[1]
    momentum = angular_momentum(rows[:, mine], m[mine], inertia[mine])
    left -= 0.5 * np.einsum("ki,ki->k", momentum, turning)
    found = relative_kinetic_energy(whole(1.0), bodies().selection, rows)
    assert np.allclose(found, left, rtol=1e-12, atol=0.0)


def test_displaced_states_are_as_far_as_they_were_moved_and_carried_along() -> None:
    here, moves, carried = states(1)[0], 0.3 * states(3)[..., :6], whole(1.0)
    out = np.empty((3, *here.shape))
    displace_bodies(here, moves, carried.centre, carried.velocity, carried.turning, out)
    back = displacement_between(np.broadcast_to(here, out.shape), out)
    angle = np.linalg.norm(angular_of(moves), axis=-1, keepdims=True)
    told = 2.0 * np.sin(0.5 * angle) / angle * angular_of(moves)
    assert np.allclose(linear_of(back), linear_of(moves), rtol=0.0, atol=1e-15)
    assert np.allclose(angular_of(back), told, rtol=0.0, atol=1e-15)
    assert np.allclose(speeds_of(out), carried.field(out), rtol=0.0, atol=1e-14)


def test_what_is_carried_along_moves_as_it_says() -> None:
    """Drifting, ever faster, and turning: poses a little later and earlier differ by what the
    velocities say, and bodies on the way move as the whole does."""
    moved, h = whole(1.0), 1e-4
    rows = states(1)[0]
    speeds_of(rows)[:] = moved.field(rows)
    later = moved.carry(rows, 0.7)
    around = [moved.carry(rows, 0.7 + step) for step in (-h, h)]
    rates = displacement_between(*around) / (2.0 * h)
    assert np.allclose(rates, speeds_of(later), rtol=0.0, atol=1e-6)
    back = moved.carry(later, -0.7)
    assert abs(speeds_of(moved.carry(rows, 0.0)) - speeds_of(rows)).max() < 1e-14
    assert back.shape == rows.shape


def test_directions_of_the_whole_shift_and_turn_it_rigidly() -> None:
    """Two groups drift along three axes, one turns about them, as it is, to first order."""
    still = whole(0.0)
    rows = states(1)[0]
    found = still.directions(rows)
    r, d = positions_of(rows)[ISLANDS == 0], linear_of(found)[:, ISLANDS == 0]
    closing = np.einsum("i,ki->k", r[0] - r[1], d[:, 0] - d[:, 1])
    assert len(found) == 9
    assert np.allclose(closing, 0.0, atol=1e-14)
    assert not found[:, ISLANDS < 0].any()
    assert np.allclose(np.linalg.norm(angular_of(found)[3:6, ISLANDS == 0], axis=-1), 1.0)


def test_gaps_around_a_state_are_the_clearances_of_these_states() -> None:
    """Of two bodies that are locked, and hang on a third."""
    a, b, c = (
        qp.Body.box(n, [0.1] * 3, 1.0, position=(0.1 * k, 0, 0), fixed=not k)
        for k, n in enumerate("abc")
    )
    hinge = qp.Revolute("hinge", a, b, at=(0.05, 0.05, 0), axis=(0, 0, 1))
    stop = qp.JointStop("stop", hinge, lower=-2.0, upper=0.5)
    system = qp.Multibody(a, b, c, hinge, stop, qp.Fixed("lock", b, c))
    around = Vicinity(system.clusters, system.initial)
    rows = around.states_at(np.array([[0.0], [0.05], [-0.1]]))
    plain = [clearances(around.state_of(one).instant(system.selection))[0] for one in rows]
    assert np.allclose(gaps_of(around, rows), plain, rtol=0.0, atol=1e-14)
    assert np.ptp(gaps_of(around, rows), axis=0).min() > 0.1


def floating_pair(stiffness: float = 40.0) -> tuple[qp.Multibody, qp.State]:
    """Two bodies on one line, hinged where they meet and drawn to a little angle, which drift and
    turn together."""
    a, b = (qp.Body.box(n, [0.1] * 3, 1.0, position=(0.1 * k, 0, 0)) for k, n in enumerate("ab"))
    hinge = qp.Revolute("hinge", a, b, at=(0.05, 0.05, 0), axis=(0, 0, 1))
    spring = qp.HingeSpring("spring", hinge, stiffness=stiffness, rest_angle=0.002)
    system = qp.Multibody(a, b, hinge, spring)
    return system, system.initial


def test_what_floats_drifts_and_turns_and_what_is_drawn_to_a_place_does_neither() -> None:
    system, start = floating_pair()
    spin, drift = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -0.5])
    v = drift + np.cross(spin, start.r - start.r.mean(axis=0))
    found = Vicinity(system.clusters, start.changed(v=v, omega=np.tile(spin, (2, 1)))).whole
    assert found.drifts.all()
    assert found.turns.all()
    assert np.allclose(found.centre, start.r.mean(axis=0), rtol=0.0, atol=1e-15)
    assert np.allclose(found.velocity, drift, rtol=1e-14, atol=0.0)
    assert np.allclose(found.turning, spin, rtol=1e-13, atol=0.0)
    body, *others = system.parts
    well = qp.PotentialWell("well", body, centre=(0, 0, 0), stiffness=1.0)
    drawn = qp.Multibody(body, *others, well)
    assert not Vicinity(drawn.clusters, drawn.initial).whole.drifts.any()
    apart = qp.Multibody(*system.parts, qp.Gravity((0, 0, -9.81)))
    falling = Vicinity(apart.clusters, apart.initial).whole
    assert falling.drifts.all()
    assert falling.turns.all()
    assert np.allclose(falling.acceleration, (0, 0, -9.81), rtol=1e-12, atol=1e-15)


def test_away_from_rest_a_spring_has_its_stiffness_and_no_jump() -> None:
    """K = k (1 / I_a + 1 / I_b) of a hinge between two free bodies about their common centre,
    plus what the shift of their mass centres takes; and a force that is far from zero is no
    jump."""
    system, start = floating_pair()
    around = Vicinity(system.clusters, start)
    inertia = system.tables.body_inertia[0, 2, 2]
    reduced = 0.5 * (inertia + 0.5 * 2 * 0.05**2)
    assert around.freedoms == 1
    assert abs(around.pull[0]) > 0.1
    assert np.allclose(around.covectors @ around.basis.reshape(1, -1).T, 1.0, rtol=1e-14)
    assert np.isclose(around.stiffness.values[0, 0], 40.0 / reduced, rtol=0.01)
    assert abs(around.jumps.uneven[0, 0]) <= around.jumps.error[0, 0]
    sizes = around.reach[0] * np.linalg.norm(around.basis.reshape(-1, 3), axis=1)
    assert np.isclose(max(sizes[0::2].max() / 1e-4, sizes[1::2].max() / 2e-3), 1.0)
