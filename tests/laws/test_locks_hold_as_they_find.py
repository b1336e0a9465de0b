"""`Fixed(..., here=True)`: two bodies are held as they stand when it becomes active; states
remember how, also in files, and the lock is a joint as others."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.laws.test_impulses import check_jump
from tests.random_systems import seeds


def swinging(seed: int = 0, here: bool = True) -> qp.Multibody:
    """Three boxes on two hinges about unlike axes, that swing on springs; a lock over the first
    hinge, and one from the first box to the last."""
    rng = np.random.default_rng(seed)
    boxes = [
        qp.Body.box(f"b{k}", (0.1, 0.1, 0.1), rng.uniform(0.5, 2.0), position=(0.1 * k, 0, 0))
        for k in range(3)
    ]
    hinges = [
        qp.Revolute(f"h{k}", *boxes[k : k + 2], at=(0.05 + 0.1 * k, 0.05, 0), axis=(0, 0.5 * k, 1))
        for k in range(2)
    ]
    springs = [
        qp.HingeSpring(f"k{k}", hinge, stiffness=0.02, rest_angle=0.8 - k)
        for k, hinge in enumerate(hinges)
    ]
    locks = [
        qp.Fixed("near", boxes[0], boxes[1], here=here),
        qp.Fixed("far", boxes[0], boxes[2], here=here),
    ]
    return qp.Multibody(*boxes, *hinges, *springs, candidates=locks)


FORCES = ("k0", "k1")


def offset(state: qp.State, one: str, two: str) -> Floats:
    """Where the second body is in the first: place and turn."""
    a, b = state[one], state[two]
    turn, other = (qp.quat.matrix(body.orientation) for body in (a, b))
    return np.concatenate([turn.T @ (b.position - a.position), (turn.T @ other).reshape(-1)])


@pytest.mark.parametrize(("lock", "bodies"), [("near", ("b0", "b1")), ("far", ("b0", "b2"))])
@seeds(8, 2, attack=200)
def test_two_bodies_stay_as_they_were(lock: str, bodies: tuple[str, str], seed: int) -> None:
    system = swinging(seed)
    switches = [
        qp.Switch(1.3, joints=("h0", "h1", lock)),
        qp.Switch(2.6, joints=("h0", "h1")),
        qp.Switch(3.1, joints=("h0", "h1", lock)),
    ]
    run = system.simulate(4.0, switches=switches, progress=False)
    (_, free), (_, held), (_, again), (_, last) = run.pieces
    for before, piece in ((free, held), (again, last)):
        wanted = offset(before.final, *bodies)
        for state in (piece.start, piece.final, run.at(float(piece.t.mean()))):
            np.testing.assert_allclose(offset(state, *bodies), wanted, rtol=0, atol=1e-9)
    assert abs(offset(held.final, *bodies) - offset(last.final, *bodies)).max() > 1e-3
    for piece in (held, last):
        assert [name for name, _ in piece.final.here] == [lock]
        (jump,) = piece.course.jumps
        check_jump(piece, jump)
    assert free.final.here == again.final.here == ()
    ledger = run.energy + run.dissipated + run.lost + run.projected - run.work - run.switched
    assert abs(ledger - ledger[0]).max() < 1e-7 * abs(run.energy).max()


def test_it_is_a_lock_where_the_second_site_is() -> None:
    """The same motion as with a lock whose sites are written for that pose."""
    system = swinging()
    at = system.simulate(1.0, progress=False).final
    held = system.choosing(("h0", "h1", "near"), FORCES).at(at)
    one, two = held["b0"], held["b1"]
    assert isinstance(one, qp.Body)
    assert isinstance(two, qp.Body)
    ((_, numbers),) = held.initial.here
    axes = np.reshape(numbers[3:], (3, 3))
    by_hand = qp.Fixed(
        "near", one.site("there", at=numbers[:3], z=axes[:, 2], x=axes[:, 0]), two.site("mine")
    )
    every = qp.Multibody(*system.parts, candidates=[by_hand])
    written = every.choosing(("h0", "h1", "near"), FORCES).at(at)
    a, b = (some.simulate(1.0, progress=False).final for some in (held, written))
    np.testing.assert_allclose(a.r, b.r, rtol=0, atol=1e-9)
    np.testing.assert_allclose(a.omega, b.omega, rtol=0, atol=1e-9)
    for name in ("h1", "near"):
        one_load, two_load = (s.reactions(at)[name].needed for s in (held, written))
        np.testing.assert_allclose(one_load, two_load, rtol=0, atol=1e-9)


def test_the_pose_is_state() -> None:
    """A system begun elsewhere in a state that remembers holds as that says; in one that does not,
    anew."""
    system = swinging()
    run = system.simulate(2.0, progress=False)
    chosen = system.choosing(("h1", "near"), FORCES)
    early, late = chosen.at(run.at(0.7)), chosen.at(run.final)
    assert early.initial.here != late.initial.here
    on = early.simulate(0.5, progress=False)
    assert on.final.here == early.initial.here
    assert late.at(on.final).initial.here == early.initial.here
    assert late.at(on.final).residual().position == pytest.approx(0.0, abs=1e-9)
    assert early.at(run.final).initial.here == late.initial.here
    whole = early.simulate(1.0, progress=False)
    second = early.at(on.final).simulate(0.5, progress=False)
    np.testing.assert_allclose(second.final.r, whole.final.r, rtol=0, atol=1e-8)
    assert system.at(on.final).initial.here == ()


def test_it_comes_back_from_files(tmp_path: Path) -> None:
    system = swinging()
    run = system.simulate(
        2.0, switches=[qp.Switch(1.0, joints=("h0", "h1", "far"))], progress=False
    )
    run.save(tmp_path / "run.npz")
    copy = qp.Trajectory.load(tmp_path / "run.npz")
    assert copy.final == run.final
    assert copy.at(1.6) == run.at(1.6)
    held = run.pieces[1][1]
    held.save(tmp_path / "held.npz")
    again = qp.Trajectory.load(tmp_path / "held.npz")
    assert again.at(1.6) == run.at(1.6)
    part = held.system
    assert isinstance(part, qp.Multibody)
    back = qp.from_json(qp.to_json(part))
    assert back.initial.here == part.initial.here
    assert qp.from_json(qp.to_json(part.initial)).here == part.initial.here
    one, two = (some.simulate(0.3, progress=False).final for some in (part, back))
    np.testing.assert_array_equal(one.r, two.r)


def test_it_acts_at_once_where_it_is_no_candidate() -> None:
    one = qp.Body.box("one", (0.1, 0.1, 0.1), 1.0)
    two = qp.Body.box("two", (0.1, 0.1, 0.1), 1.0, position=(0.3, 0.1, 0))
    site = two.site("end", at=(0.05, 0, 0))
    lock = qp.Fixed("lock", one.site("end", at=(0.05, 0, 0)), site, here=True)
    system = qp.Multibody(one, two, lock)
    assert system.mobility().degrees_of_freedom == 6
    assert len(system.initial.here) == 1
    with pytest.raises(ValueError, match="or hold the two as they stand") as caught:
        qp.Multibody(one, two, qp.Fixed("lock", one.site("end", at=(0.05, 0, 0)), site))
    assert "here=True" in str(caught.value)
    moved = system.initial.replace({"two": {"velocity": (0.0, 0.0, 0.0)}})
    assert moved.here == system.initial.here
    with pytest.raises(ValueError, match="its ends on 'one' and 'two' are"):
        system.initial.replace({"two": {"position": (0.3, 0.2, 0.0)}})


def test_a_state_with_a_wrong_hold_is_refused() -> None:
    state = swinging().initial
    with pytest.raises(ValueError, match="State: here"):
        dataclasses.replace(state, here=(("near", (1.0, 2.0)),))
