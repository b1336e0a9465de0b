"""What runs leave behind: nothing in a worker; the graph, and little beside, in the process that
explores."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import b, pair
from demos.imaging_mission import study as mission
from quirkpy.explore import explorer
from quirkpy.explore.model.graph import node_of
from quirkpy.explore.reduce.reductions import Ticket
from quirkpy.explore.run.records import Record
from quirkpy.explore.run.runner import start_record
from quirkpy.explore.run.workers import DESK, KEPT, run_batch
from quirkpy.explore.scope.choices import Count
from tests.studies import Slow, balanced, block, changed, failing_pair


class Pulled(qp.Force):
    """A force of one's own, towards the origin."""

    def load(self, at: qp.MotionView) -> Any:
        return {b: qp.Wrench(-0.05 * at[b].position)}


#: Bodies locked and hinged; saddles; forces in Python, with and without errors; a criterion of a
#: user's own.
STUDIES = {
    "pair": pair(),
    "ridge": balanced(),
    "block": block(),
    "own force": changed(pair(), potentials={"own": [Pulled("own")]}),
    "failing": failing_pair(),
    "own criterion": changed(pair(), safety=[Slow(0.0)]),
}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """What was there before, thousands of other tests among it, is not looked through again and
    again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def uncollected() -> Iterator[None]:
    """The search for cycles switched off, and what it finds kept."""
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


def batch(study: qp.Study, *work: Any) -> None:
    """Runs as a worker makes them."""
    DESK.studies[study.digest] = study
    run_batch(study.digest, None, list(work))


@pytest.mark.parametrize("name", STUDIES)
def test_a_run_leaves_nothing_to_the_search_for_cycles(name: str, uncollected: None) -> None:
    """Which in a large process comes so seldom that it holds thousands of dead systems until
    then."""
    study = STUDIES[name]
    graph = study.explore(budget=8, progress=False, reductions=False)
    nodes = [
        graph.nodes[key] for key in ("n0", *(edge.target for edge in graph.moves() if edge.target))
    ]
    work = [
        (node, choice) for node in dict.fromkeys(nodes) for choice in study.choices(node)[1:30:3]
    ]
    gc.collect()
    batch(study, *work)
    DESK.universes.clear()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    left = Counter(type(o).__name__ for o in gc.garbage if type(o).__module__.startswith("quirkpy"))
    assert left == {}


@pytest.mark.slow
def test_thousands_of_runs_leave_a_worker_as_it_was() -> None:
    """Every object of Python is a block of memory or has one; the same work again and again must
    not need more."""
    begun, bodies = start_record(mission), mission.system.bodies
    r = np.array(begun["r"])
    places = range(KEPT + 2)  # more than what is kept ready
    nodes = [node_of(begun | {"r": (r + 0.01 * k).tolist()}, k, bodies) for k in places]
    work = [(node, choice) for node in nodes for choice in mission.choices(node)[node.number :: 40]]
    blocks = []
    while len(blocks) * len(work) < 2000:
        for some in work:
            batch(mission, some)
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    runs = len(work) * (len(blocks) - 3)
    assert blocks[-1] - blocks[2] < 0.2 * runs, blocks


def alive(kind: type[Any]) -> int:
    return sum(type(o) is kind for o in gc.get_objects())


def test_who_explores_keeps_no_record_that_an_edge_has() -> None:
    """Other edges that need it have it read again."""
    most = 0

    def tell(count: Count) -> None:
        nonlocal most
        if count.edges % 25 == 0:
            decided = sum(type(o) is Ticket and o.record is not None for o in gc.get_objects())
            most = max(most, alive(Record) - decided)

    graph = block().explore(budget=40, progress=tell)
    assert graph.saved["symmetry"] > 40
    assert most <= 4


@pytest.mark.parametrize("plenty", [0, 1, 10])
def test_the_graph_does_not_depend_on_how_early_choices_are_looked_at(
    plenty: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "PLENTY", plenty)
    study = failing_pair()
    with ThreadPoolExecutor(2) as pool:
        graph = study.explore(workers=pool, progress=False)
    assert graph.to_json() == study.explore(progress=False).to_json()
