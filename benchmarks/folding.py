"""Folded sheets that open: how long, how exact and how closed, beside the method of the paper as
printed and other programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from benchmarks import as_printed, peers, sheets
from benchmarks.fourbars import miss
from benchmarks.sheets import Seen, Sheet
from benchmarks.tables import Measured
from benchmarks.tables import Sheet as Table
from benchmarks.timing import race

#: Panels a side; how long sheets fly [s]; which angle is exact enough [rad].
SIDES, DURATION, WANTED = (3, 6), 10.0, 1e-6
TOLERANCES, FINEST = (1e-6, 1e-7, 1e-8, 1e-10), 1e-13
#: How long the printed method is run [s]; its steps being all alike, times are those of DURATION.
PRINTED, PRINTED_QUICK = {3: 5.0, 6: 0.2}, 0.02
NAME = "as printed"


class Work(NamedTuple):
    """A run: method, its tolerance or step, how long it flies [s]."""

    method: str
    setting: float
    run: Callable[[], Seen]
    flown: float = DURATION


def ours(sheet: Sheet, rtol: float, flown: float = DURATION) -> Callable[[], Seen]:
    """A run to a tolerance."""

    def run() -> Seen:
        done = sheet.system.simulate(
            flown, rtol=rtol, atol=0.01 * rtol, keep="ends", progress=False
        )
        return sheets.seen(done)

    return run


def works_for(side: int, sheet: Sheet, quick: bool) -> list[Work]:
    """Ours, the printed method, and those of the programs that are there."""
    flown = PRINTED_QUICK if quick else PRINTED[side]
    out = [Work("quirkpy", rtol, ours(sheet, rtol)) for rtol in TOLERANCES]
    out.append(Work(NAME, as_printed.STEP, lambda: as_printed.run(sheet, flown), flown))
    for peer in peers.present().values():
        if hasattr(peer, "sheets"):
            steps = peer.SHEET_STEPS[: 1 if quick else 3 - len(sheet.panels) // 36]
            out += [Work(peer.SHEETS, step, peer.sheets(sheet, step, DURATION)) for step in steps]
    return out


def end_of(work: Work) -> Seen:
    """What a run ends with; no numbers where the program gives up, which it says itself."""
    try:
        return work.run()
    except Exception as refusal:
        print(f"  {work.method}, {work.setting:g}: {type(refusal).__name__}")
        return Seen(math.nan, math.nan)


def measure(quick: bool) -> Measured:
    """A row for each method and setting."""
    rows: list[list[object]] = []
    figures: dict[str, float] = {}
    for side in SIDES[:1] if quick else SIDES:
        rows += _rows(side, quick, figures)
    heads = [
        "panels", "method", "tolerance or step [s]", "error rad", "gap m", "wall ms", "CPU ms",
        "/ quirkpy",
    ]  # fmt: skip
    title = f"Folded sheets, {DURATION:g} s of opening"
    return Measured([Table(title, heads, rows, _remarks())], figures)


def _remarks() -> list[str]:
    parts = ", ".join(f"{flown:g} s of {side} x {side} panels" for side, flown in PRINTED.items())
    return [
        f"Error: of the first crease against a run to {FINEST:g}, whole turns aside; refused: the "
        "program gives up, where a line is flat for the first time. Gap: of the "
        "creases at the end. Creases that close loops have no spring. As printed: the articulated "
        "body algorithm with Baumgarte's feedback of 100 /s and Runge-Kutta steps of 1 ms, in "
        f"NumPy, run for {parts}; its time is scaled to the whole.",
        "Ratios: of processor times, as the printed method takes minutes, to the fastest row of "
        f"quirkpy with an error below {WANTED:g} rad. Pinocchio: constraintDynamics with proximal "
        "iterations, from Python; Exudyn: hinges in every crease.",
    ]


def _rows(side: int, quick: bool, figures: dict[str, float]) -> list[list[object]]:
    sheet, seen = sheets.map_fold(side), {}
    works = {f"{w.method} {w.setting:g}": w for w in works_for(side, sheet, quick)}

    def noting(key: str, work: Work) -> Callable[[], None]:
        def run() -> None:
            seen[key] = end_of(work)

        return run

    runs = {key: noting(key, work) for key, work in works.items()}
    mine = [key for key in runs if key.startswith("quirkpy")]
    costs = race({key: runs[key] for key in mine}, turns=1 if quick else 5)
    costs |= race({key: run for key, run in runs.items() if key not in mine}, turns=1)
    truths = {flown: ours(sheet, FINEST, flown)().angle for _, _, _, flown in works.values()}
    errors = {key: miss(seen[key].angle, truths[work.flown]) for key, work in works.items()}
    whole = {key: DURATION / work.flown for key, work in works.items()}
    best = min(costs[key].cpu for key in mine if errors[key] <= WANTED)
    rows: list[list[object]] = []
    for key, work in works.items():
        wall, cpu = (whole[key] * spent for spent in costs[key])
        if errors[key] <= WANTED:
            name = f"sheet {side} / {work.method.split()[0]}"
            figures[name] = min(cpu / best, figures.get(name, math.inf))
        rows.append([side**2, work.method, f"{work.setting:g}", errors[key], seen[key].gap,
                     1e3 * wall, 1e3 * cpu, cpu / best])  # fmt: skip
    figures[f"sheet {side} gap"] = max(seen[key].gap for key in mine)
    return rows
