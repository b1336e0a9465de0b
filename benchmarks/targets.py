"""What the project wants to reach, and whether it does."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from benchmarks.cubes import LOOKS, WORDS
from benchmarks.tables import Sheet


class Target(NamedTuple):
    """Words, the figure that decides, the bound, and on which side of it the figure must lie."""

    words: str
    figure: str
    sense: Literal["<=", ">="]
    bound: float

    def verdict(self, figures: dict[str, float]) -> list[object]:
        """A row of the sheet."""
        value = figures.get(self.figure)
        if value is None or math.isnan(value):
            words = "not measured" if value is None else "missed: quirkpy does not get that exact"
            return [self.words, f"{self.sense} {self.bound:g}", "-", words]
        off = value / self.bound if self.sense == "<=" else self.bound / value
        words = "met" if off <= 1.0 else f"missed by a factor of {off:.3g}"
        return [self.words, f"{self.sense} {self.bound:g}", f"{value:.3g}", words]


def _evaluations() -> list[Target]:
    out = []
    for chain, inside, outside in (("ball chain", 0.3, 0.6), ("hinge chain", 0.4, 0.8)):
        out += [
            Target(
                f"one evaluation, {chain} {n}, against Pinocchio's {aba}",
                f"{chain} {n} / Pinocchio",
                "<=",
                inside,
            )
            for n, aba in ((8, "aba"), (32, "aba"), (128, "aba"), (512, "aba at 128 times four"))
        ]
        name = f"{chain} 128 from Python / Pinocchio"
        out.append(Target(f"the same from Python, {chain} 128", name, "<=", outside))
        out.append(Target(f"{chain}: 512 links against 8", f"growth {chain}", "<=", 70.0))
    out.append(
        Target("hub with 16 panels, per body, against hinge chain 32", "hub per body", "<=", 1.2)
    )
    for k, bound in ((3, 7.0), (6, 70.0), (10, 1000.0)):
        out.append(Target(f"lattice {k} x {k}, against ball chain 8", f"lattice {k}", "<=", bound))
        out.append(Target(f"lattice {k} x {k}, relative error", f"lattice {k} error", "<=", 1e-9))
    for k in (3, 6, 10):
        out.append(Target(f"map fold {k} x {k}, relative error", f"fold {k} error", "<=", 1e-9))
    out.append(Target("map folds of 100 to 400 panels, exponent", "growth of folds", "<=", 1.4))
    return out


def _motions() -> list[Target]:
    out = [
        Target(f"{chain} 8, 5 s to 1e-8 m, faster than {peer} by", f"{chain}: {peer}", ">=", 12.0)
        for chain in ("ball chain", "hinge chain")
        for peer in ("MuJoCo RK4", "the best of all peers")
    ]
    for name, bound in (("Pinocchio", 10.0), ("Exudyn", 2.0)):
        words = f"40 four-bars, 10 s to 1e-8 rad, faster than {name} by"
        out.append(Target(words, f"four-bars 40 / {name}", ">=", bound))
    for side in (3, 6):
        sheet = f"sheet of {side} x {side} panels, 10 s of opening"
        words = f"{sheet}, faster than the printed method by"
        out.append(Target(words, f"sheet {side} / as", ">=", 1000.0))
        out.append(Target(f"{sheet}, largest gap [m]", f"sheet {side} gap", "<=", 1e-12))
    for words, built, selected in zip(LOOKS, (8.0, 6.0), (16.0, 12.0), strict=True):
        peer = f"two cubes, {{}}, faster than MuJoCo {{}} ({words}) by"
        for how, integrator, bound in (
            ("built", "Euler", built),
            ("selected", "Euler", selected),
            ("selected", "RK4", 20.0),
        ):
            figure = f"cubes {how} / MuJoCo {integrator}, {words}"
            out.append(Target(peer.format(WORDS[how], integrator), figure, ">=", bound))
    out.append(Target("two cubes, error of the end angle [rad]", "cubes error", "<=", 1e-7))
    return out


def _flexible() -> list[Target]:
    out = []
    for name, ratio in (("four bodies", 2.0), ("sail", 5.0)):
        words = f"{name} that bend, faster than a dense mass matrix by"
        out.append(Target(words, f"{name}: Kane / quirkpy", ">=", ratio))
        words = f"{name} that bend, times less than the paper's time"
        out.append(Target(words, f"{name}: the paper's time / quirkpy", ">=", 20.0))
    out.append(Target("bodies that bend, exponent of growth", "flexible: exponent", "<=", 1.05))
    words = "panels that bend, to 1e-6 m, faster than Exudyn by"
    out.append(Target(words, "panels: Exudyn / quirkpy", ">=", 5.0))
    return out


TARGETS = [
    *_evaluations(),
    *_motions(),
    Target(
        "two cubes, many in one call to 1e-7 rad, runs/s of a thread", "many, runs/s", ">=", 25e3
    ),
    Target("the same, faster than mujoco.batch Euler by", "many / mujoco.batch", ">=", 15.0),
    Target("the same, two threads faster than one by", "many, two threads", ">=", 1.8),
    Target(
        "a PD in Python at 10 Hz on a bus with an arm, against no control",
        "bus and arm, in Python, against no control",
        "<=",
        3.0,
    ),
    Target("the same, compiled", "bus and arm, compiled, against no control", "<=", 3.0),
    Target(
        "the same, compiled, against its commands as schedules",
        "bus and arm, compiled, against schedules",
        "<=",
        1.5,
    ),
    Target("laws of a coordinate, the dearest against a sprung hinge", "dearest law", "<=", 1.3),
    Target("functions of time, the dearest against a constant", "dearest function", "<=", 1.3),
    Target(
        "601 states of a chain, all loads and momenta [ms]", "601 states of a chain", "<=", 20.0
    ),
    Target(
        "601 states of a manipulator in redundant loops [ms]",
        "601 states of redundant loops",
        "<=",
        20.0,
    ),
    Target(
        "spring as a compiled law, against the built-in one",
        "spring between two cubes, compiled law",
        "<=",
        1.3,
    ),
    Target(
        "well as a compiled law, against the built-in one",
        "well on a hinged cube, compiled law",
        "<=",
        1.3,
    ),
    *_flexible(),
    Target(
        "two cubes, settled and certified, against their simulation", "settle / simulate", "<=", 2.5
    ),
    Target(
        "all selections of four cubes, share with an outcome", "explored with an outcome", ">=", 1.0
    ),
    Target("all selections of four cubes, two workers [s]", "explored in [s]", "<=", 5.0),
    Target("the same, faster with two workers than with one by", "explored by two", ">=", 1.8),
    Target(
        "exploring four modules: share beyond simulating and certifying",
        "explore, beyond",
        "<=",
        0.3,
    ),
    Target(
        "exploring four modules: runs/s of a worker against simulate + settle by hand",
        "explore, by hand",
        ">=",
        0.7,
    ),
    Target("exploring four modules: runs/s of a worker", "explore, runs/s", ">=", 400.0),
    Target("the same, share of the time in compiled steps", "explore, compiled", ">=", 0.5),
    Target("exploring with 2 workers, faster than with 1 by", "explore, 2 workers", ">=", 1.8),
    Target(
        "cubesat_pair, from nothing to its graph, after the import [s]", "pair, warm", "<=", 1.0
    ),
    Target(
        "memory that one more run takes in the workers [kB]", "explore, workers grow", "<=", 1.0
    ),
    Target("memory that one more edge takes while exploring [kB]", "explore, an edge", "<=", 1.0),
    Target("memory, graph loaded from a journal of 1e5 edges [MB]", "explore, loaded", "<=", 300.0),
    Target("samples of an edge, with safety, against bare simulation", "robustness", ">=", 0.8),
    Target(
        "share of the time in which 2 workers run, runs of milliseconds",
        "utilisation, tasks of about 0.2 s",
        ">=",
        0.8,
    ),
    Target(
        "edges per run, imaging mission, modules without symmetry",
        "edges per run, no body symmetry",
        ">=",
        2.5,
    ),
    Target("the same, modules of symmetry C4", "edges per run, C4", ">=", 4.0),
    Target("the same to the end, cameras matter", "edges per run, whole, cameras", ">=", 20.0),
    Target("the same, one camera must see nothing", "edges per run, whole, one looks", ">=", 20.0),
    Target("mission in orbit to the end, 2 free processors, C4 [s]", "in orbit, 4", "<=", 5.0),
    Target("the same, cameras matter [s]", "in orbit, 1", "<=", 600.0),
    Target("import, against that of the libraries alone", "import", "<=", 1.5),
    Target("import and first simulation, warm cache [s]", "first run, warm", "<=", 2.0),
    Target("first simulation, empty cache [s]", "first run, cold", "<=", 20.0),
    Target("lines that say that it compiles once, empty cache", "lines, cold", ">=", 1.0),
    Target(
        "kernels of `make run`, empty cache, two processes [s]", "kernels of a study", "<=", 25.0
    ),
    Target("a wheel: import and first simulation [s]", "first run, wheel", "<=", 2.0),
    Target("a wheel: import and first exploration [s]", "first exploration, wheel", "<=", 4.0),
    Target("memory, ball chain 512, 10 s, all states kept [MB]", "memory 512, all", "<=", 320.0),
    Target("the same, both ends kept [MB]", "memory 512, ends", "<=", 300.0),
]


def sheet(figures: dict[str, float], everything: bool = True) -> Sheet:
    """All targets, or those for which there is a figure."""
    rows = [target.verdict(figures) for target in TARGETS if everything or target.figure in figures]
    return Sheet("Targets", ["what", "target", "measured", "verdict"], rows)
