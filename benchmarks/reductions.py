"""What reductions save: four modules of the imaging mission, with and without cameras that tell
quarter turns apart."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from demos.imaging_in_orbit import mission
from demos.imaging_mission import FACES, PLACES, SIDE, modules, quarters, study

#: Runs that are spent where an exploration is not brought to its end.
RUNS, FEW = 300, 40
HEADS = ["imaging mission", "reductions", "nodes", "edges", "runs", "edges per run", "time [s]"]

WORKERS = 2
ORBIT = [
    "demos/imaging_in_orbit.py",
    "nodes",
    "edges",
    "runs",
    "edges per run",
    "time [s]",
    "processor time [s]",
]
TWO = (
    "Two modules are interchangeable, the bus is fixed; one hinge moves at a time. Half the "
    "processor time, the start of both workers included, is the time on an otherwise idle "
    "machine; the target refers to it."
)


class Case(NamedTuple):
    """A part of the study: what is tried, whether cameras tell quarter turns apart, which
    reductions are on, whether it is explored to its end, and the modules before whose cameras
    nothing may come."""

    name: str
    choosing: Sequence[qp.Choosing]
    potentials: Sequence[str]
    cameras: bool
    reductions: Sequence[Any]
    whole: bool
    looking: str = ""


EVERY = ("clusters", "rigid", "symmetry", "cache")
ALL = "none", "together", "apart", "shear"
CASES = {
    "no symmetry": Case("all selections, cameras matter", (), ALL, True, EVERY[:2], False),
    "no body symmetry": Case("all selections, cameras matter", (), ALL, True, EVERY, False),
    "C4": Case("all selections, modules of symmetry C4", (), ALL, False, EVERY, False),
    "whole, C4": Case(
        "one hinge, to the end, modules of symmetry C4",
        (qp.OneHinge(),),
        ALL[1:3],
        False,
        EVERY,
        True,
    ),
    "whole, cameras": Case(
        "one hinge, to the end, cameras matter", (qp.OneHinge(),), ALL[1:3], True, EVERY, True
    ),
    "whole, one looks": Case(
        "the same, nothing may come before the camera of A",
        (qp.OneHinge(),),
        ALL[1:3],
        True,
        EVERY,
        True,
        "A",
    ),
}


def part_of(case: Case) -> qp.Study:
    """The study of a case; any module may stand for any other, where potentials and cameras do not
    tell them apart."""
    fields = study.fields()
    free = [name for name in PLACES if name not in case.looking]
    alike = [["A", "C"], ["B", "D"]] if "shear" in case.potentials else [free]
    turns = {} if case.cameras else dict.fromkeys(PLACES, quarters)
    fields["same"] = qp.SameShape(interchangeable=alike, symmetry=turns)
    fields["choosing"] = case.choosing
    fields["safety"] = [*fields["safety"], *map(camera, case.looking)]
    fields["potentials"] = {name: fields["potentials"][name] for name in case.potentials}
    return qp.Study(fields.pop("system"), **fields)


def camera(name: str) -> qp.KeepOut:
    """A camera in the west face of a module; half a metre before it nothing may come."""
    site = modules[name].site("camera", at=(-0.5 * SIDE, 0.0, 0.0), z=FACES["west"])
    return qp.KeepOut(site, half_angle=0.3, length=0.5)


def explored(case: Case, budget: int | None) -> list[object]:
    """The row of a case: what was found, with how many runs, in what time."""
    begun = time.perf_counter()
    made = part_of(case)
    towards = None if case.whole else made.count
    graph = made.explore(budget=budget, reductions=case.reductions, towards=towards, progress=False)
    runs = len(graph.edges) - sum(graph.saved.values())
    seconds = time.perf_counter() - begun
    on = ", ".join(case.reductions)
    return [
        case.name,
        on,
        len(graph.nodes),
        len(graph.edges),
        runs,
        len(graph.edges) / runs,
        seconds,
    ]


def in_orbit(cameras: int, budget: int | None) -> tuple[list[object], float]:
    """The row of the mission in orbit, with two workers; and the time it would take where both had
    a processor [s]."""
    wall, before = time.perf_counter(), processors()
    graph = mission(cameras).explore(budget=budget, workers=WORKERS, progress=False)
    spent, runs = processors() - before, len(graph.edges) - sum(graph.saved.values())
    name = "cameras in all side faces" if cameras == 4 else "a camera in one face"
    counts = [len(graph.nodes), len(graph.edges), runs, len(graph.edges) / runs]
    return [name, *counts, time.perf_counter() - wall, spent], spent / WORKERS


def processors() -> float:
    """Processor time of this process and of all that it has started and that have ended [s]."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def measure(quick: bool) -> Measured:
    """A row for each case; quick: none is brought to its end."""
    rows, figures = [], {}
    for name, case in CASES.items():
        rows.append(explored(case, FEW if quick else None if case.whole else RUNS))
        figures[f"edges per run, {name}"] = float(rows[-1][5])  # type: ignore[arg-type]
    spent = FEW if quick else RUNS
    remark = (
        "Choices answered for each run that is made (demos/imaging_mission.py), shapes with few "
        f"choices first. Explorations of all selections end after {spent} runs; the further they "
        "go, the more outcomes are already known. All modules have the same mass, shape and "
        "faces, so that runs are shared among them whatever their cameras see, also where nothing "
        "may come in front of these: one run determines for each edge whether this happens."
    )
    flown = []
    for cameras in (4, 1):
        row, figures[f"in orbit, {cameras}"] = in_orbit(cameras, FEW if quick else None)
        flown.append(row)
    orbit = Sheet("The mission in orbit, to the end, with two workers", ORBIT, flown, [TWO])
    return Measured([Sheet("Reductions", HEADS, rows, [remark]), orbit], figures)
