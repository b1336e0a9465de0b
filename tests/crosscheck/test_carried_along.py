"""What the kernels of motion as a whole make, beside the same written with arrays; pieces, beside
SciPy's; and pairs of sensors, beside what each sensor says."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import quirkpy as qp
from quirkpy.kernels.base.states import attitudes_of, positions_of, speeds_of
from quirkpy.maths.pieces import firsts_of_pieces
from quirkpy.maths.rotations import cross, rotate
from quirkpy.mechanics.rigid_motion import Whole, into_body
from quirkpy.mechanics.state import State, common_range
from quirkpy.motion.events import meetings
from tests.random_systems import seeds


def whole_and_states(rng: np.random.Generator, n: int) -> tuple[Whole, np.ndarray]:
    """Some motion of n bodies as one, and some states of theirs."""
    states = rng.normal(size=(7, n, 13))
    attitudes_of(states)[:] /= np.linalg.norm(attitudes_of(states), axis=-1, keepdims=True)
    motion = (np.tile(rng.normal(size=3), (n, 1)) for _ in range(4))
    return Whole(*motion, np.zeros(n, dtype=np.int64), *(2 * [np.ones(n, dtype=bool)])), states


@seeds(40, 12)
def test_what_is_carried_along_is_felt_as_arrays_say_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole, states = whole_and_states(rng, int(rng.integers(1, 6)))
    arm, w = (
        positions_of(states) - whole.centre,
        np.broadcast_to(whole.turning, states[..., :3].shape),
    )
    field = np.concatenate([whole.velocity + cross(w, arm), into_body(states, whole.turning)], -1)
    assert np.array_equal(whole.field(states), field)
    accelerations, beside = rng.normal(size=field.shape), speeds_of(states) - field
    push = whole.acceleration + cross(w, cross(w, arm)) + 2.0 * cross(w, beside[..., :3])
    twist = cross(field[..., 3:], beside[..., 3:])
    felt = accelerations - np.concatenate([push, twist], -1)
    assert np.array_equal(whole.relative_accelerations(states, accelerations), felt)
    back = rotate(attitudes_of(states), field[..., 3:])
    assert np.allclose(back, whole.turning, rtol=0.0, atol=1e-14)


@seeds(40, 12)
def test_pieces_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(1, 12, size=2))
    one, two = rng.integers(0, n, size=(2, m))
    labels = connected_components(coo_array((np.ones(m), (one, two)), shape=(n, n)), False)[1]
    firsts = [int(np.argmax(labels == label)) for label in labels]
    assert firsts_of_pieces(n, zip(one.tolist(), two.tolist(), strict=True)) == firsts


@seeds(20, 6)
def test_pairs_that_may_meet_are_watched_with_what_both_ask_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = [qp.Body.box(f"b{k}", (1, 1, 1), 1.0, position=(3.0 * k, 0, 0)) for k in range(3)]
    kinds = ("plug", "socket")
    sensors = [
        qp.Sensor(
            f"s{k}", bodies[k % 3].site(f"f{k}", at=(0.5, 0, 0), z=(1, 0, 0), x=(0, 0, 1)),
            kind=kinds[k % 2], accepts=[kinds[(k + 1) % 2]], reach=float(rng.uniform(0.01, 0.1)),
            alignment=float(rng.uniform(0.1, 0.3)),
        )
        for k in range(7)
    ]  # fmt: skip
    selection = qp.Multibody(*bodies, *sensors).selection
    t, event = selection.tables, qp.SensorsMeet()
    told = [(w.line[1], w.line[2], w.numbers, w.sensors) for w in meetings(selection, event)]
    wanted = []
    for i, one in enumerate(t.sensors):
        for j in (j for j in t.sensor_partners[i] if j < i):
            sites = int(t.sensor_site[j]), int(t.sensor_site[i])
            names = t.sensors[j].name, one.name
            wanted.append((*sites, common_range(t.sensors[j], one), names))
    assert told == wanted
    assert wanted


@seeds(20, 6)
def test_a_changed_state_is_as_one_that_was_checked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = qp.Body.box("A", (1, 1, 1), 1.0)
    start = qp.Multibody(a).initial
    r, v = rng.normal(size=(2, 1, 3))
    made = start.changed(t=1.5, r=r, v=v)
    same = State(1.5, start.bodies, r, start.q, v, start.omega, start.joints, start.windings)
    assert made == same
    assert not made.r.flags.writeable
    assert start.t == 0.0
