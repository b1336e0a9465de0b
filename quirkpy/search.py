"""Equilibria found without moving: from many seeds to whatever they lead to; and the lowest pass out of a well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from quirkpy.equilibrium import Equilibrium, certify
from quirkpy.kernels.stops import BOUND, SIDE, STOP_COORDINATE
from quirkpy.parts.checks import Floats, positive, shown, whole
from quirkpy.parts.part import PartError
from quirkpy.polishing import newton, polish, size_of
from quirkpy.state import State
from quirkpy.vicinity import TURNED, Vicinity, apart

if TYPE_CHECKING:
    from quirkpy.multibody import Multibody

#: Steps towards an equilibrium at most, and how far one moves any body [m], [rad].
STEPS, STEP = 200, 0.3
#: A stiffness below this share of the largest is taken for so much in a step.
SOFTEST = 1e-6
#: Two equilibria are one where no body is farther apart [m], [rad]; families along neutral directions, where energy and
#: stiffness agree to this share.
SAME, ALIKE = 1e-5, 1e-6
#: How far beyond a stop an equilibrium may lie [m], [rad].
BEYOND = 1e-7
#: How much a way wavers, as a share of a stride.
WAVERS = 0.1
#: Energy says all that pulls, where no more than this share of loads and stiffness (over a metre) is left.
UNKNOWN = 1e-8
#: A climb begins so far up a mode [m], [rad].
CLIMB = 0.05


@dataclass(frozen=True)
class Equilibria(Sequence[Equilibrium]):
    """Equilibria found from some seeds, lowest energy first; `hits` says how often each was.

    The search is random, so there may be more: `unseen` estimates how likely a further hit would be a new one: the
    share of those met once (Good and Turing), as if the next were one of them, so that it is never zero.  lost:
    attempts that led nowhere; each seed makes two, downhill and by Newton's method.
    """

    found: tuple[Equilibrium, ...]
    hits: tuple[int, ...]
    seeds: int
    lost: int

    @property
    def unseen(self) -> float:
        """The chance that one more hit is a new equilibrium."""
        return (1 + sum(n == 1 for n in self.hits)) / (1 + sum(self.hits))

    @overload
    def __getitem__(self, k: int) -> Equilibrium: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Equilibrium]: ...
    def __getitem__(self, k: int | slice) -> Equilibrium | Sequence[Equilibrium]:
        return self.found[k]

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{e.verdict} at {e.energy:.6g} J ({n})" for e, n in zip(self.found, self.hits, strict=True))
        return f"Equilibria({kinds}; {self.seeds} seeds, chance of another: {self.unseen:.2g})"


class Saddle(NamedTuple):
    """The lowest pass found out of a well: barrier [J] is its height above the bottom, an upper bound of what it takes
    to leave, for lower passes may have been missed."""

    equilibrium: Equilibrium
    barrier: float


# --- wells ------------------------------------------------------------------------------------------------------------
def equilibria(system: Multibody, state: State, seeds: int, seed: int, spread: float) -> Equilibria:
    """See `Multibody.equilibria`."""
    if not (isinstance(seeds, int) and seeds > 0):
        raise PartError(f"equilibria: seeds is {seeds!r}, but must be a whole number above zero.")
    for name, value, check in (("spread", spread, positive), ("seed", seed, whole)):
        try:
            check(value)
        except (TypeError, ValueError) as error:
            raise PartError(f"equilibria: {name} {error}.") from None
    rng, lost = np.random.default_rng(seed), 0
    met: list[tuple[Equilibrium, Vicinity]] = []
    hits: list[int] = []
    for k in range(seeds):
        base = Vicinity(system.clusters, state)
        start = base if k == 0 else wandered(base, rng, spread)
        for downhill in (True, False):
            ended = approach(start, downhill)
            if ended is None or beyond_stops(ended):
                lost += 1
                continue
            found = certify(ended)
            same = [i for i, (other, around) in enumerate(met) if alike(found, ended, other, around)]
            if same:
                hits[same[0]] += 1
            else:
                met.append((found, ended))
                hits.append(1)
    order = sorted(range(len(met)), key=lambda i: (round(met[i][0].energy, 12), i))
    return Equilibria(
        tuple(replace(met[i][0], system=system) for i in order), tuple(hits[i] for i in order), seeds, lost
    )


def wandered(around: Vicinity, rng: np.random.Generator, spread: float) -> Vicinity:
    """A place some strides away along the joints, in random directions; spread: the whole way [m], [rad]."""
    left = spread * float(rng.uniform(0.1, 1.0))
    direction = rng.normal(size=around.freedoms) * around.reach
    while left > 0.0 and around.freedoms:
        direction = direction / size_of(around, direction)
        direction = direction + WAVERS * rng.normal(size=around.freedoms) * around.reach / TURNED
        stride = min(left, STEP)
        rows = around.answers(around.displaced(direction[None] * (stride / size_of(around, direction)))).rows[0]
        there = Vicinity(around.clusters, around.state_of(rows), around.whole)
        direction, around, left = there.coordinates_of(around, direction), there, left - stride
    return around


def approach(around: Vicinity, downhill: bool) -> Vicinity | None:
    """The equilibrium to which a place leads: downhill, to a minimum; or by Newton's method, to any kind."""
    for _ in range(STEPS):
        step = stepped(around, downhill)
        size = size_of(around, step)
        if size < 1e-3:
            rows, _, settled = newton(around)
            if settled:
                there = polish(Vicinity(around.clusters, around.state_of(rows), around.whole))
                return there.around if there.settled else None
        share = min(1.0, STEP / size) if size > 0.0 else 0.0
        tried = np.outer([1.0, 0.5, 0.25, 0.125] if downhill else [1.0], share * step)
        best = tried[int(np.argmin(around.rises(tried)))] if downhill else tried[0]
        rows = around.answers(around.displaced(best[None])).rows[0]
        around = Vicinity(around.clusters, around.state_of(rows), around.whole)
    return None


def stepped(around: Vicinity, downhill: bool) -> Floats:
    """A step of Newton's method (f,); downhill, where energy is bent the other way the step is turned round."""
    bends, along = around.bends
    if not len(bends):
        return np.zeros(0)
    softest = SOFTEST * max(float(abs(bends).max()), 1e-300)
    divisor = np.maximum(abs(bends), softest) * (1.0 if downhill else np.where(bends < 0.0, -1.0, 1.0))
    pull = along.T @ around.pull
    flat = abs(bends) < softest
    return np.asarray(along @ np.where(flat & (abs(pull) < 1e-12), 0.0, pull / divisor))


def beyond_stops(around: Vicinity) -> bool:
    """Whether a state lies where a stop does not let it."""
    stops = around.layout.stops
    at = around.at.coordinates(stops.what[:, STOP_COORDINATE])[:, 0]
    return bool((stops.numbers[:, SIDE] * (at - stops.numbers[:, BOUND]) < -BEYOND).any())


def alike(one: Equilibrium, a: Vicinity, two: Equilibrium, b: Vicinity) -> bool:
    """Whether two equilibria are one, or of one family."""
    if np.linalg.norm(apart(a.rows, b.rows).reshape(-1, 3), axis=1).max(initial=0.0) <= SAME:
        return True
    if not (one.neutral and two.neutral and a.freedoms == b.freedoms):
        return False
    ours, theirs = (np.sort(np.linalg.eigvals(x.stiffness.values).real) for x in (a, b))
    scale = max(float(abs(ours).max(initial=0.0)), 1e-300)
    energy = abs(one.energy - two.energy) <= ALIKE * max(abs(one.energy), abs(two.energy))
    return bool(energy and abs(ours - theirs).max(initial=0.0) <= ALIKE * scale)


# --- passes -----------------------------------------------------------------------------------------------------------
def saddle(system: Multibody, bottom: Equilibrium, directions: int) -> Saddle | None:
    """See `Multibody.saddle`."""
    if not isinstance(bottom, Equilibrium):
        raise PartError(f"saddle: {shown(bottom)} is not an Equilibrium, such as system.settle().")
    if bottom.verdict in ("unstable", "never settles", "stopped"):
        raise PartError(
            f"saddle: the verdict of this equilibrium is {bottom.verdict!r}, so it lies in no well; climb out of a "
            "stable one, such as those of system.equilibria()."
        )
    base = Vicinity(system.clusters, bottom.state)
    slope = base.slopes_of(base.probes.energies[:, None])[0] if base.freedoms else np.zeros(0)
    if size_of(base, slope + base.pull) > UNKNOWN * (base.loading + float(abs(base.stiffness.values).max(initial=0.0))):
        raise PartError(
            "saddle: some of the loads that act here have no potential energy, so no barrier can be stated; write them "
            "as forces with a potential (Gravity, PotentialWell, Potential)."
        )
    found = []
    for climbed in _climbs(base, directions):
        if climbed is not None and not beyond_stops(climbed):
            at = replace(certify(climbed), system=system)
            if at.energy > bottom.energy:
                found.append(Saddle(at, at.energy - bottom.energy))
    return min(found, key=lambda s: s.barrier, default=None)


def _climbs(base: Vicinity, directions: int) -> Iterator[Vicinity | None]:
    """Climbs along the softest directions, either way."""
    K = 0.5 * (base.stiffness.values + base.stiffness.values.T)
    if not len(K):
        return
    bends, along = np.linalg.eigh(K)
    rising = np.flatnonzero(bends > 1e-9 * bends[-1])[:directions]
    for k in rising:
        for sense in (1.0, -1.0):
            yield climb(base, sense * along[:, k])


def climb(base: Vicinity, along: Floats) -> Vicinity | None:
    """Up along a direction and down across it, until energy no longer rises (eigenvector following)."""
    around = base
    rows = base.answers(base.displaced(along[None] * (CLIMB / size_of(base, along)))).rows[0]
    for _ in range(STEPS):
        there = Vicinity(base.clusters, around.state_of(rows), base.whole)
        along = there.coordinates_of(around, along)
        around = there
        bends, modes = np.linalg.eigh(0.5 * (around.stiffness.values + around.stiffness.values.T))
        followed = int(np.argmax(abs(along @ modes)))
        way = modes[:, followed] * np.sign(along @ modes[:, followed])
        softest = SOFTEST * max(float(abs(bends).max()), 1e-300)
        pull = modes.T @ around.pull
        steps = pull / np.maximum(abs(bends), softest)
        steps[followed] = 0.0
        step = modes @ np.where((abs(bends) < softest) & (abs(pull) < 1e-12), 0.0, steps)
        uphill = -float(way @ around.pull)
        if bends[followed] < 0.0:
            onward = uphill / -bends[followed]
        else:
            onward = CLIMB / size_of(around, way)
        step = step + onward * way
        size = size_of(around, step)
        if size < 1e-4 and bends[followed] < 0.0:
            ended = polish(around)
            return ended.around if ended.settled else None
        rows = around.answers(around.displaced(step[None] * min(1.0, 0.5 * STEP / max(size, 1e-300)))).rows[0]
        along = way
    return None
