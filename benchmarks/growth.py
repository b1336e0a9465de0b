"""How explorations grow with the number of modules, and runs a second with the number of cores:
two plots."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import quirkpy as qp
from benchmarks.cubes import build
from benchmarks.many import OURS, many
from benchmarks.precision import MARKERS
from benchmarks.tables import Measured, Sheet
from demos.lattice import lattice
from quirkpy import PartError
from quirkpy.views.drawing import LINES, Drawing, blank, style

#: Modules in a row, of which one hinge at a time gives way, and runs at most; the same in haste.
MODULES, MOST = range(2, 9), 120
FEW_MODULES, FEW = range(2, 6), 60
#: So many modules explore all selections by one worker and by several, in so many runs; runs of one
#: call.
SHARED, RUNS, TOGETHER = 4, 1000, 2000


class Spent(NamedTuple):
    """What something took: seconds of the clock, and of processors."""

    wall: float
    cpu: float


class Growth(NamedTuple):
    """An exploration: its graph, how many runs it took, whether it came to its end, and what that
    cost."""

    graph: qp.ReconfigurationGraph
    runs: int
    ended: bool
    spent: Spent


def spent_on(work: Callable[[], Any]) -> tuple[Any, Spent]:
    """What work returns, and what it took, its processes included."""
    wall, cpu = time.perf_counter(), _processor_time()
    found = work()
    return found, Spent(time.perf_counter() - wall, _processor_time() - cpu)


def _processor_time() -> float:
    used = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in used)


def explored(study: qp.Study, most: int, workers: int = 1) -> Growth:
    """An exploration of so many runs at most."""
    counts: list[qp.Count] = []
    graph, spent = spent_on(
        lambda: study.explore(budget=most, workers=workers, progress=counts.append)
    )
    return Growth(graph, counts[-1].runs, graph.coverage == 1.0, spent)


def measure(quick: bool, out: Path | None = None) -> Measured:
    """Two sheets, and both plots where there is a folder for them."""
    modules, most = (FEW_MODULES, FEW) if quick else (MODULES, MOST)
    explored(lattice(2), FEW)  # compiles, or reads what was
    grown = {n: explored(lattice(n), most) for n in modules}
    rates = rates_of_cores(most if quick else RUNS)
    if out is not None:
        plot(grown, rates, out / "growth.png")
    return Measured([_growth_sheet(grown), _cores_sheet(rates)], {})


def _growth_sheet(grown: dict[int, Growth]) -> Sheet:
    rows: list[list[object]] = [
        [f"{n} modules", len(g.graph.nodes), len(g.graph.edges), g.runs, "yes" if g.ended else "no",
         g.spent.cpu, 1e3 * g.spent.cpu / max(1, g.runs)]
        for n, g in grown.items()
    ]  # fmt: skip
    heads = ["in a row", "nodes", "edges", "runs", "to the end", "time [s]", "a run [ms]"]
    remark = (
        "demos/lattice.py, one hinge at a time, one worker; all runs, or so many. Time of a "
        "processor: what shares it with others is not in it, but for their use of caches."
    )
    return Sheet("Exploring: from two modules to eight", heads, rows, [remark])


def rates_of_cores(most: int) -> dict[str, dict[int, Spent]]:
    """What one run takes, by the number of cores that share them."""
    cores, system = range(1, 1 + (os.cpu_count() or 1)), build()
    study = lattice(SHARED, choosing=())
    found: dict[str, dict[int, Spent]] = {"explorations": {}, "simulate_many": {}}
    for n in cores:
        grown = explored(study, most, n)
        found["explorations"][n] = _of_one(grown.spent, grown.runs)
        work = many(system, TOGETHER, OURS[0], n, False)
        work()
        found["simulate_many"][n] = _of_one(spent_on(work)[1], TOGETHER)
    return found


def _of_one(spent: Spent, runs: int) -> Spent:
    return Spent(spent.wall / runs, spent.cpu / runs)


def _cores_sheet(rates: dict[str, dict[int, Spent]]) -> Sheet:
    rows: list[list[object]] = [
        [what, n, 1.0 / one.wall, n / one.cpu]
        for what, by in rates.items()
        for n, one in by.items()
    ]
    heads = ["what", "cores", "runs/s by the clock", "runs/s, were all cores free"]
    remark = (
        f"Explorations: all selections of {SHARED} cubes, the start of the workers included. "
        "simulate_many: two cubes to 1e-7 rad. Were all cores free: so many cores over the "
        "processor time of a run."
    )
    return Sheet("Runs a second against cores", heads, rows, [remark])


def plot(grown: dict[int, Growth], rates: dict[str, dict[int, Spent]], path: Path) -> None:
    """Both plots side by side; nothing where matplotlib is missing."""
    try:
        drawing = drawn(grown, rates)
    except PartError as missing:
        print(f"No plot: {missing}")
        return
    drawing.save(path)


def drawn(grown: dict[int, Growth], rates: dict[str, dict[int, Spent]]) -> Drawing:
    """Time against modules, and runs a second against cores."""
    with style("plot"):
        figure = blank(9.2, 4.0, "constrained")
        modules, cores = list(figure.subplots(1, 2, squeeze=False).flat)
        for k, (label, values) in enumerate(_lines_of(grown).items()):
            modules.semilogy(list(grown), values, color=LINES[k], marker=MARKERS[k], label=label)
        modules.set(xlabel="modules in a row", title="explorations, one hinge at a time")
        modules.legend()
        for k, (what, by) in enumerate(rates.items()):
            for sort, dash in (("were all free", "-"), ("by the clock", ":")):
                line = [n / s.cpu if dash == "-" else 1.0 / s.wall for n, s in by.items()]
                cores.semilogy(
                    list(by), line, dash, color=LINES[k], marker=MARKERS[k],
                    label=f"{what}, {sort}",
                )  # fmt: skip
        cores.set(xlabel="cores", ylabel="runs a second", title="runs a second against cores")
        cores.set_xticks(sorted({n for by in rates.values() for n in by}))
        cores.legend()
    return Drawing(figure)


def _lines_of(grown: dict[int, Growth]) -> dict[str, list[float]]:
    """What is drawn over the number of modules."""
    most = max(g.runs for g in grown.values())
    return {
        f"all, or {most} runs [s]": [g.spent.cpu for g in grown.values()],
        "one run [s]": [g.spent.cpu / max(1, g.runs) for g in grown.values()],
    }
