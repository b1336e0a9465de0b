"""Distances of solids, beside coal and python-fcl where these are installed, and clearances along
whole runs: ``python -m benchmarks.distances``."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import quirkpy as qp
from benchmarks.tables import table
from benchmarks.timing import race
from quirkpy.clearance.clearances import Clearances, clearances
from quirkpy.kernels.solid.distance import ANSWER_WIDTH, GAP, distances
from quirkpy.kernels.solid.solids import POSE_WIDTH, fill_poses, solids
from quirkpy.maths import quat
from quirkpy.maths.triples import NO_TURN

SHAPES = {
    "sphere": qp.Sphere(0.5),
    "box": qp.Box((1.0, 0.8, 0.6)),
    "cylinder": qp.Cylinder(0.4, 1.0, axis="z"),
}
#: Distances of centres: far apart, close by, within each other.
SPREADS = {"apart": 2.5, "near": 1.1, "overlapping": 0.6}


def places(count: int, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Centres of the second solids, and rotation matrices of both (2, count, 3, 3)."""
    rng = np.random.default_rng(seed)
    d, q = rng.normal(size=(count, 3)), rng.normal(size=(2, count, 4))
    q /= np.linalg.norm(q, axis=2)[..., None]
    turns = np.array(
        [[np.reshape(quat.rotation_matrix(*four), (3, 3)) for four in row] for row in q]
    )
    return spread * d / np.linalg.norm(d, axis=1)[:, None], turns


def ours(
    one: str, two: str, at: np.ndarray, turns: np.ndarray
) -> tuple[Callable[[], object], np.ndarray]:
    """A call that measures all pairs, and the array that it fills."""
    count = len(at)
    rows = [
        (k, SHAPES[one if k < count else two], (0.0, 0.0, 0.0), NO_TURN) for k in range(2 * count)
    ]
    made, frames = solids(rows), np.zeros((2 * count, 18))
    frames[count:, :3], frames[:, 6:15] = at, turns.reshape(-1, 9)
    poses, out = np.zeros((2 * count, POSE_WIDTH)), np.zeros((count, ANSWER_WIDTH))
    fill_poses(made, frames, poses)
    pairs = np.stack([np.arange(count), np.arange(count) + count], axis=1)
    return lambda: distances(pairs, made, poses, out), out


def shape_in(library: Any, shape: qp.Shape) -> Any:
    if isinstance(shape, qp.Box):
        return library.Box(*shape.size)
    if isinstance(shape, qp.Sphere):
        return library.Sphere(shape.radius)
    assert isinstance(shape, qp.Cylinder)
    return library.Cylinder(shape.radius, shape.length)


def by_coal(
    coal: Any, one: str, two: str, at: np.ndarray, turns: np.ndarray
) -> Callable[[], list[float]]:
    """Signed distances, one call a pair."""
    a, b, request = shape_in(coal, SHAPES[one]), shape_in(coal, SHAPES[two]), coal.DistanceRequest()
    result, zero = coal.DistanceResult(), np.zeros(3)
    pairs = [
        (coal.Transform3s(r, zero), coal.Transform3s(s, c))
        for r, s, c in zip(turns[0], turns[1], at, strict=True)
    ]

    def one_by_one() -> list[float]:
        out = []
        for x, y in pairs:
            result.clear()
            out.append(coal.distance(a, x, b, y, request, result))
        return out

    return one_by_one


def by_fcl(
    fcl: Any, one: str, two: str, at: np.ndarray, turns: np.ndarray
) -> Callable[[], list[float]]:
    """Distances, one call a pair; of overlaps no depth."""
    a, b, request = shape_in(fcl, SHAPES[one]), shape_in(fcl, SHAPES[two]), fcl.DistanceRequest()
    pairs = [
        (
            fcl.CollisionObject(a, fcl.Transform(r, np.zeros(3))),
            fcl.CollisionObject(b, fcl.Transform(s, c)),
        )
        for r, s, c in zip(turns[0], turns[1], at, strict=True)
    ]
    return lambda: [fcl.distance(x, y, request, fcl.DistanceResult()) for x, y in pairs]


def libraries() -> dict[str, Any]:
    """Name -> what asks it, and its module, of those that can be imported."""
    out = {}
    for name, asks in (("coal", by_coal), ("fcl", by_fcl)):
        try:
            out[name] = asks, importlib.import_module(name)
        except ImportError:
            continue
    return out


def pair_by_pair(count: int) -> str:
    """Microseconds a pair, and how far the libraries are from what we find."""
    rows: list[list[object]] = []
    peers = libraries()
    for (one, two), (where, spread) in itertools.product(
        itertools.combinations_with_replacement(SHAPES, 2), SPREADS.items()
    ):
        at, turns = places(count, spread, 1)
        work, found = ours(one, two, at, turns)
        works: dict[str, Callable[[], Any]] = {"quirkpy": work}
        for name, (asks, library) in peers.items():
            works[name] = asks(library, one, two, at, turns)
        costs = {name: 1e6 * cost.cpu / count for name, cost in race(works).items()}
        row: list[object] = [f"{one}, {two}", where, costs["quirkpy"]]
        apart = found[:, GAP] > 1e-6
        for name in peers:
            off = abs(np.array(works[name]()) - found[:, GAP])[apart]
            row += [costs[name], costs[name] / costs["quirkpy"], float(off.max(initial=0.0))]
        rows.append(row)
    heads = ["pair", "where", "quirkpy"]
    for name in peers:
        heads += [name, "times", "largest difference where apart"]
    missing = "" if len(peers) == 2 else "; libraries that are missing: pip install coal python-fcl"
    return table(
        f"microseconds for a pair, ours in one compiled call, theirs one by one{missing}",
        heads,
        rows,
    )


def modules(count: int) -> qp.Multibody:
    """A chain of cubes of 10 cm, hinged at edges in turn on either side, pulled together."""
    side, size = 0.1, (0.1, 0.1, 0.1)
    cubes = [qp.Body.box(f"m{k}", size, 1.0, position=(k * side, 0, 0)) for k in range(count)]
    hinges = [
        qp.Revolute(
            f"h{k}",
            cubes[k],
            cubes[k + 1],
            at=((k + 0.5) * side, 0.05 * (-1.0) ** k, 0.0),
            axis=(0, 0, 1),
        )
        for k in range(count - 1)
    ]
    damping = [qp.HingeSpring(f"d{h.name}", h, stiffness=0.0, damping=2e-4) for h in hinges]
    return qp.Multibody(
        *cubes, *hinges, *damping, qp.PotentialWell("pull", cubes[-1], (0.0, -0.3, 0.0), 0.05)
    )


def timed(system: qp.Multibody, rtol: float) -> tuple[qp.Trajectory, Clearances, list[float]]:
    """A run, its clearances, and what either costs [ms]."""
    run = system.simulate(60.0, rtol=rtol)
    result, costs = clearances(run), [math.inf, math.inf]
    works: tuple[Callable[[], object], ...] = (
        lambda: system.simulate(60.0, rtol=rtol),
        lambda: clearances(run),
    )
    for _ in range(7):
        for k, work in enumerate(works):
            begin = time.process_time()
            work()
            costs[k] = min(costs[k], 1e3 * (time.process_time() - begin))
    return run, result, costs


def along_runs(cases: tuple[tuple[int, float], ...]) -> str:
    """Milliseconds of a run, and of the clearances of all its pairs."""
    rows: list[list[object]] = []
    for count, rtol in cases:
        run, result, costs = timed(modules(count), rtol)
        pairs = len(result.pairs)
        rows.append([
            f"{count} modules", f"{rtol:.0e}", len(run.t), *costs, pairs, 1e3 * costs[1] / pairs,
            result.looks, 1e3 * costs[1] / result.looks, result.error,
            "none" if result.first is None else f"{result.first.t:.3f} s",
        ])  # fmt: skip
    heads = [
        "system", "rtol", "rows", "run [ms]", "clearances [ms]", "pairs", "a pair [us]", "looks",
        "a look [us]", "error [m]", "first collision",
    ]  # fmt: skip
    return table("60 s of hinged modules, and all clearances along the motion", heads, rows)


def main(quick: bool = False) -> None:
    print(pair_by_pair(50 if quick else 2000), end="\n\n")
    print(
        along_runs(
            ((2, 1e-6),) if quick else ((2, 1e-8), (4, 1e-6), (4, 1e-8), (4, 1e-10), (8, 1e-8))
        )
    )


if __name__ == "__main__":
    main("--quick" in sys.argv)
