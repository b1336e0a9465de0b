"""What it costs to fly an edge many times, against bare simulation of the same starts."""

from __future__ import annotations

import quirkpy as qp
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race
from demos.cubesat_pair import pair
from quirkpy.explore.answers.robustness import Flights, goals_of

#: Samples of one turn, and what is drawn for each.
SAMPLES, SPREAD = 200, qp.Spread(start=1e-3, speed=1e-5, mass=0.01, strength=0.02, hinge=1e-5)


def flights_of(judged: bool) -> Flights:
    """The edge of two modules that swings half a turn and locks, with the safety of its study or
    with none."""
    fields = pair(0.2).fields()
    study = qp.Study(fields.pop("system"), **fields | ({} if judged else {"safety": []}))
    graph = study.explore()
    edge = next(edge for edge in graph.moves() if edge.contacts)
    return Flights(
        study,
        graph.nodes[edge.source],
        edge.selection,
        edge.nudge,
        goals_of(graph),
        1e-2,
        edge.target,
    )


def measure(quick: bool) -> Measured:
    """A row with judging, which decides, and one without."""
    judged, free = flights_of(True), flights_of(False)
    varied, some = judged.variations, range(SAMPLES // (10 if quick else 1))
    rule = judged.study.settle
    starts = [varied.state(x) for x in varied.draw(SPREAD, 0, some)]

    def bare() -> None:
        for start in starts:
            varied.system.at(start).simulate(
                1e7, stop=[qp.SensorsMeet()], progress=False, rtol=rule.rtol, atol=rule.atol
            )

    flown = {"with safety": judged, "without": free}
    works = {
        name: lambda flights=flights: flights.count(SPREAD, 0, some)
        for name, flights in flown.items()
    }
    each = {name: cost.cpu / len(some) for name, cost in race({"bare": bare, **works}).items()}
    rows: list[list[object]] = [
        [name, 1e3 * each["bare"], 1e3 * each[name], 1.0 / each[name], each["bare"] / each[name]]
        for name in flown
    ]
    heads = [
        "an edge of two modules",
        "simulate [ms]",
        "sample [ms]",
        "samples/s",
        "simulate / sample",
    ]
    remark = (
        "A sample is drawn, gets masses, strengths and a hinge of its own, is simulated, judged "
        "and identified; simulate only simulates the same starts, each put into the system by "
        "at(). Safety is also checked between stored states."
    )
    return Measured(
        [Sheet("Robustness", heads, rows, [remark])],
        {"robustness": each["bare"] / each["with safety"]},
    )
