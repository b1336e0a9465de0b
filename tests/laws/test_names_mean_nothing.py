"""Whatever bodies and forces are called, by words of the sentences or by parts of each other's
names: a study has one graph, and its reasons name the right ones."""

from __future__ import annotations

import copy
import json
import pickle
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Node, Outcome
from quirkpy.explore.rows import mark_of, owner_of
from quirkpy.explore.run import workers
from quirkpy.explore.run.records import Record
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.choices import Choice
from quirkpy.explore.texts import UNREADABLE, record_of, text_of
from quirkpy.motion.course import Stop
from quirkpy.rest.reason import (
    PLAIN,
    TOLD,
    WORDINGS,
    Of,
    Reason,
    parse_reason,
    reason_of,
    told,
)
from tests.doomed import runs_in
from tests.random_studies import Copy, random_study
from tests.random_systems import ATTACKING, seeds
from tests.studies import changed

SIDE = 0.125  # of a module [m]: exact in binary, so that springs stand exactly across hinges
#: Words of sentences, names that contain each other, letters of patterns, quotes, lists, templates.
HOSTILE = [
    ("x", "a", "an"),
    ("of", "the", "body"),
    ("body", "body 1", "body 10"),
    ("one two", "one", "two"),
    ("leaves it", "it", "a.*b"),
    ("(a|b)", "a, b", "b"),
    ('"it"', "'", "\\w+"),
    ("nothing", "moves", "turns"),
    ("a minimum of energy", "minimum", "energy"),
    ("{parts}", "{0}", "%s"),
    ("stiffness", "jumps", "here"),
    ("upper", "lower", "faces lower"),
]
PLAINLY = ("P", "Q", "R")


def plainly(names: tuple[str, ...]) -> tuple[str, ...]:
    """Plain names, in the order of others."""
    order = sorted(names)
    return tuple(PLAINLY[order.index(name)] for name in names)


@cache
def arms(hub: str, east: str, west: str) -> qp.Study:
    """Two arms alike, hinged to a heavy hub from both sides, or locked: pushed or pulled across
    their hinges, or held by ropes that are just taut.  Everything is called after a body."""
    size = (SIDE, SIDE, SIDE)
    middle = qp.Body.box(hub, size, 600.0)
    ends = [(name, sign) for name, sign in ((east, 1.0), (west, -1.0))]
    ways = qp.Quaternion(1, 0, 0, 0), qp.Quaternion(0, 0, 0, 1)
    bodies = [
        qp.Body.box(name, size, 1.0, position=(sign * SIDE, 0.0, 0.0),
                    orientation=way)
        for (name, sign), way in zip(ends, ways, strict=True)
    ]  # fmt: skip
    up, sensors = (0.0, 0.0, 1.0), list[qp.Sensor]()
    for k, (_, sign) in enumerate(ends):
        site = middle.site(f"face {k}", at=(0.5 * sign * SIDE, 0.0, 0.0), z=(sign, 0.0, 0.0), x=up)
        sensors.append(qp.Sensor(f"{hub} face {k}", site, kind="hub", accepts=("arm",)))
    for body in bodies:
        site = body.site("root", at=(-0.5 * SIDE, 0.0, 0.0), z=(-1.0, 0.0, 0.0), x=up)
        sensors.append(qp.Sensor(f"{body.name} root", site, kind="arm", accepts=("hub",)))

    def line(what: str, k: int, y: float, to: float, **fields: Any) -> qp.Spring:
        sign = ends[k][1]
        at1, at2 = (sign * 0.375 * SIDE, sign * y, 0.0), (sign * to * SIDE, sign * y, 0.0)
        return qp.Spring(f"{ends[k][0]} {what}", middle, bodies[k], at1=at1, at2=at2,
                         stiffness=1.0, **fields)  # fmt: skip

    both = range(2)
    return qp.Study(
        qp.Multibody(middle, *bodies),
        sensors=sensors,
        options={("hub", "arm"): [qp.Free(), qp.Lock(), qp.Hinge(1), qp.Hinge(2)]},
        potentials={
            "push": [line("&", k, -0.5 * SIDE, 1.25, rest_length=2.0 * SIDE) for k in both],
            "pull": [line("it", k, -0.5 * SIDE, 1.25, rest_length=0.5 * SIDE) for k in both],
            "hold": [line("of", k, 0.4375 * SIDE, 0.875, rest_length=0.5 * SIDE, tension_only=True)
                     for k in both],
        },
        always=[qp.ViscousHinges(2e-4)], safety=[qp.StayTogether()], nudge=0.0,
        same=qp.SameShape(interchangeable=[bodies]),
    )  # fmt: skip


@cache
def graph_of(names: tuple[str, ...], reductions: bool = True) -> ReconfigurationGraph:
    return arms(*names).explore(reductions=reductions)


def renaming(one: tuple[str, ...], two: tuple[str, ...]) -> Any:
    """What a study calls things, in the names of another."""
    studies = arms(*one), arms(*two)
    bodies = dict(zip(one, two, strict=True))
    listed = [
        [part.name for pair in range(len(study.pairs)) for option in study.options["hub", "arm"]
         if option.joins for roll in range(len(study.rolls(study.pairs[pair])))
         for part in study.joint_parts(pair, roll, option)]
        for study in studies
    ]  # fmt: skip
    joints = dict(zip(*listed, strict=True))
    stops = {f"{a} {side}": f"{b} {side}" for a, b in joints.items() for side in ("lower", "upper")}
    forces = {a.name: b.name for p in studies[0].forces
              for a, b in zip(*(study.forces[p] for study in studies), strict=True)}  # fmt: skip
    known: dict[Of, dict[str, str]] = {"bodies": bodies, "stops": stops, "forces": forces}
    return lambda of, parts: [known[of][part] for part in parts]


def data_of(reason: Reason) -> Any:
    """What a reason says beside figures, which rounding changes where they are next to none."""
    return reason.kind, reason.parts, tuple(map(data_of, reason.why))


def check_alike(one: ReconfigurationGraph, two: ReconfigurationGraph, other: Any = None) -> None:
    """Two graphs are one, and say the same in the names of the second."""

    def said(reason: Reason) -> Any:
        named = reason if other is None else reason.rename(other)
        assert named is not None, reason
        return data_of(named) if named.kind.startswith("level") else (str(named), data_of(named))

    def own(reason: Reason) -> Any:
        return (
            data_of(reason) if reason.kind.startswith("level") else (str(reason), data_of(reason))
        )

    assert [said(n.reason) for n in one.nodes.values()] == [
        own(n.reason) for n in two.nodes.values()
    ]
    assert [(e.source, e.kind, e.target) for e in one.edges] == [
        (e.source, e.kind, e.target) for e in two.edges
    ]
    for e, f in zip(one.edges, two.edges, strict=True):
        assert [said(o.reason) for o in e.outcomes] == [own(o.reason) for o in f.outcomes], e
        parts = [o.parts if other is None else tuple(other("bodies", o.parts)) for o in e.outcomes]
        assert parts == [o.parts for o in f.outcomes], e


FEW = HOSTILE if ATTACKING else HOSTILE[:4]


@pytest.mark.attack
@pytest.mark.parametrize("names", FEW)
def test_reasons_name_the_right_ones(names: tuple[str, str, str]) -> None:
    """With reductions as without, and as the same study in plain names."""
    graph, plain = graph_of(names), plainly(names)
    check_alike(graph, graph_of(names, False))
    check_alike(graph, graph_of(plain), renaming(names, plain))
    named = [o.reason for e in graph.edges for o in e.outcomes
             if e.carried is not None and set(e.carried.by) & {"symmetry", "cache"}]  # fmt: skip
    kinds = {reason.kind for reason in named} | {why.kind for one in named for why in one.why}
    assert kinds >= {"falls beside", "minimum beside", "touches", "jumps"}


# --- whatever is drawn ----------------------------------------------------------------------------
def drawn(seed: int, names: tuple[str, ...]) -> qp.Study:
    """Modules alike, which stay at rests that nothing holds."""
    study = random_study(
        seed,
        Copy(names=names),
        alike=True,
        modules=len(names),
        settle=qp.SettleRule(evaluations=1e4),
    )
    return changed(study, nudge=0.0)


def told_of(graph: ReconfigurationGraph, edges: int, names: dict[str, str]) -> list[Any]:
    """What so many edges say, bodies called otherwise; what never settles says rounding."""

    def said(reason: Reason) -> Any:
        return data_of(reason.rename(other) or reason)

    def other(of: Of, parts: tuple[str, ...]) -> list[str] | None:
        return [names[part] for part in parts] if of == "bodies" else None

    return [
        (
            e.source,
            e.kind,
            [(o.kind, o.kind == "never settles" or said(o.reason)) for o in e.outcomes],
        )
        for e in graph.edges[:edges]
    ]


@seeds(6, 4, attack=400)
def test_random_studies_in_any_names(seed: int) -> None:
    """With reductions as without, as far as both were flown, and as in plain names."""
    chance = np.random.default_rng([seed, 91])
    names = HOSTILE[int(chance.integers(len(HOSTILE)))]
    called = tuple(names[k] for k in chance.permutation(3)[: 2 + seed % 2])
    plain, same = plainly(called), {name: name for name in called}
    one = drawn(seed, called).explore(budget=20)
    two = drawn(seed, plain).explore(budget=20)
    flown = drawn(seed, called).explore(budget=50, reductions=False)
    both = min(len(one.edges), len(flown.edges))
    assert told_of(one, both, same) == told_of(flown, both, same)
    assert told_of(one, len(one.edges), dict(zip(called, plain, strict=True))) == told_of(
        two, len(two.edges), {name: name for name in plain}
    )


# --- what is known by its text alone --------------------------------------------------------------
def failing(study: qp.Study, node: Node, choice: Choice, *rest: Any) -> Record:
    """Runs under a pull raise, and name what they choose."""
    if choice.potential == "pull":
        raise ValueError(f"{choice} cannot be")
    return run_choice(study, node, choice, *rest)


def test_what_only_a_text_names_is_not_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that raises speaks for no other: each is made, in whatever order."""
    monkeypatch.setattr(workers, "run_choice", failing)
    study, some = arms("x", "a", "an"), ("symmetry", "cache")
    graph = study.explore(reductions=some)
    failed = [edge for edge in graph.edges if edge.kind == "failed"]
    assert len(failed) > 5
    for edge in failed:
        assert (edge.reason, edge.carried) == (f"ValueError: {edge.selection} cannot be", None)
    assert any(edge.carried and "symmetry" in edge.carried.by for edge in graph.edges)
    check_alike(graph, study.explore(reductions=False))
    with ThreadPoolExecutor(2) as pool:
        assert study.explore(workers=pool, reductions=some).to_json() == graph.to_json()


@pytest.mark.parametrize("names", [PLAINLY, ("x", "a", "an"), ("x", "a, b", "b")])
def test_journals_keep_what_reasons_were_made_of(names: Any, tmp_path: Path) -> None:
    """And those of earlier versions, which have no more than texts, are read: where a text may say
    several things it is not carried, and flown where another spoke for it."""
    path, clear = tmp_path / "arms.db", not any(", " in name for name in names)
    graph = arms(*names).explore(path)
    loaded = ReconfigurationGraph.load(path)
    assert loaded.to_json() == graph.to_json()
    check_alike(loaded, graph)
    runs, owner = runs_in(path), owner_of(graph.study.digest)
    with closing(sqlite3.connect(path)) as base:
        rows = base.execute("SELECT node, choice, record FROM runs").fetchall()
        for node, choice, text in rows:
            data = json.loads(text)
            old = json.dumps({key: value for key, value in data.items() if key != "reasons"})
            row = (old, mark_of(owner, "runs", node, choice, old), node, choice)
            base.execute("UPDATE runs SET record = ?, hash = ? WHERE node = ? AND choice = ?", row)
        base.commit()
    assert any("reasons" in json.loads(text) for *_, text in rows)
    if clear:
        assert ReconfigurationGraph.load(path).to_json() == graph.to_json()
    again = arms(*names).explore(path)
    assert (runs_in(path) == runs) == clear
    texts = [
        [[o.reason.partition(" (a stiffness")[0] for o in e.outcomes] for e in one.edges]
        for one in (again, graph)
    ]
    assert texts[0] == texts[1]
    kinds = {o.reason.kind for e in again.edges for o in e.outcomes}
    assert kinds >= {"stands", TOLD}
    assert ReconfigurationGraph.load(path).to_json() == again.to_json()


@pytest.mark.parametrize("forged", [["falls", ["b"], [], []], ["falls", "a", [], []], ["falls"],
    ["falls", ["a"], [1], []], ["none", ["a"], [], []], ["level", ["a"], [], []], 7, "falls",
    ["stands", [], [], []], ["falls", [7], [], []]])  # fmt: skip
def test_a_text_and_its_data_say_the_same(forged: Any) -> None:
    """Else the record is damaged."""
    record = Record((Outcome("stayed", None, Reason("falls", ["a"])),), (None,))
    assert record_of(text_of(record)).outcomes[0].reason.parts == ("a",)
    with pytest.raises(UNREADABLE):
        record_of(json.dumps(json.loads(text_of(record)) | {"reasons": [forged]}))
    with pytest.raises(UNREADABLE):
        record_of(json.dumps(json.loads(text_of(record)) | {"reasons": []}))


# --- every kind -----------------------------------------------------------------------------------
def examples(one: str, two: str) -> list[tuple[Reason, str]]:
    """Every kind of reason, of two names, and what is said."""
    both, f, apart = [one, two], (0.5, 0.25), Reason("touches", [one])
    s2 = "(a stiffness of 0.5 1/s2, known to 0.25)"
    named, at, falls = f"{one}, {two}", f"it touches {one}", Reason("falls", both)
    return [
        (Reason("neutral"), "all that can move is neutral"),
        (Reason("stands"), "nothing in it can move"),
        (Reason("minimum"), "a minimum of energy, and every motion around it dies out"),
        (Reason("undamped", both), f"a minimum of energy; nothing damps the motion of {named}"),
        (Reason("dies out"), "every motion around it dies out"),
        (falls, f"{named} leaves it"),
        (Reason("level", both, f), f"to second order nothing holds {named} {s2}"),
        (Reason("turns", both),
         f"turning alone holds {named} on a maximum of energy; any damping lets it go"),
        (Reason("lasts", both, f), f"the motion of {named} neither grows nor dies out "
         "(a rate of 0.5 1/s, known to 0.25)"),
        (Reason("no potential", why=[apart]), f"{at}, and its loads have no potential"),
        (Reason("too many ways", why=[apart]), f"{at}, in more ways than are told apart"),
        (Reason("minimum beside", why=[Reason("jumps", [two]), apart]), "a minimum of energy along "
         f"all allowed motions; the stiffness of {two} jumps here and {at}"),
        (Reason("falls beside", both, (), [apart]), f"{named} leaves it; {at}"),
        (Reason("level beside", both, f, [apart]),
         f"{at}: to second order nothing holds {named} {s2}"),
        (Reason("turns beside", both, f, [apart]), f"{at}: turning may hold {named} {s2}"),
        (Reason("meet"), "branches of motion meet here"),
        (Reason("meet, falls", both),
         f"branches of motion meet here, and {named} leaves it along one of them"),
        (Reason("meet, level"), "branches of motion meet here, which second order does not judge"),
        (Reason("meet, rises"), "branches of motion meet here, and energy rises on all"),
        (Reason("one way shut", why=[falls]),
         f"{named} leaves it, but a stop is in the way of the sense that was tried"),
        (Reason("all ways shut", why=[falls]),
         f"{named} leaves it, and stops are in the way of all of it"),
        (Reason("saddles", (), [8], [falls]),
         f"{named} leaves it, as from 8 saddles on the way to it"),
        (Reason("lossless"), "nothing takes its energy"),
        (Reason("steady"), "it keeps moving as it did, stretch after stretch"),
        (Reason("fed"), "it keeps moving: what is put in each cycle, dampers take out"),
        (Reason("cut short", (), [0.125], [Reason("run END")]), "the end time was reached before "
         "it came to rest; its speeds were down to 0.12 of the fastest"),
        (Reason("met"), "sensors met, which ends a motion"),
        (Reason("no lock"), "sensors meet, and none can lock"),
        (Reason("rattle"), "sensors meet again and again"),
        (Reason("unmet"), "the joints chosen cannot all be met at this pose"),
        (Reason("apart"), "comes apart"),
        (Reason("enters"), "enters a cone that must stay clear"),
        (Reason("blocked"), "is blocked"),
        (Reason("jams"), "jams"),
        (Reason("near", (), [0.0002]), "comes nearer than 0.0002 m"),
        (Reason("speed", (), [0.04]), "speed above 0.04"),
        (Reason("turning", (), [2]), "turning above 2"),
        (Reason("load", (), [0.5]), "load above 0.5"),
        (Reason("jumps", both), f"the stiffness of {named} jumps here"),
        (Reason("touches", both), f"it touches {named}"),
        (Reason("event", [one]), f"an event ended the motion: {one}"),
        (Reason("stiff", ("dop853", two), (0.5, 2.0), [Reason("lossless")]), "nothing takes its "
         "energy; it is stiff: one motion dies out in 0.5 s, which bounds the steps of 'dop853', "
         f"another in 2 s; {two}"),
        (Reason("hidden rate", both, f), f"a minimum of energy; whether the motion of {named} dies "
         "out cannot be told (a rate of 0.5 1/s, known to 0.25)"),
        (Reason("stiff by springs", ("dop853", two), (500.0, 2.0), [Reason("lossless")]), "nothing "
         "takes its energy; it is stiff: one motion swings at 5e+02 rad/s, which bounds the steps "
         f"of 'dop853', while another dies out in 2 s; {two}"),
        *((Reason(f"run {stop.name}"), str(stop)) for stop in Stop),
    ]  # fmt: skip


#: Reasons that quote what others wrote, in which nothing is renamed.
WORDS_OF_OTHERS = ("event", "stiff", "stiff by springs")


def test_examples_are_of_every_kind() -> None:
    assert Counter(reason.kind for reason, _ in examples("a", "b")) == Counter(list(WORDINGS))


@pytest.mark.parametrize("names", HOSTILE)
def test_every_kind_in_any_names(names: tuple[str, str, str]) -> None:
    """It says what it did as a text, keeps what it was made of, and is worded anew in others."""
    one, two, three = names
    there = {one: two, two: three}
    renamed = [reason for reason, _ in examples(two, three)]
    for (reason, text), after in zip(examples(one, two), renamed, strict=True):
        assert (reason, type(str(reason)), f"{reason}") == (text, str, text)
        for same in (pickle.loads(pickle.dumps(reason)), copy.deepcopy(reason),
                     reason_of(text, json.loads(json.dumps(reason.data())))):  # fmt: skip
            assert (same, data_of(same), same.numbers) == (text, data_of(reason), reason.numbers)
        if reason.kind not in WORDS_OF_OTHERS:  # what happened is nobody's name
            found = reason.rename(lambda of, parts: [there[part] for part in parts])
            assert found is not None
            assert (found, data_of(found)) == (after, data_of(after))
        with pytest.raises(AttributeError, match="does not change"):
            reason.parts = ()  # type: ignore[misc]
        alone = told(str(text))
        assert alone == reason
        assert alone.kind == (reason.kind if text in PLAIN else TOLD)
        assert (alone.rename(lambda of, parts: parts) is None) == (text not in PLAIN)


@pytest.mark.parametrize("names", [PLAINLY, *HOSTILE])
def test_texts_of_earlier_versions(names: tuple[str, str, str]) -> None:
    """They are read as what they said, or not at all; in plain names all but words are."""
    for reason, text in examples(*names[:2]):
        back = parse_reason(text, lambda of: names)
        assert back is None or (back, data_of(back)) == (text, data_of(reason))
        if names == PLAINLY:
            assert (back is None) == (reason.kind in WORDS_OF_OTHERS)


def test_nothing_and_no_force_have_words() -> None:
    assert Reason("falls") == "nothing leaves it"
    assert Reason("jumps") == "the stiffness of its forces jumps here"


def test_loaded_joints_are_exchanged() -> None:
    """A limit names joints, which become those of the modules that stand for theirs."""
    study = changed(arms("x", "a", "an"), safety=[qp.StayTogether(), qp.Limit("load", 1e-3)])
    graph, flown = study.explore(), study.explore(reductions=False)
    named = [e.parts for e in graph.edges if e.kind == "rejected" and e.carried is not None]
    assert any("hinge" in part for parts in named for part in parts)
    assert [[sorted(o.parts) for o in e.outcomes] for e in graph.edges] == [
        [sorted(o.parts) for o in e.outcomes] for e in flown.edges
    ]
