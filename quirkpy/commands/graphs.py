"""Commands on journals: `table`, `robustness`, `merge`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from quirkpy.commands.answer import Answer
from quirkpy.commands.definitions import module_of
from quirkpy.parts.files import check_writable
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    from quirkpy.explore.graph import ReconfigurationGraph
    from quirkpy.explore.model.graph import Edge

COSTS = ("energy", "time", "switches", "risk")


def words_of_journal(it: argparse.ArgumentParser) -> None:
    """Arguments for a journal, and for the modules of its own classes."""
    it.add_argument("journal", type=Path)
    it.add_argument("--study", type=Path, metavar="FILE", help="its file, if it has own classes")


def words_of_cost(it: argparse.ArgumentParser) -> None:
    """The argument for the cost by which plans are compared."""
    it.add_argument("--cost", choices=COSTS, default="energy", help="(default energy)")


def graph_of(asked: argparse.Namespace) -> ReconfigurationGraph:
    """The graph in a journal."""
    from quirkpy.explore.graph import ReconfigurationGraph

    if asked.journal.suffix == ".py":
        raise PartError(
            f"{str(asked.journal)!r} is a Python file and no journal; `quirkpy explore "
            f"{asked.journal}` makes one of it.",
            code="file",
        )
    modules = (module_of(asked.study).__name__,) if asked.study else ()
    return ReconfigurationGraph.load(asked.journal, modules)


# --- table ----------------------------------------------------------------------------------------
def words_of_table(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy table`."""
    words_of_journal(it)
    it.add_argument("goal", help="a node: its number (n0), its name, or the beginning of its id")
    words_of_cost(it)
    it.add_argument("--out", type=Path, metavar="FILE", help="write it: .csv, .json or .h")


def table(asked: argparse.Namespace) -> Answer:
    """`quirkpy table pair.db n1`: the selection to make next at every node, towards a goal."""
    if asked.out is not None:
        check_writable(asked.out, "table")
    graph = graph_of(asked)
    found = graph.table(asked.goal, asked.cost)
    if asked.out is not None:
        found.save(asked.out)
    rows = [
        {"node": node, "next": target, "potential": choice.potential, "joints": dict(choice.joints)}
        for node, choice, target in found.rows
    ]
    where = "" if asked.out is None else f"\nThe table is in {str(asked.out)!r}."
    return Answer(f"{found}{where}", {"goal": found.goal, "rows": rows})


# --- robustness -----------------------------------------------------------------------------------
def words_of_robustness(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy robustness`."""
    words_of_journal(it)
    it.add_argument("edge", help="an edge by its number: e0 is the first of the graph")
    it.add_argument("--samples", type=count, default=1000, metavar="N", help="(default 1000)")
    it.add_argument("--workers", type=count, default=1, metavar="N", help="processes (default 1)")
    it.add_argument("--target", metavar="NODE", help="what counts as success (default: its own)")
    it.add_argument("--seed", type=int, default=0, metavar="N", help="(default 0)")


def robustness(asked: argparse.Namespace) -> Answer:
    """`quirkpy robustness pair.db e3`: how often an edge reaches its target in perturbed
    simulations."""
    graph = graph_of(asked)
    edge = edge_of(graph, asked.edge)
    found = graph.robustness(
        edge, asked.samples, seed=asked.seed, workers=asked.workers, target=asked.target
    )
    low, high = found.interval()
    data = {
        "edge": asked.edge, "source": edge.source, "target": found.target,
        "samples": found.samples, "successes": found.successes, "interval": [low, high],
        "outcomes": dict(found.outcomes),
    }  # fmt: skip
    words = (
        f"{edge.source} -> {found.target}: {found.successes} of {found.samples} arrive, so with 95 "
        f"% confidence between {low:.3g} and {high:.3g} do"
    )
    return Answer("\n".join([words, *(f"{n} x {what}" for what, n in found.outcomes)]), data)


def edge_of(graph: ReconfigurationGraph, word: str) -> Edge:
    """An edge by its number."""
    number = word.removeprefix("e")
    if not number.isdecimal() or int(number) >= len(graph.edges):
        raise PartError(
            f"{word!r} is no edge; there are e0 to e{len(graph.edges) - 1}, as `report --out "
            "x.json` lists them.",
            code="name",
        )
    return graph.edges[int(number)]


def count(word: str) -> int:
    """A positive integer."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is no number from 1 up")
    return int(word)


# --- merge ----------------------------------------------------------------------------------------
def words_of_merge(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy merge`."""
    it.add_argument("journals", type=Path, nargs="+", help="journals of one study")
    it.add_argument("--study", type=Path, metavar="FILE", help="its file, if it has own classes")
    it.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new journal")


def merge(asked: argparse.Namespace) -> Answer:
    """`quirkpy merge a.db b.db --out ab.db`: all runs of several journals of one study in one."""
    from quirkpy.explore.graph import ReconfigurationGraph

    modules = (module_of(asked.study).__name__,) if asked.study else ()
    graph = ReconfigurationGraph.merge(asked.journals, asked.out, modules)
    data = {"out": str(asked.out), "nodes": len(graph.nodes), "edges": len(graph.edges),
            "coverage": graph.coverage}  # fmt: skip
    tried = f"{100.0 * graph.coverage:.4g} % of the choices tried"
    return Answer(f"{graph!r}, {tried}, is in {str(asked.out)!r}.", data)
