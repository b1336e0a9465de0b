"""What explorations cost: all selections of cubes on a lattice, by one worker and by two."""

from __future__ import annotations

import time

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from demos.lattice import lattice

#: How many cubes are in a row at the start.
CUBES, FEW = (2, 3, 4), (2, 3)
#: What runs come to, and what none should.
KINDS, ODD = ("moved", "stayed", "rejected", "jammed"), ("failed", "never settles")


def explored(n: int, workers: int) -> tuple[qp.ReconfigurationGraph, float]:
    """The graph, and how long it took [s]."""
    begun = time.perf_counter()
    graph = lattice(n, choosing=()).explore(workers=workers, progress=False)
    return graph, time.perf_counter() - begun


def measure(quick: bool) -> Measured:
    """A row for each number of cubes; the last decides."""
    explored(2, 1)  # compiles
    rows: list[list[object]] = []
    figures: dict[str, float] = {}
    for n in FEW if quick else CUBES:
        (one, alone), (two, together) = explored(n, 1), explored(n, 2)
        if one.to_json() != two.to_json():
            raise AssertionError(f"the graphs of {n} cubes differ between one worker and two")
        counts = [one.kinds.get(kind, 0) for kind in KINDS]
        odd = sum(one.kinds.get(kind, 0) for kind in ODD)
        rows.append([f"{n} cubes", len(one.nodes), len(one.edges), *counts, odd, alone, together])
        if n == CUBES[-1]:
            figures["explored with an outcome"] = (len(one.edges) - odd) / len(one.edges)
            figures |= {"explored in [s]": together, "explored by two": alone / together}
    heads = ["all selections", "nodes", "edges", *KINDS, "neither", "1 worker [s]", "2 workers [s]"]
    remark = (
        "Every pair of faces in range free, locked or hinged about either edge, under springs "
        "that open and springs that shut (demos/lattice.py). Neither: runs that failed or never "
        "settled. With two workers the start of the processes is included; their graphs are those "
        "of one worker, to the bit."
    )
    return Measured([Sheet("Exploring", heads, rows, [remark])], figures)
