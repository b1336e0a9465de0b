"""What an exploration costs beside its motions, what a second worker brings, and how much memory a
graph takes.

Processor time is counted, where a wall clock would count whatever else the machine does.
"""

from __future__ import annotations

import functools
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.by_hand import ByHand
from benchmarks.startup import process
from benchmarks.tables import Measured, Sheet

#: What is timed: function of a module or method of a class, and what it is part of.  The setting up
#: of what moves (equations of locked clusters, faces on which a start presses, sensors that take
#: hold) is part of its simulation.
SIMULATING, STEPPING, CHOOSING, JUDGING, IDENTIFYING, COMMITTING = (
    "simulating and certifying", "compiled steps of that", "choosing", "judging", "identifying",
    "committing",
)  # fmt: skip
RUNNER = {
    SIMULATING: (
        "settle",
        "run_to_rest",
        "rigid",
        "nudge_along",
        "Vicinity",
        "stand",
        "lock_in_range",
        "assemble",
    ),
    CHOOSING: ("begin",),
    JUDGING: ("judge", "measure"),
    IDENTIFYING: ("record_of",),
}
#: Runs that warm up, runs that are measured, of the mission of four modules; runs that both counts
#: of workers share.
WARM, RUNS, SHARED = 700, 1200, 200
EDGES, FEW_EDGES = 100_000, 20_000
#: Runs after which memory is read.  Between the last two workers must not grow: by then all is
#: there that is needed now and then.  The process that explores grows by its graph, from the first
#: to the last.
MARKS = 1000, 4000, 10_000
#: How far a module lies aside in a made-up shape, by one, two or three such steps [m]: another
#: shape, in range still.
ASIDE = 2.5e-4

PAIR = """
import time
import quirkpy
from demos.cubesat_pair import study
begin = time.process_time()
graph = study.explore(progress=False)
assert len(graph.nodes) == 2
print(time.process_time() - begin)
"""
WORKERS = """
import json, resource, tempfile, time
from demos.imaging_mission import study
def spent():
    both = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    mine, others = (resource.getrusage(who) for who in both)
    return time.perf_counter(), mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime
if __name__ == "__main__":
    study.explore(budget=8, progress=False)
    marks = [spent()]
    for budget in ({shared}, {runs}):
        with tempfile.TemporaryDirectory() as folder:
            study.explore(folder + "/mission.db", budget=budget, workers={workers}, progress=False)
        marks.append(spent())
    (a, b, c) = marks
    print(json.dumps([(c[k] - b[k]) - (b[k] - a[k]) for k in (0, 1)]))
"""
RESIDENT = r"""
import pathlib, re
def resident(what="VmRSS", process="self"):
    said = pathlib.Path("/proc/" + str(process) + "/status").read_text()
    return int(re.search(what + r":\s*(\d+)", said)[1]) / 1024.0
"""
GROWTH = (
    RESIDENT
    + """
import json, multiprocessing
from demos.imaging_mission import study
marks, seen = {marks}, []
def tell(count):
    if marks and count.runs >= marks[0]:
        del marks[0]
        workers = [resident(process=worker.pid) for worker in multiprocessing.active_children()]
        seen.append((count.runs, count.edges, resident(), sum(workers)))
if __name__ == "__main__":
    study.explore(workers=2, budget=marks[-1], progress=tell)
    print(json.dumps(seen))
"""
)
LOADED = (
    RESIDENT
    + """
import json, time
import quirkpy as qp
before, begin = resident(), time.process_time()
graph = qp.ReconfigurationGraph.load({path!r})
counts = len(graph.nodes), len(graph.edges)
print(json.dumps([before, resident("VmHWM"), *counts, time.process_time() - begin]))
"""
)


def measure(quick: bool) -> Measured:
    """The sheets."""
    figures: dict[str, float] = {}
    runs = RUNS if not quick else RUNS // 3
    marks = [runs // 4, runs // 2, runs] if quick else list(MARKS)
    memory = _memory(marks, FEW_EDGES if quick else EDGES, figures)
    sheets = [_shares(runs, figures), _workers(runs, figures), memory]
    return Measured(sheets, figures)


# --- what is not simulated ------------------------------------------------------------------------
class Clocks:
    """Processor time by name; what runs within another is taken off that [s]."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.within: list[float] = []

    def timed(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The function, with its time noted."""

        @functools.wraps(function)
        def noted(*args: Any, **named: Any) -> Any:
            self.within.append(0.0)
            begin = time.process_time()
            try:
                return function(*args, **named)
            finally:
                took, inner = time.process_time() - begin, self.within.pop()
                self.spent[name] = self.spent.get(name, 0.0) + took - inner
                if self.within:
                    self.within[-1] += took

        return noted


@contextmanager
def clocks() -> Iterator[Clocks]:
    """Clocks on all that an exploration consists of."""
    from quirkpy.explore import explorer
    from quirkpy.explore.run import runner
    from quirkpy.motion import driver

    found = Clocks()
    wanted = [(runner, name, part) for part, names in RUNNER.items() for name in names]
    wanted += [(explorer.Known, "place", IDENTIFYING), (explorer.Journal, "add", COMMITTING)]
    with ExitStack() as stack:
        for home, name, part in wanted:
            before = getattr(home, name)
            stack.callback(setattr, home, name, before)
            setattr(home, name, found.timed(before, part))
        stack.callback(setattr, driver, "ADVANCE", driver.ADVANCE)
        driver.ADVANCE = SimpleNamespace(run=found.timed(driver.ADVANCE.run, STEPPING))
        yield found


def _shares(runs: int, figures: dict[str, float]) -> Sheet:
    """Of the processor time of an exploration, what each part takes."""
    from demos.imaging_mission import study

    study.explore(budget=runs if runs < RUNS else WARM, towards=study.count, progress=False)
    with clocks() as found:
        begin = time.process_time()
        graph = study.explore(budget=runs, towards=study.count, progress=False)
        total = time.process_time() - begin
    assert graph.kinds.get("failed", 0) == 0
    figures["explore, compiled"] = stepping = found.spent[STEPPING] / total
    figures["explore, beyond"] = 1.0 - found.spent[SIMULATING] / total - stepping
    parts = [*found.spent.items(), ("all else", total - sum(found.spent.values()))]
    rows = [[name, 1e3 * spent / runs, f"{100.0 * spent / total:.1f} %"] for name, spent in parts]
    kinds = ", ".join(f"{count} {kind}" for kind, count in graph.kinds.items())
    remark = (
        f"{runs} runs of demos/imaging_mission.py, which answer for {len(graph.edges)} choices: "
        f"{kinds}. Processor time. Simulating includes setting up the equations of motion, finding "
        "the faces that carry a load at the start, and capturing bodies at their sensors."
    )
    return Sheet("Exploring: four modules", ["part", "a run [ms]", "share"], rows, [remark])


# --- workers, and the smallest study --------------------------------------------------------------
def beside(runs: int, first: int) -> tuple[float, float]:
    """Processor time of so many runs beyond the first ones, explored into a journal, and by hand
    [s]: run by run in turns."""
    from demos.imaging_mission import study

    hand, explored, begun = ByHand(study), 0.0, time.process_time()

    def tell(count: Any) -> None:
        nonlocal explored, begun
        explored += time.process_time() - begun
        hand.settle()
        if count.runs <= first:
            explored = hand.seconds = 0.0
        begun = time.process_time()

    with tempfile.TemporaryDirectory() as folder, hand.noting():
        study.explore(Path(folder) / "mission.db", budget=runs, progress=tell)
    return explored + time.process_time() - begun, hand.seconds


def _workers(runs: int, figures: dict[str, float]) -> Sheet:
    """One worker and two; and the pair of CubeSats from nothing to its graph."""
    explored, bare = beside(runs, SHARED)
    figures["explore, by hand"] = bare / explored
    rate = (runs - SHARED) / bare
    rows: list[list[object]] = [
        [
            "simulate and settle, by hand",
            f"{rate:.1f} runs/s",
            "of a processor; the same runs, one system after another",
        ],
        [
            "1 worker, beside that",
            f"{rate * bare / explored:.1f} runs/s",
            f"of a processor: {bare / explored:.2f} x",
        ],
    ]
    spent = {}
    for workers in (1, 2):
        text = process(WORKERS.format(shared=SHARED, runs=runs, workers=workers))[0]
        wall, cpu = spent[workers] = json.loads(text)
        figures.setdefault("explore, runs/s", (runs - SHARED) / cpu)
        note = f"{cpu:.1f} s of the processors: {(runs - SHARED) / cpu:.1f} runs/s and worker"
        rows.append([f"{workers} worker{'s' * (workers > 1)}", f"{wall:.1f} s", note])
    seen, could = spent[1][0] / spent[2][0], 2.0 * spent[1][1] / spent[2][1]
    figures["explore, 2 workers"] = could
    rows.append(["2 against 1, by the clock", f"{seen:.2f} x", "on the machine as busy as it was"])
    rows.append(
        [
            "2 against 1, by the processors",
            f"{could:.2f} x",
            "if both processors had been free for it",
        ]
    )
    process(PAIR)
    figures["pair, warm"] = min(float(process(PAIR)[0]) for _ in range(3))
    rows.append(
        [
            "cubesat_pair, nothing to graph",
            f"{figures['pair, warm']:.2f} s",
            "of a processor, after the import, warm cache",
        ]
    )
    remark = (
        f"Times of {runs - SHARED} more runs beyond the first {SHARED}, with a journal: the start "
        "of the workers, which import everything, is not included. By the processors: twice the "
        "processor time of one worker over that of all processes with two. The target refers to "
        "this ratio, because wall times are not meaningful on a busy machine; it excludes the "
        "waiting time of workers. By hand every piece of these runs is selected, or made where "
        "joints capture bodies, and settled from its initial state: run by run, in turns with the "
        "exploration, which also judges, identifies and stores, and answers for further choices."
    )
    return Sheet("Exploring: workers", ["what", "measured", "note"], rows, [remark])


# --- memory ---------------------------------------------------------------------------------------
def _memory(marks: list[int], edges: int, figures: dict[str, float]) -> Sheet:
    """What more runs add, to workers and to the process that explores, and a large graph from a
    journal."""
    (_, few, early, new), (first, _, _, young), (last, many, late, old) = json.loads(
        process(GROWTH.format(marks=marks))[0]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "synthetic.db")
        synthetic(path, edges)
        start, peak, nodes, count, took = json.loads(process(LOADED.format(path=path))[0])
    figures["explore, workers grow"] = 1e3 * (old - young) / (last - first)
    figures["explore, an edge"] = edge = 1e3 * (late - early) / (many - few)
    figures["explore, loaded"] = peak
    rows: list[list[object]] = [
        [f"2 workers, {last - first} more runs", f"{old - young:.1f} MB",
         f"{new:.0f} MB after {marks[0]}, {young:.0f} MB after {first}"],
        [f"the process that explores, {many - few} more edges", f"{late - early:.1f} MB",
         f"{early:.0f} MB after the first {few}; {edge:.2f} kB an edge"],
        [f"{count} edges between {nodes} shapes, from a journal", f"{peak:.0f} MB",
         f"{start:.0f} MB before; {took:.0f} s"],
    ]  # fmt: skip
    remark = "Resident memory; of the graph from a journal the peak."
    return Sheet("Exploring: memory", ["what", "measured", "note"], rows, [remark])


def synthetic(path: Any, edges: int) -> None:
    """A journal of so many runs of the mission, or some more, in which one module lies a little
    aside, each time in another place: all its faces stay in range, so that every shape has as many
    choices as the block."""
    from demos.imaging_mission import study
    from quirkpy.explore.journal import Journal
    from quirkpy.explore.model.graph import Outcome, node_of
    from quirkpy.explore.run.records import Record
    from quirkpy.explore.run.runner import start_record

    start, bodies = start_record(study), study.system.bodies
    choices = [choice.key for choice in study.choices(node_of(start, 0, bodies))]
    shapes = [start]
    for place in itertools.islice(
        itertools.product((0, 1, -1, 2, -2), repeat=3), 1, -(-edges // len(choices))
    ):
        x, y, z = (ASIDE * c for c in place)
        r = [list(row) for row in start["r"]]
        r[-1] = [r[-1][0] + x, r[-1][1] + y, r[-1][2] + z]
        shapes.append(start | {"r": r})
    with Journal(path) as journal:
        journal.open_for(study.digest, study.document())
        journal.note("reductions", "[]")
        journal.note("start", json.dumps(start))
        for k, shape in enumerate(shapes):
            node = node_of(shape, k, bodies).id
            journal.base.execute("BEGIN")
            for n, choice in enumerate(choices):
                reached = shapes[n] if k == 0 and n < len(shapes) else None
                kind = "rejected" if reached is None else "moved"
                outcome = Outcome(kind, None, "made up", 1.0 + n, 1e-3 * n, parts=("A", "B"))
                journal.add(node, choice, Record((outcome,), (reached,)))
            journal.base.execute("COMMIT")
