"""Studies: what may be chosen, what is refused, and what a journal keeps of them."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import STIFFNESS, a, b, face, pair, study
from quirkpy.explore.run.runner import begin, chosen_links
from quirkpy.maths import quat
from tests.faults.sentence import Case, case, check_refused
from tests.studies import Ball, Slow, Unless, balanced, changed, far_pair

BASE: dict[str, Any] = {
    "sensors": study.sensors,
    "options": study.options,
    "potentials": study.potentials,
}
EAST = ("A east", "B west")


def made(**fields: Any) -> qp.Study:
    return qp.Study(fields.pop("system", study.system), **BASE | fields)


REFUSED: list[Case] = [
    case(lambda: made(system=3), "Study", "system is 3", "Multibody", id="system"),
    case(lambda: made(sensors=3), "Study", "sensors is 3", "list", id="sensors"),
    case(lambda: made(sensors=[3]), "Study", "sensors has 3", "no Sensor", id="sensor"),
    case(
        lambda: made(sensors=[*study.sensors, study.sensors[0]]),
        "Study",
        "same name",
        id="sensor twice",
    ),
    case(
        lambda: made(system=qp.Multibody(a)),
        "'B west'",
        "'B' is not in the system",
        id="body elsewhere",
    ),
    case(lambda: made(options=[qp.Free()]), "Study", "options is", "dictionary", id="options"),
    case(
        lambda: made(options={"A east": [qp.Free()]}),
        "Study",
        "two kinds of sensors",
        id="one kind",
    ),
    case(
        lambda: made(options={("A east", "spam"): [qp.Free()]}),
        "Study",
        "'spam'",
        "A east, A south",
        id="kind",
    ),
    case(lambda: made(options={EAST: qp.Free()}), "Study", "is Free()", "list", id="option"),
    case(lambda: made(options={EAST: ["free"]}), "Study", "has 'free'", "no Option", id="word"),
    case(lambda: made(options={EAST: []}), "Study", "at least one", id="no option"),
    case(
        lambda: made(options={EAST: [qp.Free(), qp.Free()]}),
        "Study",
        "each once",
        id="option twice",
    ),
    case(
        lambda: made(options={EAST: [qp.Free()], EAST[::-1]: [qp.Lock()]}),
        "Study",
        "both orders",
        id="orders",
    ),
    case(lambda: made(potentials=[]), "Study", "potentials is []", "dictionary", id="potentials"),
    case(lambda: made(potentials={}), "Study", "potentials is empty", id="no potential"),
    case(
        lambda: made(potentials={"x": qp.Gravity((0, 0, 1))}),
        "Study",
        "potential 'x' is",
        "list",
        id="force",
    ),
    case(
        lambda: made(potentials={"x": [3]}),
        "Study",
        "potential 'x' has 3",
        "no Force",
        id="no force",
    ),
    case(lambda: made(always=qp.ViscousHinges(1e-3)), "Study", "always is", "list", id="always"),
    case(lambda: made(always=[qp.Free()]), "Study", "always has Free()", id="no force always"),
    case(lambda: made(safety=["slow"]), "Study", "safety has 'slow'", "no Safety", id="safety"),
    case(lambda: made(settle=3), "Study", "settle is 3", "SettleRule", id="settle"),
    case(lambda: made(same=3), "Study", "same is 3", "SameShape", id="same"),
    case(
        lambda: made(on_contact="bounce"),
        "Study",
        "on_contact is 'bounce'",
        "'lock', 'stop'",
        id="on_contact",
    ),
    case(lambda: made(nudge=-1.0), "Study", "nudge is -1.0", id="nudge"),
    case(lambda: made(seed=0.5), "Study", "seed is 0.5", id="seed"),
    case(lambda: study.explore(workers=0), "explore", "workers is 0", "Executor", id="workers 0"),
    case(lambda: study.explore(workers=True), "explore", "workers is True", id="workers True"),
    case(lambda: study.explore(budget=-1), "explore", "budget is -1", id="budget"),
    case(
        lambda: study.explore(progress=3),
        "explore",
        "progress is 3",
        "function of the count",
        id="progress",
    ),  # type: ignore[arg-type]
    case(
        lambda: made(same=qp.SameShape(group="rigid")).explore(),
        "SameShape",
        "'none' only",
        id="group",
    ),
    case(lambda: qp.Study.read(qp.to_json(a)), "Study.read", "a Body, not a study", id="read"),
    case(
        lambda: study.explore(budget=0).save("pair.html"),
        "save",
        "'pair.html'",
        ".graphml",
        id="save",
    ),
]


@pytest.mark.parametrize(("make", "name", "words"), REFUSED)
def test_refused(make: Callable[[], Any], name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_a_start_that_never_rests() -> None:
    ball = qp.Body.sphere("ball", 0.1, 1.0, position=(1.0, 0.0, 0.0))
    well = qp.PotentialWell("w", ball, (0, 0, 0), 1.0)
    swinging = qp.Study(qp.Multibody(ball, well), sensors=[], options={})
    check_refused(swinging.explore, "Study", ("start does not come to rest", "begin at rest"))


# --- choices --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "explored", [study, far_pair(), balanced()], ids=["pair", "far", "balanced"]
)
def test_choices_are_counted_without_being_made(explored: qp.Study) -> None:
    graph = explored.explore()
    for node in graph.nodes.values():
        choices = explored.choices(node)
        assert len(choices) == explored.count(node) == len({choice.key for choice in choices})
        assert choices == [edge.selection for edge in graph.edges if edge.source == node.key]
    assert graph.coverage == 1.0


def test_the_first_kind_of_a_pair_has_the_first_body() -> None:
    """Edges are counted on its face, whatever the order of the sensors; the graph is the same but
    for the names."""
    turned = {("B west", "A east"): [qp.Free(), qp.Lock(), qp.Hinge(2)],
              ("B south", "A south"): [qp.Free(), qp.Lock(), qp.Hinge(1)]}  # fmt: skip
    other = made(options=turned, always=study.always, safety=study.safety)
    assert [pair.name for pair in other.pairs] == ["B west | A east", "B south | A south"]
    one, two = study.explore(), other.explore()
    assert [(e.source, e.kind, e.target) for e in one.edges] == [
        (e.source, e.kind, e.target) for e in two.edges
    ]
    for e, f in zip(one.moves(), two.moves(), strict=True):
        assert f.duration == pytest.approx(e.duration, rel=1e-6)


def test_an_option_of_ones_own() -> None:
    """A ball joint instead of the hinge: the same two shapes, for nothing lifts the cube."""
    options = {pair: [qp.Lock(), Ball()] for pair in study.options}
    graph = made(options=options, always=study.always).explore()
    assert {edge.kind for edge in graph.edges} <= {"moved", "stayed", "ambiguous", "never settles"}
    assert not any(edge.kind == "failed" for edge in graph.edges)
    assert any("ball" in edge.selection.key for edge in graph.edges)


# --- JSON -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("given", [study, pair(0.2), far_pair(Slow(0.0)), balanced()], ids=str)
def test_studies_come_back(given: qp.Study) -> None:
    again = qp.Study.read(given.document(), ["tests.studies"])
    assert again.document() == given.document()
    assert again.digest == given.digest
    assert pickle.loads(pickle.dumps(given)).digest == given.digest
    assert copy.deepcopy(given).digest == given.digest
    assert repr(again) == repr(given)


def test_classes_of_others_are_made_with_consent_only() -> None:
    with pytest.raises(qp.PartError, match="name its module"):
        qp.Study.read(far_pair(Slow(0.0)).document())


def test_every_rule_is_part_of_the_digest() -> None:
    others: list[dict[str, Any]] = [
        {"nudge": 2e-6}, {"seed": 1}, {"on_contact": "stop"}, {"safety": []}, {"always": []},
        {"settle": qp.SettleRule(rtol=1e-9)}, {"same": qp.SameShape(tolerance=1e-3)},
        {"sensors": study.sensors[::-1]}, {"potentials": dict(reversed(study.potentials.items()))},
    ]  # fmt: skip
    assert len({study.digest, *(changed(study, **fields).digest for fields in others)}) == 1 + len(
        others
    )


@pytest.mark.parametrize(
    "rule", [Slow(0.0), Unless(Slow(0.0), 1.0), Unless(Unless(Slow(0.0), 1.0), 2.0)], ids=str
)
def test_the_source_of_a_class_is_part_of_the_digest(
    monkeypatch: pytest.MonkeyPatch, rule: qp.Safety
) -> None:
    """Also of one within another."""
    monkeypatch.setattr("quirkpy.explore.scope.scope._source", lambda cls: "")
    before = far_pair(rule).digest
    monkeypatch.setattr(
        "quirkpy.explore.scope.scope._source", lambda cls: "other" if cls.__name__ == "Slow" else ""
    )
    assert far_pair(rule).digest != before


# --- what a choice costs --------------------------------------------------------------------------
def test_work_of_switching() -> None:
    """U_new - U_old at the pose where potentials are exchanged, in closed form: k d^2 / 2."""
    far = 0.5 * STIFFNESS * 2.0 * 0.1**2  # from one well to the other
    old = {"n0": {"none": 0.0, "+x": 0.0, "-y": far}, "n1": {"none": 0.0, "+x": far, "-y": 0.0}}
    for edge in study.explore().edges:
        assert edge.switching == pytest.approx(
            old[edge.source][edge.selection.potential], abs=1e-15
        )
        for outcome in edge.outcomes:
            # What switching gave, dampers and the joints that took hold have taken
            if outcome.kind == "moved":
                assert outcome.dissipated + outcome.lost == pytest.approx(
                    outcome.switching, rel=2e-4
                )


def test_springs_of_hinges_are_charged_and_let_go() -> None:
    """k rest^2 / 2 in a closed hinge: given when it takes hold, taken when it is let go, nothing
    while it stays."""
    stored = 0.5 * 1e-3 * 0.5**2
    sprung = made(potentials={"none": [], "sprung": [qp.SprungHinges(1e-3, rest=0.5)]})
    (node, *_) = sprung.explore(budget=1).nodes.values()
    links = {
        choice.joints[0][1]: chosen_links(sprung, node, choice) for choice in sprung.choices(node)
    }
    for old, new, work in (
        ("lock", "hinge 1", stored),
        ("hinge 1", "lock", -stored),
        ("hinge 1", "hinge 1", 0.0),
    ):
        potential = {"lock": "none", "hinge 1": "sprung"}
        at = dataclasses.replace(node, links=tuple(links[old]), potential=potential[old])
        (choice,) = (
            c
            for c in sprung.choices(node)
            if (c.joints[0][1], c.potential) == (new, potential[new])
        )
        begun = begin(sprung, at, choice, sprung.universe(at))
        assert begun is not None
        assert begun.switching == pytest.approx(work, abs=1e-18)


def test_holding_power() -> None:
    """What the forces of a potential state, wherever it leads."""
    coils = [
        qp.Electromagnet(
            f"coil {body.name}",
            body.site("coil", z=(0, 0, 1), x=(1, 0, 0)),
            moment=1e-3,
            holding_power=2.5,
        )
        for body in (a, b)
    ]
    graph = made(
        potentials={"none": [], "coils": [qp.Dipoles(coils)]}, safety=study.safety
    ).explore()
    powers = {
        (edge.selection.potential, edge.holding) for edge in graph.edges if edge.kind != "rejected"
    }
    assert powers == {("none", 0.0), ("coils", 5.0)}


def test_the_papers_rule_stops_at_contact() -> None:
    graph = made(on_contact="stop", always=study.always).explore()
    reached = [graph.nodes[edge.target] for edge in graph.moves()]
    assert any(node.verdict == "stopped" for node in reached)
    for node in graph.nodes.values():
        assert math.isfinite(node.energy)
    locked = study.explore()
    for stopped, whole in zip(graph.moves(), locked.moves(), strict=True):
        assert stopped.duration == pytest.approx(whole.duration, rel=1e-3)
        assert stopped.contacts == whole.contacts


def test_a_start_that_may_fall_either_way_is_ambiguous() -> None:
    graph = balanced().explore()
    (edge,) = (edge for edge in graph.edges if edge.kind == "ambiguous")
    assert edge.target is None
    assert [outcome.kind for outcome in edge.outcomes] == ["moved", "moved"]
    one, two = (graph.nodes[str(outcome.target)].state.r[0] for outcome in edge.outcomes)
    np.testing.assert_allclose(one, two[[1, 0, 2]] * (-1.0, -1.0, 1.0), atol=1e-9)  # mirror images
    assert {outcome.nudge for outcome in edge.outcomes} == {(1e-6, 0), (-1e-6, 0)}
    assert one[0] < two[0]  # whichever was flown first
    assert edge not in list(graph.moves())
    drawn = graph.to_networkx()
    assert drawn.number_of_edges() == len([e for e in graph.edges if e.kind == "stayed"]) + 2


def test_in_range_wants_both_to_face_each_other() -> None:
    apart = qp.Body.box("B", (0.1, 0.1, 0.1), 1.0, position=(0.1 + 1.1e-3, 0.0, 0.0))
    sensors = [
        face(a, "east", (1.0, 0.0, 0.0), ("B west",)),
        face(apart, "west", (-1.0, 0.0, 0.0), ("A east",)),
    ]
    away = qp.Study(qp.Multibody(a, apart), sensors=sensors, options={EAST: [qp.Lock()]})
    assert away.in_range(away.system.initial) == []
    near = away.system.initial.replace({"B": {"position": (0.1005, 0.0, 0.0)}})
    assert away.in_range(near) == [(0, 0)]
    tilted = near.replace({"B": {"orientation": qp.rotation((0, 0, 1), 0.02)}})
    assert away.in_range(tilted) == []


@pytest.mark.kernels
@pytest.mark.parametrize("roll", [0.5 * math.pi, 2.0 * math.pi])
def test_in_range_is_what_sensors_notice(roll: float) -> None:
    """Two pairs in a row, the first on a body that stands, at many poses close by: each pair
    notices, or does not; and the turn is the one by which all were turned."""
    at, z, x = (
        np.array([0.03, 0.01, -0.02]),
        np.array([2.0, 1.0, 2.0]) / 3.0,
        np.array([1.0, -2.0, 0.0]),
    )
    row = [
        qp.Body.box(name, (0.1, 0.1, 0.1), 1.0, fixed=name == "wall")
        for name in ("wall", "one", "two")
    ]

    def sensor(body: qp.Body, kind: str, partner: str) -> qp.Sensor:
        site = body.site(kind, at=at, z=z, x=x)
        return qp.Sensor(
            kind, site, kind=kind, accepts=(partner,), reach=0.02, alignment=0.2, roll=roll
        )

    sensors = [
        sensor(row[0], "a", "b"),
        sensor(row[1], "b", "a"),
        sensor(row[1], "c", "d"),
        sensor(row[2], "d", "c"),
    ]
    options = {("a", "b"): [qp.Lock()], ("c", "d"): [qp.Lock()]}
    known = qp.Study(qp.Multibody(*row), sensors=sensors, options=options)
    system, rng, found = qp.Multibody(*row, *sensors), np.random.default_rng(8), set()
    for _ in range(300):
        state, turn = system.initial, int(rng.integers(4))
        for one, two in itertools.pairwise(body.name for body in row):
            off = qp.rotation(rng.normal(size=3), rng.uniform(0.0, 0.25))
            q = (
                state[one].orientation
                * qp.rotation(z, 0.5 * math.pi * turn)
                * qp.rotation(x, math.pi)
                * off
            )
            where = state[one].position + turn_of(state[one].orientation) @ at - turn_of(q) @ at
            state = state.replace(
                {two: {"position": where + 0.01 * rng.normal(size=3), "orientation": q}}
            )
        near = dict(known.in_range(state))
        assert set(near) == {
            k for k, pair in enumerate(known.pairs) if state[pair.name.split(" | ")[0]].signal
        }
        assert roll != 0.5 * math.pi or all(n == turn for n in near.values())
        found.add(len(near))
    assert found == {0, 1, 2}


def turn_of(q: Any) -> np.ndarray:
    return np.array(quat.rotation_matrix(q.w, q.x, q.y, q.z)).reshape(3, 3)


def test_a_hinge_open_by_half_a_turn_is_held_again_at_the_node_that_it_has_reached() -> None:
    """No sensors meet behind it, so the hinge alone holds the arm there; its angle is half a turn,
    to rounding."""
    south = face(b, "north", (0.0, 1.0, 0.0), ("A south",))
    open_end = made(
        sensors=[*(sensor for sensor in study.sensors if sensor.name != "B south"), south],
        options={EAST: study.options[EAST], ("A south", "B north"): [qp.Free(), qp.Lock()]},
        always=study.always, safety=study.safety,
    )  # fmt: skip
    graph = open_end.explore()
    assert [(edge.source, edge.target) for edge in graph.moves()] == [("n0", "n1"), ("n1", "n0")]
    assert graph["n1"].joints == (("A east | B west", "hinge 1"),)
    assert {edge.reason for edge in graph.edges if edge.kind == "rejected"} == {"comes apart"}
