"""Latches: caught where they come by, in a plastic impact; held in both senses from then on; in
chains, loops and folds; at rest, in files, and until a switch leaves them out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_sentence
from tests.laws.test_folds_keep_their_ledger import map_fold, unaccounted
from tests.laws.test_impulses import check_jump
from tests.random_systems import seeds


def panel(at: float, sense: int, torque: float = 0.0, **more: float) -> qp.Multibody:
    """Two boxes afloat on a hinge, pushed apart; a latch on it."""
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0)
    fin = qp.Body.box("fin", (0.1, 0.1, 0.1), 0.7, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, fin, at=(0.05, 0.05, 0), axis=(0, 0, 1))
    spring = qp.HingeSpring("spring", hinge, stiffness=0.01, rest_angle=torque, **more)
    return qp.Multibody(hub, fin, hinge, spring, qp.Latch("latch", hinge, at=at, sense=sense))


@pytest.mark.parametrize("sense", [-1, 0, 1])
@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_it_catches_in_its_sense_and_holds_in_both(sense: int, way: float) -> None:
    run = panel(0.5 * way, sense, way).simulate(60.0, progress=False)
    angle, held = way * run["hinge"].angle, run["latch"].held
    if sense * way < 0.0:  # it goes by, and comes back through it
        assert angle[np.argmax(held)] == pytest.approx(0.5, abs=1e-9)
        assert angle[: np.argmax(held)].max() > 1.0
    else:
        assert angle.max() == pytest.approx(0.5, abs=1e-9)
    first = int(np.argmax(held))
    assert held[first:].all()
    assert not held[:first].any()
    np.testing.assert_allclose(angle[first:], 0.5, rtol=0, atol=1e-9)
    assert [event.name for event in run.events] == ["latch reached"]
    (jump,) = run.course.jumps
    assert jump.t == run.t[first]
    check_jump(run, jump)
    assert unaccounted(run) < 1e-7 * abs(run.energy).max()
    # nothing moves any more: what was kinetic is gone
    assert run.kinetic[-1] == pytest.approx(0.0, abs=1e-15 * run.kinetic.max())
    load = run.system.reactions(run.final)["latch"]
    assert load.press is None
    assert abs(load.torque[2]) == pytest.approx(0.01 * 0.5, rel=1e-6)


def test_one_that_pulls_holds_as_one_that_pushes() -> None:
    """Beyond its rest angle a spring would draw the hinge back: a stop would let go."""
    swing = panel(1.5, +1, 1.0)
    run = swing.simulate(60.0, progress=False)
    assert run["latch"].held[-1]
    np.testing.assert_allclose(run["hinge"].angle[run["latch"].held], 1.5, rtol=0, atol=1e-9)


def test_a_switch_lets_it_go() -> None:
    system = panel(0.5, +1, 1.0)
    caught = qp.When("later", lambda state: state.t - 20.0)
    run = system.simulate(
        60.0,
        switches=[
            qp.Switch(caught, forces=("spring",)),
            qp.Switch(50.0, forces=("spring", "latch")),
        ],
        progress=False,
    )
    held = run["latch"].held
    (_, first), (_, second), (_, third) = run.pieces
    assert first["latch"].held[-1]
    assert not second["latch"].held.any()
    assert second["hinge"].angle.max() > 1.2
    assert len(held) == len(run.t)
    assert run.final.held == third.final.held


def test_a_latch_that_holds_stays_as_others_switch() -> None:
    system = panel(0.5, +1, 1.0).with_()
    bodies = {part.name: part for part in system.parts if isinstance(part, qp.Body)}
    push = qp.Load("push", bodies["fin"], force=(0, 1e-3, 0))
    more = qp.Multibody(*system.parts, candidates=[push])
    run = more.simulate(
        40.0, switches=[qp.Switch(30.0, forces=("spring", "latch", "push"))], progress=False
    )
    assert run["latch"].held[run.t >= 30.0].all()
    np.testing.assert_allclose(run["hinge"].angle[run.t >= 30.0], 0.5, rtol=0, atol=1e-9)
    assert len([event for event in run.events if event.name == "latch reached"]) == 1


def test_one_that_begins_at_its_place_holds_at_once() -> None:
    run = panel(0.0, +1, 1.0).simulate(1.0, progress=False)
    assert run["latch"].held.all()
    assert run["hinge"].angle.max() == pytest.approx(0.0, abs=1e-9)
    assert run.events == ()


def test_one_that_begins_beyond_is_passed_by() -> None:
    run = panel(-0.2, +1, 1.0).simulate(5.0, progress=False)
    assert not run["latch"].held.any()


def test_it_rests_where_it_is_caught() -> None:
    rest = panel(0.5, +1, 1.0, damping=1e-4).settle()
    assert rest.verdict == "stable"
    assert rest.state["hinge"].angle == pytest.approx(0.5, abs=1e-9)
    assert rest.state.held == ("latch upper",)
    swings = panel(1.5, +1, 1.0, damping=1e-6).settle()  # on its way over the rest of the spring
    assert swings.state["hinge"].angle == pytest.approx(1.5, abs=1e-9)
    assert swings.verdict == "stable"


def test_a_run_goes_on_from_it_to_the_bit(tmp_path: Path) -> None:
    system = panel(1.5, +1, 1.0)
    run = system.simulate(20.0, progress=False)
    on = system.at(run.final).simulate(5.0, progress=False)
    assert on["latch"].held.all()
    run.save(tmp_path / "run.npz")
    copy = qp.Trajectory.load(tmp_path / "run.npz")
    assert (copy["latch"].held == run["latch"].held).all()
    assert copy.final.held == run.final.held
    again = copy.system.at(copy.final).simulate(5.0, progress=False)
    np.testing.assert_array_equal(again.course.states, on.course.states)
    t = 0.5 * (run.t[-2] + run.t[-1])
    assert run.at(t).held == run.final.held
    assert qp.from_json(qp.to_json(system)) == system


@seeds(12, 3, attack=300)
def test_a_line_of_creases_latches_at_once(seed: int) -> None:
    """Nine panels in redundant loops: the creases of a line are caught together, wherever the
    bend is when they are, flat among them; and what all joints do adds up."""
    rng = np.random.default_rng(seed)
    sense = 1 if seed % 2 else -1
    at = sense * float(rng.choice([0.7, 0.5 * math.pi, 2.0]))
    parts = map_fold(3, 3, 1.0, 0.0).parts
    panels = [part for part in parts if isinstance(part, qp.Body)]
    hinges = [part for part in parts if isinstance(part, qp.Revolute)]
    line = [hinge for hinge in hinges if hinge.name.startswith("x 0")]
    springs = [
        qp.HingeSpring(
            f"k {hinge.name}", hinge, stiffness=0.05 * float(rng.uniform(0.5, 2.0)),
            rest_angle=at + sense if hinge in line else 0.0,
        )
        for hinge in hinges
    ]  # fmt: skip
    latches = [qp.Latch(f"l {hinge.name}", hinge, at=at, sense=sense) for hinge in line]
    system = qp.Multibody(*panels, *hinges, *springs, *latches)
    run = system.simulate(15.0, progress=False)
    held = np.array([run[latch.name].held for latch in latches])
    assert held[:, -1].all()
    assert (held == held[0]).all()
    caught = [event for event in run.events if event.name.endswith("reached")]
    assert {event.name for event in caught} == {f"{latch.name} reached" for latch in latches}
    assert len({event.t for event in caught}) == 1
    for hinge in line:
        angles = run[hinge.name].angle[held[0]]
        np.testing.assert_allclose(angles, at, rtol=0, atol=1e-7)
    for jump in run.course.jumps:
        check_jump(run, jump)
    assert unaccounted(run) < 1e-6 * abs(run.energy).max()


def folded(bend: float) -> qp.State:
    """A strip of three by three panels bent along its first line of creases."""
    parts = map_fold(3, 3, 3.0, 0.0).parts
    panels = [part for part in parts if isinstance(part, qp.Body)]
    hinges = [part for part in parts if isinstance(part, qp.Revolute)]
    system = qp.Multibody(*panels, *hinges)
    turn = qp.rotation((0, 1, 0), bend)
    changes = {}
    for one in panels:
        x, y, _ = one.position
        if x > 0.5:
            arm = np.array([x - 0.5, 0.0, 0.0])
            c, s = math.cos(bend), math.sin(bend)
            place = np.array([0.5, y, 0.0]) + np.array([c * arm[0], 0.0, -s * arm[0]])
            changes[one.name] = {"position": tuple(place), "orientation": turn}
    return system.initial.replace(changes)


@pytest.mark.parametrize("seed", range(3))
def test_a_fold_that_flattens_latches_flat(seed: int) -> None:
    """Where all its loops meet flat, and branches of motion with them."""
    rng = np.random.default_rng(seed)
    state = folded(1.0)
    parts = map_fold(3, 3, 1.0, 0.0).parts
    panels = [part for part in parts if isinstance(part, qp.Body)]
    hinges = [part for part in parts if isinstance(part, qp.Revolute)]
    line = [hinge for hinge in hinges if hinge.name.startswith("x 0")]
    begins = state[line[0].name].angle
    assert abs(begins) == pytest.approx(1.0)
    springs = [
        qp.HingeSpring(
            f"k {hinge.name}", hinge, stiffness=0.05 * float(rng.uniform(0.8, 1.2)),
            rest_angle=0.0,
        )
        for hinge in hinges
    ]  # fmt: skip
    latches = [qp.Latch(f"l {hinge.name}", hinge, at=0.0) for hinge in hinges]
    system = qp.Multibody(*panels, *hinges, *springs, *latches, start=state)
    run = system.simulate(20.0, progress=False)
    for latch in latches:
        assert run[latch.name].held[-1], latch.name
    for jump in run.course.jumps:
        check_jump(run, jump)
    assert unaccounted(run) < 1e-6 * abs(run.energy).max()
    assert abs(run.momentum[-1]).max() < 1e-9
    np.testing.assert_allclose(run.angular_momentum[-1], run.angular_momentum[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"sense": 2}, "sense is 2"), ({"sense": True}, "sense is True"), ({"at": "flat"}, "at is")],
)
def test_a_latch_that_cannot_be_is_refused(fields: dict[str, object], words: str) -> None:
    hinge = panel(0.0, 1)["hinge"]
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        qp.Latch("latch", hinge, **({"at": 0.0} | fields))  # type: ignore[arg-type]
    check_sentence(str(caught.value), "Latch 'latch'", ())
