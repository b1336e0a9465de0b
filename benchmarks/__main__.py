"""What one acceleration costs: ``python -m benchmarks [--quick] [--out FILE]``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import quirkpy as qp
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.tables import table

#: name -> one evaluation of a system's acceleration.  A new evaluator, or another program, is a line here.
EVALUATORS: dict[str, Callable[[qp.Multibody], object]] = {
    "dense": lambda system: system.acceleration(evaluator="dense"),
    "literal": lambda system: system.acceleration(evaluator="literal"),
}
#: The evaluator that the ratios refer to.
REFERENCE = "dense"


def seconds(work: Callable[[], object], at_least: float) -> float:
    """The best of repeated calls, after one that warms up; stops when `at_least` seconds have gone by."""
    work()
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < at_least:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def row(problem: Problem, size: int, patience: float) -> list[object]:
    """Size, bodies, rows, milliseconds to build, microseconds of each evaluator, ratios to the reference."""
    system = problem.build(size)
    build = seconds(lambda: qp.Multibody(*system.parts).tables, patience)
    costs = {name: 1e6 * seconds(lambda run=run: run(system), patience) for name, run in EVALUATORS.items()}
    ratios = [cost / costs[REFERENCE] for name, cost in costs.items() if name != REFERENCE]
    numbers = [1e3 * build, *costs.values(), *ratios]
    return [size, len(system.bodies), len(system.initial.instant().rows.phi), *numbers]


def report(quick: bool) -> str:
    heads = ["bodies", "rows", "build ms", *(f"{name} us" for name in EVALUATORS)]
    heads += [f"{name} / {REFERENCE}" for name in EVALUATORS if name != REFERENCE]
    tables = []
    for problem in PROBLEMS:
        sizes = problem.sizes[:2] if quick else problem.sizes
        rows = [row(problem, size, 0.02 if quick else 0.5) for size in sizes]
        tables.append(table(f"{problem.name}: one acceleration", [problem.unit, *heads], rows))
    return "\n\n".join(tables)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only, a second or two")
    parser.add_argument("--out", type=Path, help="write the tables to this file as well")
    given = parser.parse_args(words)
    text = report(given.quick)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
