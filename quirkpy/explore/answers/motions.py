"""What a graph does not store and computes again: the motions of its edges, and certificates of its
nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from quirkpy.explore.model.costs import COST_WORDS, price_of
from quirkpy.explore.model.graph import Outcome
from quirkpy.explore.run.records import canonical
from quirkpy.explore.run.runner import Ended, begin, motions, record_motion
from quirkpy.motion.frames import Frames, frames_of, skip_waits
from quirkpy.system.multibody import Multibody

if TYPE_CHECKING:
    from quirkpy.explore.model.graph import Edge, Graph


def frames_of_edges(
    graph: Graph, numbers: Iterable[int], length: float, angle: float
) -> Iterator[tuple[int, list[Frames | None]]]:
    """Edges by their number, with the frames of each outcome, None where nothing moved; see
    `frames_of`."""
    study, last, universe = graph.study, "", None
    for number in numbers:
        edge = graph.edges[number]
        if universe is None or edge.source != last:
            last, universe = edge.source, study.universe(graph.nodes[edge.source])
        yield (
            number,
            [frames_of_motion(one, length, angle) for one in rerun_edge(graph, edge, universe)],
        )


def frames_of_motion(ended: Ended | None, length: float, angle: float) -> Frames | None:
    """The frames of a motion without its waiting near unstable rests; None where nothing moved."""
    if ended is None or not ended.runs:
        return None
    frames = frames_of([(0.0, run) for run in ended.runs], length, angle)
    return skip_waits(frames, [(leaving.t, leaving.waiting) for leaving in ended.leavings])


def in_order(graph: Graph, everything: bool) -> list[int]:
    """Numbers of the edges that move: first the best edge between each two nodes, as plans use
    them, then the others that lead somewhere; with everything=True also those that moved before
    they failed."""
    moving = [
        k
        for k, edge in enumerate(graph.edges)
        if any(outcome.duration > 0.0 for outcome in edge.outcomes)
    ]
    going = [k for k in moving if graph.edges[k].kind in ("moved", "ambiguous")]
    best: dict[tuple[str, str | None, str], int] = {}
    for word in COST_WORDS:
        prices = {
            k: price_of(graph.study, word, graph.edges[k], graph.edges[k].outcomes[0])
            for k in going
        }
        for k in going:
            way = graph.edges[k].source, graph.edges[k].target, word
            if way not in best or prices[k] < prices[best[way]]:
                best[way] = k
    first = sorted(set(best.values()))
    rest = [k for k in moving if k not in set(going)] if everything else []
    return [*first, *(k for k in going if k not in set(first)), *rest]


def rerun_edge(graph: Graph, edge: Edge, universe: Multibody) -> Sequence[Ended | None]:
    """The motion of each outcome of an edge, simulated again with all parts that may act at its
    node; None where nothing moved."""
    study, node, choice = graph.study, graph.nodes[edge.source], edge.selection
    begun = begin(study, node, choice, universe)
    if isinstance(begun, Outcome) or not any(outcome.duration for outcome in edge.outcomes):
        return [None for _ in edge.outcomes]
    found = motions(study, begun.system, begun.links, choice)
    if len(found) != len(edge.outcomes):
        return [None for _ in edge.outcomes]
    if len(found) == 1:
        return [found[0][0]]
    told = [record_motion(study, node, choice, begun, ended, nudge) for ended, nudge in found]
    return [found[k][0] for k in canonical(told)]
