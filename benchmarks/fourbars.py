"""Four-bars in a row through their flat poses: angle against the closed form, and time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from scipy.integrate import solve_ivp

from benchmarks import peers, problems
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race

DURATION, GRAVITY = 10.0, 9.81
WANTED = 1e-8  # [rad]
TOLERANCES = (1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
#: name -> what `simulate` is told about energy.
OURS: dict[str, Literal["free", "conserve"]] = {
    "quirkpy": "free",
    "quirkpy, energy held": "conserve",
}


def angle(windows: int, duration: float = DURATION) -> float:
    """phi'' = -W cos(phi): all uprights turn alike, the couplers only travel."""
    W = GRAVITY * ((windows + 1) / 2.0 + windows) / ((windows + 1) / 3.0 + windows)
    start = (0.5 * math.pi, -1.0)
    done = solve_ivp(
        lambda t, y: (y[1], -W * math.cos(y[0])),
        (0.0, duration),
        start,
        method="DOP853",
        rtol=1e-13,
        atol=1e-14,
    )
    return float(done.y[0, -1])


def ours(
    windows: int, rtol: float, energy: Literal["free", "conserve"] = "free"
) -> Callable[[], float]:
    """A run that ends with the angle of the first upright, up to whole turns."""
    system = problems.four_bars(windows, 0.5 * math.pi, -1.0, (0.0, -GRAVITY, 0.0))

    def run() -> float:
        done = system.simulate(DURATION, rtol=rtol, atol=0.1 * rtol, energy=energy, keep="ends")
        x, y, _ = done.final["rod 0"].position
        return math.atan2(y, x)

    return run


def miss(found: float, truth: float) -> float:
    """The difference of two angles, whole turns aside."""
    return abs(math.remainder(found - truth, 2.0 * math.pi))


def measure(quick: bool) -> Measured:
    """A row for each program and setting; the ratios are judged at the fastest row that is exact to
    WANTED."""
    rows: list[list[object]] = []
    figures: dict[str, float] = {}
    for windows in (1, 8) if quick else (1, 8, 40):
        rows += _rows(windows, quick, figures)
    remarks = [
        "error: of the angle after ten seconds and some ten flat poses; nan: the loop has come "
        "apart. MuJoCo is left "
        "out: its loops are springs. Exudyn and Pinocchio get the planar problem, quirkpy hinges "
        "in space.",
        f"Ratios: to the fastest row of quirkpy with an error below {WANTED:g} rad.",
    ]
    heads = [
        "windows",
        "method",
        "tolerance or step [s]",
        "error rad",
        "wall ms",
        "CPU ms",
        "/ quirkpy",
    ]
    return Measured([Sheet(f"Four-bars in a row, {DURATION:g} s", heads, rows, remarks)], figures)


def _rows(windows: int, quick: bool, figures: dict[str, float]) -> list[list[object]]:
    works: dict[str, tuple[str, float, Callable[[], float]]] = {}
    for name, energy in OURS.items():
        for rtol in TOLERANCES[1:4] if windows > 8 else TOLERANCES:
            works[f"{name} {rtol}"] = (name, rtol, ours(windows, rtol, energy))
    for name, peer in peers.present().items():
        if hasattr(peer, "four_bars"):
            for step in peer.FOUR_BAR_STEPS[:2] if windows > 8 else peer.FOUR_BAR_STEPS:
                works[f"{name} {step}"] = (
                    peer.FOUR_BARS,
                    step,
                    peer.four_bars(windows, step, DURATION),
                )
    truth, errors = angle(windows), {}
    for key, (_, _, run) in works.items():
        try:
            errors[key] = miss(run(), truth)
        except (
            Exception
        ) as refusal:  # a peer that gives up says so in its own words, of its own class
            errors[key] = math.nan
            print(f"  {key}, {windows} windows: {type(refusal).__name__}")
    runs = {key: work[2] for key, work in works.items() if not math.isnan(errors[key])}
    costs = race(runs, turns=1 if quick else 5)
    exact = [
        costs[key].wall for key in costs if key.startswith("quirkpy") and errors[key] <= WANTED
    ]
    best = min(exact, default=None)
    out: list[list[object]] = []
    for key, (method, setting, _) in works.items():
        cost = costs.get(key)
        ratio = cost.wall / best if cost and best else None
        times = [1e3 * cost.wall, 1e3 * cost.cpu, ratio] if cost else [None] * 3
        out.append([windows, method, f"{setting:g}", errors[key], *times])
        # Pinocchio has to be exact as well; Exudyn never is.
        if cost and not key.startswith("quirkpy") and ("Exudyn" in method or errors[key] <= WANTED):
            name = f"four-bars {windows} / {method.split()[0]}"
            figures[name] = math.nan if ratio is None else min(ratio, figures.get(name, math.inf))
    figures[f"four-bars {windows} error"] = min(
        e for key, e in errors.items() if key.startswith("quirkpy")
    )
    return out
