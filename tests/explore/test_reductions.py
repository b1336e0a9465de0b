"""Runs that speak for others: the graph is the same as without, and what is carried is what would
have been found."""

from __future__ import annotations

import dataclasses
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.imaging_in_orbit import mission
from demos.lattice import lattice
from quirkpy.explore.alike.symmetry import Symmetry
from quirkpy.explore.model.graph import Outcome
from quirkpy.explore.reduce.conclusions import place_of
from quirkpy.explore.reduce.reductions import Mover, Reductions, select_reductions
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.choices import Reduction
from quirkpy.explore.scope.identity import poses_of
from tests.doomed import exploring, killed, runs_in, wait_for
from tests.faults.sentence import check_refused
from tests.studies import Slow, block, changed, far_pair

#: One worker runs them all, so that each graph is explored once.
pytestmark = pytest.mark.xdist_group("reductions")
#: What is said of a motion in numbers.
FIGURES = (
    "duration", "switching", "holding", "dissipated", "put_in", "lost", "peak_speed", "peak_load",
    "clearance", "t",
)  # fmt: skip
EXACT = qp.SettleRule(rtol=1e-12, atol=1e-14)
EVERY = get_args(Reduction)


def close(one: float | None, two: float | None, tolerance: float = 1e-9) -> bool:
    if one is None or two is None:
        return one is two
    return abs(one - two) <= tolerance * max(1.0, abs(one))


def labels(o: Outcome) -> Any:
    """All but figures; an eigenvector has no sign of its own."""
    return (
        o.kind,
        o.target,
        o.reason,
        sorted(o.parts),
        sorted(name for _, name in o.contacts),
        o.nudge is None,
    )


def check_same(one: qp.ReconfigurationGraph, two: qp.ReconfigurationGraph) -> None:
    """Two graphs with the same nodes, edges and figures."""
    assert list(one.nodes) == list(two.nodes)
    for a, b in zip(one.nodes.values(), two.nodes.values(), strict=True):
        poses = poses_of(a.state.r, a.state.q), poses_of(b.state.r, b.state.q)
        assert one.study.shapes.distance(*poses) < 1e-9
        assert (a.verdict, a.reason, a.potential, sorted(a.links)) == (
            b.verdict,
            b.reason,
            b.potential,
            sorted(b.links),
        )
        assert close(a.energy, b.energy)
        np.testing.assert_allclose(a.frequencies, b.frequencies, rtol=1e-9)
    assert [(e.source, e.selection, e.kind) for e in one.edges] == [
        (e.source, e.selection, e.kind) for e in two.edges
    ]
    for e, f in zip(one.edges, two.edges, strict=True):
        assert list(map(labels, e.outcomes)) == list(map(labels, f.outcomes))
        for a, b in zip(e.outcomes, f.outcomes, strict=True):
            check_figures(a, b)


def check_figures(a: Outcome, b: Outcome) -> None:
    """All figures of two motions agree, to 1e-9; which of two senses, and of directions alike, is
    another matter."""
    assert {name for name in FIGURES if not close(getattr(a, name), getattr(b, name))} == set(), (
        a,
        b,
    )
    met = [
        sorted(((name, t) for t, name in o.contacts), key=lambda one: (one[0], one[1]))
        for o in (a, b)
    ]
    for (_, one), (_, two) in zip(*met, strict=True):
        assert close(one, two), (a, b)
    if a.nudge is not None and b.nudge is not None:
        assert abs(a.nudge[0]) == abs(b.nudge[0])


def exact(study: qp.Study, **fields: Any) -> qp.Study:
    """With integration errors well below what is compared."""
    return changed(study, settle=EXACT, **fields)


def relabelled(study: qp.Study, seed: int) -> qp.Study:
    """The same study, its modules written in another order, which is that of their rows."""
    bodies = [part for part in study.system.parts if isinstance(part, qp.Body)]
    others = [part for part in study.system.parts if not isinstance(part, qp.Body)]
    random.Random(seed).shuffle(bodies)
    sensors = [sensor for body in bodies for sensor in study.sensors if sensor.site.body == body]
    made = study.fields() | {"system": qp.Multibody(*bodies, *others), "sensors": sensors}
    return qp.Study(made.pop("system"), **made)


def guarded() -> qp.Study:
    """The block with potentials that move it, and bodies that must not meet, nor be too fast;
    relabelled."""
    study = block()
    moving = {name: forces for name, forces in study.potentials.items() if name != "none"}
    rules = [qp.StayTogether(), qp.NoCollision(), qp.Limit("speed", 0.03)]
    return relabelled(exact(study, potentials=moving, safety=rules), 2)


#: Studies, how many edges of them are looked at (None: all), and what saves runs there.
STUDIES: dict[str, tuple[Any, int | None, set[str]]] = {
    "pair": (pair, None, {"rigid"}),
    "far pair": (far_pair, None, {"rigid"}),
    "cubes": (lambda: exact(lattice(3)), None, {"symmetry"}),
    "cubes that look": (lambda: exact(lattice(3, alike=2)), None, {"symmetry", "cache"}),
    "cubes, relabelled": (
        lambda: relabelled(exact(lattice(3, alike=2)), 1),
        None,
        {"symmetry", "cache"},
    ),
    "block": (guarded, 160, {"rigid", "symmetry"}),
}


@cache
def without(name: str) -> qp.ReconfigurationGraph:
    make, edges, _ = STUDIES[name]
    graph: qp.ReconfigurationGraph = make().explore(progress=False, reductions=False, budget=edges)
    return graph


def first_edges(graph: qp.ReconfigurationGraph, count: int) -> qp.ReconfigurationGraph:
    """What the first edges of a graph have found."""
    edges = graph.edges[:count]
    found = {"n0", *(o.target for edge in edges for o in edge.outcomes if o.target is not None)}
    nodes = {key: node for key, node in graph.nodes.items() if key in found}
    return qp.ReconfigurationGraph(graph.study, nodes, edges)


# --- the same graph -------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STUDIES)
def test_the_graph_is_the_same_without(name: str) -> None:
    make, _, saves = STUDIES[name]
    whole = without(name)
    count, study = len(whole.edges), make()
    graph = study.explore(progress=False, budget=None if STUDIES[name][1] is None else count // 2)
    assert set(graph.saved) == saves
    assert len(graph.edges) >= count
    check_same(first_edges(whole, count), first_edges(graph, count))
    moved = {
        edge.carried.by[0]
        for edge in graph.edges[:count]
        if edge.carried is not None and edge.kind == "moved"
    }
    assert moved >= saves - {"rigid"}  # it is motions that are compared
    told = Counter(edge.carried.by[0] for edge in graph.edges if edge.carried is not None)
    assert all(told[by] >= n > 0 for by, n in graph.saved.items())
    assert (
        f"{len(graph.edges) - sum(graph.saved.values())} runs answer for all edges"
        in graph.report()
    )


def test_a_peak_load_is_carried() -> None:
    study = exact(block(), safety=[qp.StayTogether(), qp.Limit("load", 10.0)])
    made, place, own = movers(study)
    held = {
        "B north | C south": "hinge 1",
        "A north | D south": "hinge 1",
        "A east | B west": "lock",
    }
    form = tuple(held.get(study.pairs[pair].name, "free") for pair, _ in place.pairs), "apart"
    one, two = form, own[1](form)
    assert two is not None
    record, there = (run_choice(study, place.node, place.choice(study, f)) for f in (one, two))
    assert (record.outcomes[0].peak_load or 0.0) > 0.0
    check_figures(made._carry_record(record, own[1]).outcomes[0], there.outcomes[0])


@pytest.mark.parametrize("reduction", EVERY)
def test_each_is_switched_on_alone(reduction: Reduction) -> None:
    study = exact(lattice(3, alike=2))
    graph = study.explore(progress=False, reductions=[reduction])
    assert set(graph.saved) <= {reduction}
    assert bool(graph.saved) == (reduction in ("symmetry", "cache"))
    check_same(without("cubes that look"), graph)


def test_what_is_no_reduction_is_refused() -> None:
    for wrong in ("cache", ["luck"], 3):
        check_refused(
            lambda wrong=wrong: pair().explore(reductions=wrong),
            "explore",
            ("reductions is", "'cache'"),
        )


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers(workers: int) -> None:
    study = lattice(3, alike=2)
    alone = study.explore(progress=False)
    with ThreadPoolExecutor(workers) as pool:
        assert study.explore(workers=pool, progress=False).to_json() == alone.to_json()


def test_towards_a_goal_and_read_again(tmp_path: Path) -> None:
    study, path = lattice(3, alike=2), tmp_path / "cubes.db"

    def towards(node: qp.Node) -> float:
        return float(node.state.q[:, 3].sum())

    graph = study.explore(path, towards=towards, progress=False)
    assert graph.coverage == 1.0
    assert sum(graph.saved.values()) > 0.7 * len(graph.edges)
    assert qp.ReconfigurationGraph.load(path).to_json() == graph.to_json()
    with ThreadPoolExecutor(3) as pool:
        assert (
            study.explore(workers=pool, towards=towards, progress=False).to_json()
            == graph.to_json()
        )


def kill_again_and_again(make: Callable[[], qp.Study], workers: int, path: Path) -> None:
    """Explore into a journal three times, each killed a moment after it has finished some of the
    twelve runs."""
    chance = random.Random(workers)
    for _ in range(3):
        pid = exploring(make, path, workers)
        wait_for(path, min(runs_in(path) + chance.randint(1, 4), 10))
        time.sleep(chance.uniform(0.0, 0.05))
        killed(pid)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_any_moment(workers: int, tmp_path: Path) -> None:
    """The graph and what it says of its runs are those of an exploration that nothing disturbed."""
    study, path = lattice(3, alike=1), tmp_path / "cubes.db"
    kill_again_and_again(partial(lattice, 3, alike=1), workers, path)
    graph = study.explore(path, progress=False)
    assert graph.saved["cache"] > 500
    assert graph.to_json() == study.explore(progress=False).to_json()


# --- what is carried ------------------------------------------------------------------------------
def movers(study: qp.Study) -> tuple[Reductions, Any, list[Mover]]:
    """What carries the first node of a study onto itself."""
    node = study.explore(budget=0, progress=False).nodes["n0"]
    made = Reductions(study, select_reductions(True), [node])
    place = place_of(study, node)
    return made, place, list(made._movers(place, place))


@pytest.mark.parametrize(
    ("make", "order"), [(lambda: lattice(3), 2), (lambda: lattice(4), 2), (block, 4)]
)
def test_what_carries_a_pose_onto_itself_is_a_group(make: Any, order: int) -> None:
    """On poses and on choices: the identity, inverses and products are among them."""
    study = make()
    _, place, own = movers(study)
    assert len(own) == order
    state, choices = place.node.state, study.choices(place.node)
    forms = [
        (tuple(label for _, label in choice.joints), choice.potential)
        for choice in choices[:: len(choices) // 40 or 1]
    ]
    assert all(own[0](form) == form for form in forms)
    for mover in own:
        r, q = mover.carrier.pose(state.r, state.q)
        assert abs(r - state.r).max() < 1e-12
        turned = {tuple(np.round(abs((q * state.q).sum(axis=1)), 12))}
        assert (
            len(turned) == 1
        )  # all modules stand as they stood, or all are turned by a symmetry of their own
        carried = [(form, mover(form)) for form in forms]
        assert all(mover.inverse(other) == form for form, other in carried if other is not None)
    everything = {
        (mover.carrier.exchange.to, mover.carrier.exchange.own.round(9).tobytes()) for mover in own
    }
    for one, two in itertools.product(own, own):
        to = tuple(two.carrier.exchange.to[k] for k in one.carrier.exchange.to)
        assert to in {key[0] for key in everything}
        for form in forms:
            first = one(form)
            both = None if first is None else two(first)
            if both is not None:
                assert both in [mover(form) for mover in own]


@pytest.mark.parametrize("seed", range(3))
def test_a_carried_choice_moves_as_its_run_does(seed: int) -> None:
    """A choice at the block, and what a symmetry makes of it, each simulated: one is the other,
    carried."""
    study = exact(block())
    made, place, own = movers(study)
    choices = [choice for choice in study.choices(place.node) if choice.potential == "apart"]
    rng = random.Random(seed)
    done = 0
    while done < 2:
        choice, mover = rng.choice(choices), rng.choice(own[1:])
        other = mover((tuple(label for _, label in choice.joints), choice.potential))
        record = run_choice(study, place.node, choice)
        if record.outcomes[0].kind != "moved" or other is None:
            continue
        done += 1
        there = run_choice(study, place.node, place.choice(study, other))
        carried = made._carry_record(record, mover)
        (a,), (b,) = carried.outcomes, there.outcomes
        assert labels(a) == labels(b)
        check_figures(a, b)
        one, two = carried.reached[0], there.reached[0]
        assert one is not None
        assert two is not None
        assert sorted(one["links"]) == sorted(map(list, two["links"]))
        poses = (poses_of(np.array(node["r"]), np.array(node["q"])) for node in (one, two))
        assert study.shapes.distance(*poses) < 1e-9


def test_locks_within_a_cluster_need_no_run_of_their_own() -> None:
    """Three cubes of a block of four, a fourth that swings: how the three are held together makes
    no difference, but for what is locked in the end."""
    study = exact(block(5))
    node = study.explore(budget=0, progress=False).nodes["n0"]
    made = Reductions(study, select_reductions(["clusters"]), [node])
    tickets = [
        t for t in made.tickets(node) if t.carried is not None and t.asked.potential == "apart"
    ]
    assert len(tickets) > 20
    for ticket in random.Random(0).sample(tickets, 4):
        assert ticket.carried is not None
        assert ticket.carried.by == ("clusters",)
        carried, own = (
            ticket.answer(run_choice(study, node, ticket.choice)),
            run_choice(study, node, ticket.asked),
        )
        assert [labels(o) for o in carried.outcomes] == [labels(o) for o in own.outcomes]
        for a, b in zip(carried.reached, own.reached, strict=True):
            assert (a is None) == (b is None)
            assert a is None or b is None or sorted(a["links"]) == sorted(map(list, b["links"]))


def test_a_saddle_at_closed_faces_is_left_alike() -> None:
    """Springs pull straight through the middle of a block: a hinge there balances on its closed
    faces, to rounding, which must not decide whether it opens."""
    study = block()
    cubes = [part for part in study.system.parts if isinstance(part, qp.Body)]
    pull = [qp.Spring(f"{a.name}{b.name}", a, b, stiffness=0.02, rest_length=0.0)
            for a, b in itertools.combinations(cubes, 2)]  # fmt: skip
    study = changed(study, potentials={"together": pull})
    _, place, own = movers(study)
    held = {
        "B north | C south": "hinge 1",
        "C west | D east": "hinge 2",
        "A north | D south": "hinge 2",
    }
    form = tuple(held.get(study.pairs[pair].name, "free") for pair, _ in place.pairs), "together"
    kinds = []
    for mover in own:
        other = mover(form)
        assert other is not None
        kinds.append(
            [o.kind for o in run_choice(study, place.node, place.choice(study, other)).outcomes]
        )
    assert kinds == 4 * [["moved"]]


# --- what is not carried --------------------------------------------------------------------------
class Tilted(qp.Force):
    """A force of a user's own, which might tell modules apart."""

    body: qp.Body

    def potential(self, at: qp.MotionView) -> float:
        return 0.0


def heavier(study: qp.Study, which: int) -> list[qp.Part]:
    """The parts of a study, one of its modules with more mass."""
    parts = list(study.system.parts)
    parts[which] = dataclasses.replace(parts[which], mass=1.1)  # type: ignore[call-arg]
    return parts


def test_a_coil_has_no_turn_about_its_moment() -> None:
    """A quarter turn carries a module with a coil in its top face onto itself, and one with a coil
    in its side not."""
    study = mission()
    quarters = [Symmetry(study).exchange((0, 1, 2), (k, 0, 0)) for k in range(4)]
    assert [turned is not None and len(turned.potentials) for turned in quarters] == [3, 3, 3, 3]
    cubes = [part for part in study.system.parts if isinstance(part, qp.Body)]
    coils = [
        qp.Electromagnet(f"coil of {cube.name}", cube.site("side", z=(1.0, 0.0, 0.0)), 0.2)
        for cube in cubes
    ]
    aside = changed(study, potentials={"coast": [], "pull": [qp.Dipoles(coils)]})
    quarters = [Symmetry(aside).exchange((0, 1, 2), (k, 0, 0)) for k in range(4)]
    assert [turned is not None and len(turned.potentials) for turned in quarters] == [2, 1, 1, 1]


def test_bodies_in_one_place_are_told_apart_by_their_turns() -> None:
    """As the panels of a shut map lie in one place: a pose is carried onto itself, and onto one in
    which two modules alike have changed places."""
    symmetry, start = Symmetry(study := block()), block().system.initial
    assert symmetry.kinds == [0, 0, 0, 0]
    r, q = np.tile(start.r[:1], (4, 1)), np.tile(start.q[:1], (4, 1))
    q[1:3] = [(0.8, 0.6, 0.0, 0.0), (0.6, 0.0, 0.64, 0.48)]  # the fourth lies as the first does
    folded = dataclasses.replace(start, r=r, q=q)
    exchange = symmetry.carriers(folded, folded)[0].exchange
    assert exchange.to == (0, 1, 2, 3)
    assert exchange.potentials == {name: name for name in study.potentials}
    swapped = dataclasses.replace(start, r=r, q=q[[0, 2, 1, 3]])
    for carrier in (found := symmetry.carriers(folded, swapped)):
        there = poses_of(*carrier.pose(folded.r, folded.q))
        assert np.abs(np.abs(there) - np.abs(poses_of(swapped.r, swapped.q))).max() < 1e-12
    assert (0, 2, 1, 3) in [carrier.exchange.to for carrier in found]


def test_what_is_not_alike_is_not_exchanged() -> None:
    """A spring between two, a heavier module, a force or a criterion of a user's own."""
    study = block()
    body = next(part for part in study.system.parts if isinstance(part, qp.Body))
    assert Symmetry(study).kinds == [0, 0, 0, 0]
    other = next(part for part in study.system.parts if isinstance(part, qp.Body) and part != body)
    spring = qp.Spring("spring", body, other, stiffness=1.0)
    assert len(movers(changed(study, always=[*study.always, spring]))[2]) == 1
    assert Symmetry(changed(study, system=qp.Multibody(*heavier(study, 1)))).kinds == [0, 1, 0, 0]
    assert Symmetry(changed(study, always=[*study.always, Tilted("own", body)])).kinds == [
        0,
        1,
        2,
        3,
    ]
    slow = Slow(0.0)
    assert Symmetry(changed(study, safety=[slow])).kinds == [0, 1, 2, 3]


@pytest.mark.parametrize("cubes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_where_the_first_of_several_hinges_is_taken_modules_are_not_exchanged(cubes: int) -> None:
    """Sensors that meet are held by the first of two hinges alike; an exchange would make it the
    second."""
    options = {("face", "face"): [qp.Free(), qp.Hinge(edge=1), qp.Hinge(edge=2)]}
    study = changed(lattice(cubes, choosing=()), options=options, same=qp.SameShape())
    one, own = (
        study.explore(budget=80, progress=False, reductions=which) for which in (True, False)
    )
    known = {(edge.source, edge.selection.key): edge for edge in own.edges}
    both = [
        (edge, known[edge.source, edge.selection.key])
        for edge in one.edges
        if (edge.source, edge.selection.key) in known
    ]
    assert len(both) > 20
    for carried, alone in both:
        assert carried.kind == alone.kind
        assert carried.target == alone.target
        assert carried.duration == pytest.approx(alone.duration, rel=1e-6)
        assert carried.dissipated == pytest.approx(alone.dissipated, rel=1e-6, abs=1e-12)
