"""What one acceleration costs: in compiled code, from Python, and at the peers'."""

from __future__ import annotations

import math
from collections.abc import Callable

import numba
import numpy as np

import quirkpy as qp
from benchmarks import peers, problems, trees
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race
from quirkpy.kernels.base.conditions import Conditions
from quirkpy.kernels.tree.evaluation import evaluate
from quirkpy.kernels.tree.model import Model, Scratch

SIZES = (2, 8, 32, 128, 512)
LATTICES = (3, 6, 10)
FOLDS = (2, 3, 6, 10, 20)
#: Beyond this many links MuJoCo takes the time of all the rest, and Pinocchio's data more than ten
#: GB: they hold derivatives of second order, which grow with the cube of the freedoms.
MOST = {"MuJoCo": 128, "Pinocchio": 128}
LOOP = 100


@numba.njit
def _repeat(
    times: int,
    t: float,
    y: np.ndarray,
    model: Model,
    conditions: Conditions,
    scratch: Scratch,
    out: np.ndarray,
) -> None:
    for _ in range(times):
        evaluate(t, y, model, conditions, scratch, out)


def inside(system: qp.Multibody) -> Callable[[], object]:
    """LOOP accelerations in compiled code, as the integrator asks for them."""
    at = system.initial.instant()
    out = np.empty((len(at.r), 6))

    def repeat() -> None:
        with system.clusters.lend() as engine:
            engine.turn_to(at.near)
            _repeat(LOOP, at.t, at.state, engine.model, engine.conditions, engine.scratch, out)

    return repeat


def measure(quick: bool) -> Measured:
    """Open trees against the peers, lattices against an open chain."""
    here = {name: peer for name, peer in peers.present().items() if hasattr(peer, "evaluation")}
    sizes = SIZES[1:4] if quick else SIZES
    rows: list[list[object]] = []
    figures: dict[str, float] = {}
    for name, build in (("ball chain", trees.ball_chain), ("hinge chain", trees.hinge_chain)):
        rows += [_row(name, size, build(size), here, figures) for size in sizes]
        if f"{name} 512" in figures:
            figures[f"growth {name}"] = figures[f"{name} 512"] / figures[f"{name} 8"]
            if "Pinocchio" in here:  # aba grows with the number of links
                aba = figures[f"{name} 128"] / figures[f"{name} 128 / Pinocchio"] * 512.0 / 128.0
                figures[f"{name} 512 / Pinocchio"] = figures[f"{name} 512"] / aba
    panels = trees.hub()
    rows.append(_row("hub with panels", len(panels.links) - 1, panels, here, figures))
    figures["hub per body"] = (
        figures["hub with panels 16"] / 17.0 / (figures["hinge chain 32"] / 32.0)
    )
    heads = [
        "system",
        "size",
        "quirkpy us",
        "per body us",
        "from Python us",
        *(f"{name} us" for name in here),
    ]
    heads += [f"quirkpy / {name}" for name in here] + [f"from Python / {name}" for name in here]
    heads += ["differ by", "CPU / wall"]
    remarks = [
        "quirkpy: in a compiled loop, as its integrator does it; from Python: "
        "`system.acceleration(state)`. Peers are "
        "called from Python: `pin.aba`, `mujoco.mj_forward`. differ by: largest relative "
        "difference between the "
        "programs in the angular acceleration of the first joint. CPU / wall: of all competitors "
        "of a line together. "
        "Empty: too slow (MuJoCo) or too large for the memory (Pinocchio).",
    ]
    sheets = [
        Sheet("One acceleration, open trees", heads, rows, remarks),
        _lattices(figures, quick),
        _folds(figures, quick),
    ]
    return Measured(sheets, figures)


def _row(
    name: str, size: int, tree: trees.Tree, here: dict[str, object], figures: dict[str, float]
) -> list[object]:
    system = trees.system(tree)
    state = system.initial
    works = {"inside": inside(system), "outside": lambda: system.acceleration(state)}
    ours, differs = trees.root(tree, system.acceleration(state)), []
    for peer, module in here.items():
        if size <= MOST.get(peer, size):
            works[peer], theirs = module.evaluation(tree)
            differs.append(float(abs(ours - theirs).max() / max(abs(ours).max(), 1e-3)))
    costs = race(works)
    micro = {peer: 1e6 * cost.wall for peer, cost in costs.items()}
    micro["inside"] /= LOOP
    for peer in here:
        if peer in micro:
            figures[f"{name} {size} / {peer}"] = micro["inside"] / micro[peer]
            figures[f"{name} {size} from Python / {peer}"] = micro["outside"] / micro[peer]
    figures[f"{name} {size}"] = micro["inside"]
    ratio = sum(c.cpu for c in costs.values()) / sum(c.wall for c in costs.values())
    ours_us = [micro["inside"], micro["inside"] / len(tree.links), micro["outside"]]
    shares = [
        micro[which] / micro[peer] if peer in micro else None
        for which in ("inside", "outside")
        for peer in here
    ]
    return [
        name,
        size,
        *ours_us,
        *(micro.get(peer) for peer in here),
        *shares,
        max(differs, default=None),
        ratio,
    ]


def _lattices(figures: dict[str, float], quick: bool) -> Sheet:
    """Cubes joined by hinges and locks in turn: exactness against the dense reference, time against
    a chain."""
    rows: list[list[object]] = []
    chain = trees.system(trees.ball_chain(8))
    for k in LATTICES[:2] if quick else LATTICES:
        system = problems.hinged_lattice(k)
        costs = race(
            {"chain": inside(chain), "lattice": inside(system), "python": system.acceleration}
        )
        ratio = costs["lattice"].wall / costs["chain"].wall
        truth = system.acceleration(evaluator="dense")
        error = float(abs(system.acceleration() - truth).max() / abs(truth).max())
        figures[f"lattice {k}"], figures[f"lattice {k} error"] = ratio, error
        counts = [
            len(system.bodies),
            len(system.initial.instant().rows.phi),
            system.mobility().degrees_of_freedom,
        ]
        micro = [1e6 * costs["lattice"].wall / LOOP, 1e6 * costs["python"].wall]
        rows.append(
            [k, *counts, *micro, ratio, error, costs["lattice"].cpu / costs["lattice"].wall]
        )
    heads = [
        "cubes a side",
        "bodies",
        "rows",
        "freedoms",
        "quirkpy us",
        "from Python us",
        "/ ball chain 8",
    ]
    remarks = ["error: largest difference from the dense evaluator over the largest acceleration."]
    return Sheet(
        "One acceleration, lattices of cubes", [*heads, "error", "CPU / wall"], rows, remarks
    )


def _folds(figures: dict[str, float], quick: bool) -> Sheet:
    """Map folds, half open: time over the number of panels, exactness where the dense reference is
    not too slow."""
    rows: list[list[object]] = []
    chain = trees.system(trees.ball_chain(8))
    for k in FOLDS[:3] if quick else FOLDS:
        system = problems.map_fold(k, k)
        layout = system.clusters.layout
        costs = race({"chain": inside(chain), "fold": inside(system)})
        micro, error = 1e6 * costs["fold"].wall / LOOP, None
        if k <= max(LATTICES):
            truth = system.acceleration(evaluator="dense")
            error = float(abs(system.acceleration() - truth).max() / abs(truth).max())
            figures[f"fold {k} error"] = error
        figures[f"fold {k}"] = costs["fold"].wall / costs["chain"].wall
        way = "merged" if layout.memory else "tree"
        counts = [k * k, len(layout.selection.rows), way]
        rows.append([*counts, micro, micro / k**2, figures[f"fold {k}"], error])
    if f"fold {FOLDS[-1]}" in figures:
        figures["growth of folds"] = math.log(figures["fold 20"] / figures["fold 10"], 4.0)
    heads = ["panels", "rows", "way", "quirkpy us", "per panel us", "/ ball chain 8", "error"]
    return Sheet("One acceleration, map folds", heads, rows, [
        "error: largest difference from the dense evaluator over the largest acceleration.",
    ])  # fmt: skip
