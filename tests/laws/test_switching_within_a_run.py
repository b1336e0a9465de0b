"""Switches within a run: pieces that are, to the bit, runs joined by hand; momenta that captures
keep; and a ledger that closes across all of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion.joined import JoinedTrajectory
from quirkpy.views import curves
from tests.faults.sentence import check_sentence
from tests.random_systems import seeds

#: The hinge of the arm passes this angle [rad] some time before two seconds.
REACHED = 0.25


def arm(seed: int = 0) -> qp.Multibody:
    """Three boxes afloat on two hinges, pushed; a lock that fits where the first hinge has turned
    by REACHED, and a damper and a spring that may act later."""
    rng = np.random.default_rng(seed)
    boxes = [
        qp.Body.box(
            f"b{k}",
            (0.1, 0.1, 0.1),
            rng.uniform(0.5, 2.0),
            position=(0.1 * k, 0, 0),
            velocity=(0.0, 0.01 * k, 0.0),
        )
        for k in range(3)
    ]
    hinges = [
        qp.Revolute(f"h{k}", *boxes[k : k + 2], at=(0.05 + 0.1 * k, 0.05, 0), axis=(0, 0, 1))
        for k in range(2)
    ]
    edge = np.array([0.05, 0.05, 0.0])
    there = boxes[1].site("there", at=tuple(edge - (0.1, 0, 0)), z=(0, 0, 1), x=(1, 0, 0))
    x = (np.cos(REACHED), np.sin(REACHED), 0.0)
    here = boxes[0].site("here", at=tuple(edge), z=(0, 0, 1), x=x)
    lock = qp.Fixed("lock", here, there)
    push = qp.Load("push", boxes[1], torque=(0.0, 0.0, 2e-3), at=(0.1, 0, 0))
    damping = qp.HingeSpring("damping", hinges[1], stiffness=0.0, damping=1e-3)
    spring = qp.HingeSpring("spring", hinges[1], stiffness=2e-2)
    made = qp.Multibody(*boxes, *hinges, push, candidates=[lock, damping, spring])
    state = made.initial
    omega = np.array(state.omega)
    omega[0] = (0.0, 0.0, -0.3)
    return made.at(made.caught(dataclasses.replace(state, omega=omega)).state)


def there() -> qp.When:
    return qp.When("there", lambda state: state["h0"].angle - REACHED, direction="rising")


def ledger(run: JoinedTrajectory) -> Any:
    return run.energy + run.dissipated + run.lost + run.projected - run.work - run.switched


@seeds(8, 2, attack=200)
def test_a_switch_at_an_event_is_two_runs_joined_by_hand(seed: int) -> None:
    """To the bit: where joints take hold, and where they only let go."""
    system = arm(seed)
    first = system.simulate(4.0, stop=[there()], progress=False)
    assert first.stop is qp.Stop.EVENT
    for joints, forces in ((("lock", "h1"), ("damping",)), (("h0",), ("spring",))):
        switch = qp.Switch(there(), joints=joints, forces=forces)
        run = system.simulate(4.0, switches=[switch], progress=False)
        other = system.choosing(joints, forces)
        start = first.final.on(other.selection)
        if "lock" in joints:
            start = other.caught(start).state
        left = 4.0 - float(first.t[-1])
        second = other.at(start).simulate(left, progress=False)
        (_, one), (_, two) = run.pieces
        assert run.switches == (switch,)
        for piece, hand in ((one, first), (two, second)):
            for field in ("t", "angles"):
                np.testing.assert_array_equal(
                    getattr(piece.course, field), getattr(hand.course, field)
                )
            np.testing.assert_array_equal(
                piece.course.states[:, :-1], hand.course.states[:, :-1]
            )  # the ledger of the second has what the lock took
        assert run.t[-1] == 4.0


@seeds(12, 3, attack=300)
def test_momenta_are_kept_and_the_ledger_closes(seed: int) -> None:
    run = arm(seed).simulate(
        6.0,
        switches=[
            qp.Switch(there(), joints=("lock", "h1"), forces=("push",)),
            qp.Switch(3.0, joints=("h0", "h1"), forces=("damping", "spring")),
            qp.Switch(4.5, joints=(), parameters={"spring": {"stiffness": 3e-2}}),
        ],
        progress=False,
    )
    assert len(run.pieces) == 4
    assert [e.name for e in run.events].count("switch") == 3
    whole = abs(run.kinetic).max()
    assert abs(ledger(run) - ledger(run)[0]).max() < 1e-7 * whole
    begins = [rows.start for rows, _ in run.stretches()][1:]
    for k in begins:
        assert run.t[k] == run.t[k - 1]
        np.testing.assert_allclose(run.momentum[k], run.momentum[k - 1], rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            run.angular_momentum[k], run.angular_momentum[k - 1], rtol=0, atol=1e-12
        )
    told = [e for e in run.events if e.name == "joints took hold"]
    assert len(told) == 1
    assert told[0].lost == pytest.approx(run.lost[-1], rel=1e-9)
    assert run.lost[-1] > 0.0
    taken = run.energy[begins[0] - 1] - run.energy[begins[0]]
    assert run.lost[-1] == pytest.approx(taken + run.switched[begins[0]], abs=1e-12)


def test_a_run_with_switches_answers_as_its_pieces() -> None:
    run = arm().simulate(
        5.0,
        switches=[
            qp.Switch(there(), joints=("lock", "h1")),
            qp.Switch(3.0, joints=("h0", "h1"), forces=()),
        ],
        progress=False,
    )
    for (begins, piece), (rows, same) in zip(run.pieces, run.stretches(), strict=True):
        assert piece is same
        assert begins == 0.0
        np.testing.assert_array_equal(run["b1"].position[rows], piece["b1"].position)
        np.testing.assert_array_equal(run["h0"].angle[rows], piece["h0"].angle)
        acts = "lock" in piece.system.selection.joint_names
        loads = run["lock"].load[rows]
        assert loads.any() == acts
        for t in (0.3 * piece.t[0] + 0.7 * piece.t[-1], piece.t[1]):
            assert run.at(t) == piece.at(t)
            assert run.at(t).selection is piece.start.selection
    assert run.at(3.0) == run.pieces[2][1].start
    assert run.final == run.pieces[-1][1].final
    assert len(run.states) == len(run.t)
    dense = run.sampled(0.05)
    assert np.diff(dense.t).max() <= 0.05 + 1e-12
    assert len(dense.pieces) == 3
    assert run.highest(lambda rows: rows[:, :, 7:10].max(axis=2)) > 0.0
    for chart in ("energy", "power", "joints", "reactions", "drift", "states"):
        assert curves.sheet_of(run, [chart]).panels  # type: ignore[list-item]


def test_it_comes_back_from_a_file(tmp_path: Path) -> None:
    system = arm()
    parts = [*system.parts, *system.candidates]
    run = system.simulate(
        5.0,
        switches=[
            qp.Switch(1.0, joints=("h0",), parameters={"push": {"torque": (0.0, 0.0, 1e-3)}}),
            qp.Switch(qp.AtRest(speed=1e9, acceleration=1e9), forces=("spring",)),
        ],
        progress=False,
    )
    assert len(run.pieces) == 3
    run.save(tmp_path / "run.npz")
    copy = qp.Trajectory.load(tmp_path / "run.npz")
    assert isinstance(copy, JoinedTrajectory)
    assert copy.switches == run.switches
    assert copy.events == run.events
    for name in ("t", "energy", "lost", "switched", "work", "dissipated", "angular_momentum"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(run, name))
    for (_, one), (_, two) in zip(run.pieces, copy.pieces, strict=True):
        assert one.start == two.start
        t = 0.5 * (one.t[0] + one.t[-1])
        assert one.at(t) == two.at(t)
    assert len(parts) == len({p.name for p in parts})


def test_a_switch_comes_back_from_json() -> None:
    for switch in (
        qp.Switch(1.5, joints=["a"], forces=(), parameters={"a": {"stiffness": 2.0}}, reach=0.1),
        qp.Switch(qp.AtRest(), forces=("b",), name="second"),
    ):
        assert qp.from_json(qp.to_json(switch)) == switch


def test_a_state_to_begin_in() -> None:
    system = arm()
    there = system.simulate(1.0, progress=False).final
    run = system.simulate(0.5, state=there, progress=False)
    assert run.start == system.at(there).initial
    assert run.t[0] == 1.0


def test_an_event_that_never_comes_leaves_the_later_switches_out() -> None:
    never = qp.When("never", lambda state: 1.0)
    switches = [qp.Switch(never, forces=()), qp.Switch(0.5, joints=())]
    run = arm().simulate(1.0, switches=switches, progress=False)
    assert run.switches == ()
    assert run.stop is qp.Stop.END
    assert run.t[-1] == 1.0


def test_a_time_that_has_gone_by_switches_at_once() -> None:
    switches = [qp.Switch(there(), forces=()), qp.Switch(1e-3, joints=())]
    run = arm().simulate(4.0, switches=switches, progress=False)
    (_, first), (_, second), (_, third) = run.pieces
    assert first.t[-1] == second.t[0] == second.t[-1] == third.t[0] > 1e-3


def test_a_terminal_event_ends_the_run_and_steps_are_counted() -> None:
    system = arm()
    over = qp.When("over", lambda state: state.t - 2.5)
    switches = [
        qp.Switch(1.0, forces=()),
        qp.Switch(2.0, forces=("push",)),
        qp.Switch(3.0, joints=()),
    ]
    run = system.simulate(4.0, stop=[over], switches=switches, progress=False)
    assert run.stop is qp.Stop.EVENT
    assert len(run.switches) == 2
    assert run.t[-1] == pytest.approx(2.5)
    few = system.simulate(4.0, switches=switches, max_steps=run.counts.steps // 2, progress=False)
    assert few.stop is qp.Stop.STEPS
    assert few.counts.steps == run.counts.steps // 2


def test_an_error_keeps_the_pieces_before() -> None:
    def wrong(state: qp.State) -> float:
        if state.t > 1.5:
            raise ArithmeticError("no")
        return 1.0

    switches = [qp.Switch(1.0, forces=())]
    stop = [qp.When("wrong", wrong)]
    with pytest.raises(ArithmeticError) as caught:
        arm().simulate(4.0, stop=stop, switches=switches, progress=False)
    kept = caught.value.trajectory  # type: ignore[attr-defined]
    assert len(kept.pieces) == 2
    assert 1.0 < kept.t[-1] <= 1.6


@pytest.mark.parametrize(
    ("switches", "words"),
    [
        ("now", "switches is 'now', but must be a list of switches"),
        (["now"], "'now' in switches= is no Switch"),
        ([qp.Switch(9.0, joints=())], "when is 9 s, but must lie after 0 s"),
        ([qp.Switch(0.0, joints=())], "when is 0 s, but must lie after 0 s"),
        ([qp.Switch(0.5, joints=()), qp.Switch(0.5, forces=())], "must lie after 0.5 s"),
        ([qp.Switch(0.5, joints=("none",))], "there is no joint 'none'"),
        ([qp.Switch(0.5, forces=("lock",))], "there is no force 'lock'"),
        ([qp.Switch(0.5, parameters={"push": {"size": 1}})], "there is no parameter 'size'"),
        ([qp.Switch(0.5, joints=("lock",))], "the ends of joint 'lock' are"),
    ],
)
def test_switches_that_cannot_be_are_refused(switches: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        arm().simulate(1.0, switches=switches, progress=False)
    check_sentence(str(caught.value), "", ())


def test_an_event_called_as_another_is_refused() -> None:
    with pytest.raises(ValueError, match="are both called 'there'"):
        arm().simulate(
            1.0, stop=[there()], switches=[qp.Switch(there(), joints=())], progress=False
        )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"when": "soon", "joints": ()}, "when is 'soon', but must be a time"),
        ({"when": 1.0}, "it changes nothing"),
        ({"when": 1.0, "joints": "lock"}, "must be a list of names"),
        ({"when": 1.0, "parameters": 3}, "parameters is 3, but must be a dict"),
        ({"when": 1.0, "joints": (), "reach": 0.0}, "reach is 0"),
    ],
)
def test_a_switch_that_cannot_be_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        qp.Switch(**fields)
    check_sentence(str(caught.value), "", ())


def test_its_pictures_and_its_page_follow_the_pieces(tmp_path: Path) -> None:
    switches = [qp.Switch(there(), joints=("lock", "h1")), qp.Switch(3.0, joints=("h0", "h1"))]
    run = arm().simulate(3.5, switches=switches, progress=False)
    run.picture(tmp_path / "run.svg")
    run.report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    for word in ("taken by joints", "joints took hold", "switch"):
        assert word in page
    with pytest.raises(ValueError, match="landscape: what acts"):
        run.landscape()


def test_opening_a_latch_draws_what_it_states() -> None:
    """Where it holds and a switch leaves it out, and there alone; no part of the motion."""
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), 1.0, fixed=True)
    arm = qp.Body.box("arm", (0.1, 0.1, 0.1), 1.0, position=(0.1, 0, 0))
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0), axis=(0, 0, 1))
    spring = qp.HingeSpring("spring", hinge, stiffness=0.05, rest_angle=2.0)
    latch = qp.Latch("latch", hinge, at=1.0, sense=+1, release=3.0, power=6.0)
    system = qp.Multibody(hub, arm, hinge, spring, latch)
    opens = qp.Switch(3.0, forces=["spring"])
    run = system.simulate(5.0, switches=[opens])
    assert run.changes == ((3.0, "latch", "latch", 3.0, 6.0),)
    assert [run.changed[run.t < 3.0].max(), run.changed[-1]] == [0.0, 3.0]
    balance = run.energy + run.dissipated + run.lost - run.work - run.switched
    assert np.ptp(balance) < 1e-9
    early = system.simulate(5.0, switches=[qp.Switch(0.1, forces=["spring"])])
    assert early.changes == ()
    assert len(run.plot("power").png()) > 1000


@seeds(3, 2)
def test_masses_that_a_switch_changes_are_in_the_ledger(seed: int) -> None:
    """Bodies keep their velocities, and what that takes or gives is switched; so it is where a lock
    takes hold at the same moment, which loses its share of the new masses."""
    system = arm(seed)
    change = {"b1": {"mass": 3.0}, "spring": {"stiffness": 0.05}}
    switches = [
        qp.Switch(1e-3, parameters=change, forces=("push", "damping", "spring")),
        qp.Switch(there(), joints=("h0", "h1", "lock"), parameters={"b2": {"mass": 0.1}}),
    ]
    run = system.simulate(20.0, switches=switches, progress=False)
    (_, one), (_, two), _ = run.pieces
    np.testing.assert_array_equal(two.start.v, one.final.v)
    heavier = two.kinetic[0] - one.kinetic[-1]
    more = two.potential[0] - one.potential[-1]
    assert heavier > 1e-6
    assert run.switchings[1] == pytest.approx(heavier + more, rel=1e-12)
    assert np.ptp(ledger(run)) < 1e-8


@pytest.mark.parametrize("how", ["on", "off", "another number"])
def test_wheels_neither_appear_nor_vanish_in_silence(how: str) -> None:
    """An event tells of momentum that nothing takes up; of one that stands still, or goes on as it
    is, there is nothing to tell."""
    bus = qp.Body.box("bus", (1.0, 1.0, 1.0), 80.0)
    wheel = qp.ReactionWheel("wheel", bus.site("wheel"), (0.0, 0.0, 3.0))
    still = qp.ReactionWheel("still", bus.site("still"), (0.0, 0.0, 0.0))
    begun = [still] if how == "on" else [wheel, still]
    system = qp.Multibody(bus, *begun, candidates=[wheel] if how == "on" else [])
    switch = {
        "on": qp.Switch(1.0, forces=("wheel", "still")),
        "off": qp.Switch(1.0, forces=("still",)),
        "another number": qp.Switch(1.0, parameters={"wheel": {"momentum": (0.0, 0.0, 5.0)}}),
    }[how]
    less = qp.Switch(0.5, forces=tuple(part.name for part in begun if part is not still))
    more = qp.Switch(0.7, forces=tuple(part.name for part in begun), name="more")
    run = system.simulate(2.0, switches=[less, more, switch], progress=False)
    told = [(event.t, event.name) for event in run.events]
    assert told == [
        (0.5, "switch"), (0.7, "more"), (1.0, "switch"), (1.0, "momentum of wheel jumps"),
    ]  # fmt: skip
