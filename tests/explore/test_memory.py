"""What runs leave behind: nothing in a worker, however many there were."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import quirkpy as qp
from demos.cubesat_pair import b, pair
from quirkpy.explore.workers import DESK, run_batch
from tests.studies import Slow, balanced, block, changed, failing_pair


class Pulled(qp.Force):
    """A force of one's own, towards the origin."""

    def load(self, at: qp.MotionView) -> Any:
        return {b: qp.Wrench(-0.05 * at[b].position)}


#: Bodies locked and hinged; saddles; forces in Python, with and without errors; a criterion of a user's own.
STUDIES = {
    "pair": pair(),
    "ridge": balanced(),
    "block": block(),
    "own force": changed(pair(), potentials={"own": [Pulled("own")]}),
    "failing": failing_pair(),
    "own criterion": changed(pair(), safety=[Slow(0.0)]),
}


@pytest.fixture
def uncollected() -> Iterator[None]:
    """The search for cycles switched off, and what it finds kept."""
    gc.collect()
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
    """Which in a large process comes so seldom that it holds thousands of dead systems until then."""
    study = STUDIES[name]
    graph = study.explore(budget=8, progress=False, reductions=False)
    nodes = [graph.nodes[key] for key in ("n0", *(edge.target for edge in graph.moves() if edge.target))]
    work = [(node, choice) for node in dict.fromkeys(nodes) for choice in study.choices(node)[1:30:3]]
    gc.collect()
    batch(study, *work)
    DESK.universes.clear()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    left = Counter(type(o).__name__ for o in gc.garbage if type(o).__module__.startswith("quirkpy"))
    assert left == {}
