"""Equilibria found by searches from many starts, and the lowest pass out of a well."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Literal, NamedTuple, overload

import numpy as np

from quirkpy.kernels.base.states import halves_of, state_rows
from quirkpy.maths.constants import TINY
from quirkpy.maths.types import Floats
from quirkpy.maths.warnings import doubt_degrees
from quirkpy.mechanics.rigid_motion import displacement_between
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.capture import hold_at_latches
from quirkpy.parts.checks import below, show, whole
from quirkpy.parts.part import PartError, check_argument
from quirkpy.rest.census import Census
from quirkpy.rest.cusps import Cusps
from quirkpy.rest.equilibrium import Equilibrium, certify
from quirkpy.rest.faces import RangeBox
from quirkpy.rest.modes import (
    LEVEL_BEND,
    approach,
    are_stops_pressed,
    bends_beyond,
    beyond_stops,
    descend,
    displace_within_reach,
    follow,
)
from quirkpy.rest.newton import size_of
from quirkpy.rest.starts import (
    advance_coordinate,
    angles_of,
    are_turns_counted,
    at_stops,
    random_corner,
    ranges,
    wander,
)
from quirkpy.rest.vicinity import Vicinity

#: Two equilibria are the same where no body differs by more [m], [rad]; they belong to the same
#: family along neutral directions where energy and stiffness agree to the second share.
SAME_POSE, SAME_FAMILY = 1e-5, 1e-6
#: A component of a neutral motion below this share of the largest counts as zero.
UNMOVED_SHARE = 1e-6
#: The one-sided 95 % quantile of the normal distribution [1].
DEVIATIONS_95 = 1.645
#: Number of paths followed from known equilibria, for each seed.
HOPS = 4
#: Number of further places near cusps searched for each seed, where the sum of signs shows that
#: equilibria are missing.
FURTHER = 2
#: Number of starts on faces of the box of joint ranges, where stops are active, for each seed.
ON_FACES = 6
#: Number of starts of the search for poses in which the ends of a spring coincide.
MEETINGS = 12
#: The forces have a potential where no more than this share of loads and stiffness (over a metre)
#: is left unexplained by it [1].
UNKNOWN = 1e-8
#: Displacement along a mode at which a descent from a saddle begins [m], [rad].
CLIMB = 0.05
#: Largest spread of starts, as steps are short [m], [rad].
FARTHEST = 3000.0
#: Largest number of seeds; they would take weeks.
MOST_SEEDS = 1_000_000
#: Number of starts of the search for a pass, for each direction, and their distance [m], [rad].
TRIES, SPREAD = 4, 3.0


@dataclass(frozen=True)
class Equilibria(Sequence[Equilibrium]):
    """Equilibria found from random starts, lowest energy first; `hits` counts the starts from which
    each was reached.

    The search may miss some; `unseen` bounds their share. lost: attempts that failed; open: those
    of them that found no equilibrium; `reason` says why there is none at all. places: the number of
    starts, random places and known equilibria; left: how many paths from these, and starts on faces
    of the box of joint ranges, were not tried. missing: the least number of further equilibria, by
    the sum of signs; None where that is not known. doubtful: whether it is not known though the
    energy has cusps, near which one is easily missed."""

    found: tuple[Equilibrium, ...]
    hits: tuple[int, ...]
    seeds: int
    lost: int
    places: int = 0
    left: int = 0
    missing: int | None = None
    doubtful: bool = False
    open: int = 0

    @property
    def reason(self) -> str:
        """Why there is none, in words; empty where there are some."""
        if self.found:
            return ""
        return (
            f"none found: of {self.lost} attempts {self.open} came to no rest within their steps, "
            f"and {self.lost - self.open} ended at or beyond stops that do not hold them; there "
            "may be none, or more seeds, or another state to begin at, find them"
        )

    @property
    def unseen(self) -> float:
        """An upper estimate of the share of all equilibria that was not found; it holds in nine of
        ten searches.

        The estimate is the upper bound of Chao (Biometrics 43, 783, 1987; at 95 %) for the number
        of equilibria reached from no place, given those reached from one and from two places; plus
        the number that the untried paths would reach, if each found a new one as often as earlier
        places did, also at 95 %. At least the `missing` ones count as unseen, and at least one
        where that is `doubtful`; the share is never zero."""
        once, twice = (sum(n == k for n in self.hits) for k in (1, 2))
        more = _bound_unmet_kinds(once, twice) + _at_most(once + twice) * self.left / max(
            1, self.places
        )
        more = max(more, float(self.missing or self.doubtful))
        return max((1 + once) / (1 + sum(self.hits)), more / max(1.0, len(self.found) + more))

    @overload
    def __getitem__(self, k: int) -> Equilibrium: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Equilibrium]: ...
    def __getitem__(self, k: int | slice) -> Equilibrium | Sequence[Equilibrium]:
        return self.found[k]

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        kinds = ", ".join(
            f"{e.verdict} at {e.energy:.6g} J ({n})"
            for e, n in zip(self.found, self.hits, strict=True)
        )
        kinds = kinds or self.reason
        return f"Equilibria({kinds}; {self.seeds} seeds, share unseen at most {self.unseen:.2g})"


class Saddle(NamedTuple):
    """The lowest pass found out of a well. From this saddle a path leads down to the minimum, so
    the barrier [J], its height above the minimum, is an upper bound of the energy needed to leave:
    a lower pass may have been missed.

    attempts: the number of searches for lower ones.
    """

    equilibrium: Equilibrium
    barrier: float
    attempts: int = 0
    bound: Literal["upper"] = "upper"

    def explain(self) -> str:
        """The barrier and its uncertainty, in a sentence."""
        moving = ", ".join(dict.fromkeys(mode.words for mode in self.equilibrium.unstable))
        return (
            f"The barrier is {self.barrier:.6g} J at most: the height of the lowest pass found in "
            f"{self.attempts} "
            f"attempts, on which {moving or 'nothing'}; a lower one may have been missed."
        )

    def __repr__(self) -> str:
        found = f"the lowest pass found in {self.attempts} attempts"
        return f"Saddle(barrier at most {self.barrier:.6g} J: {found})"


def _at_most(seen: int) -> float:
    """Upper bound of the mean of a Poisson variable, given one observed count (at 95 %, by Wilson
    and Hilferty)."""
    n = seen + 1.0
    return n * (1.0 - 1.0 / (9.0 * n) + DEVIATIONS_95 / (3.0 * math.sqrt(n))) ** 3


def _bound_unmet_kinds(once: int, twice: int) -> float:
    """Upper bound of the number of kinds never observed, given the numbers observed once and
    twice."""
    if not once:
        return 0.0
    likely = 0.5 * once * (once - 1) / (twice + 1)
    doubt = likely + once * (2 * once - 1) ** 2 / (4.0 * (twice + 1) ** 2)
    doubt += once**2 * twice * (once - 1) ** 2 / (4.0 * (twice + 1) ** 4)
    likely = max(likely, 0.5)
    return likely * math.exp(DEVIATIONS_95 * math.sqrt(math.log(1.0 + doubt / likely**2)))


# --- finding them ---------------------------------------------------------------------------------
class Met:
    """The equilibria found by a search, how often each was reached, and the paths from them that
    are not yet followed."""

    def __init__(self) -> None:
        self.found: list[Equilibrium] = []
        self.around: list[Vicinity] = []
        self.hits: list[int] = []
        self.lost = self.open = self.attempts = self.places = 0
        self.reached: set[int] = set()
        self.hops: list[tuple[int, int, Hop]] = []

    def leave(self, source: int = -1) -> None:
        """Begin at another start: at a known equilibrium, given by its number, or elsewhere.
        Returning to that equilibrium is not counted, and any other is counted once, however many
        attempts lead to it."""
        self.places += 1
        self.reached = {source}

    def arrive(self, ended: Vicinity | None) -> None:
        """Count the equilibrium at which an attempt has ended, new or known."""
        self.attempts += 1
        if ended is None or beyond_stops(ended) or not are_stops_pressed(ended):
            self.lost += 1
            self.open += ended is None
            return
        k = next((k for k, other in enumerate(self.around) if at_one(ended, other)), None)
        if k is None:
            found = certify(ended)
            k = next(
                (
                    k
                    for k, other in enumerate(self.found)
                    if akin(found, ended, other, self.around[k])
                ),
                None,
            )
        if k is None:
            k = len(self.found)
            self.found.append(found)
            self.around.append(ended)
            self.hits.append(0)
            for order, hop in enumerate(hops_from(ended)):
                heappush(self.hops, (order, k, hop))
        self.hits[k] += k not in self.reached
        self.reached.add(k)

    def hop(self, rng: np.random.Generator) -> None:
        """Follow the path that has been followed least so far; when all are done, random directions
        uphill from any of them."""
        if self.hops:
            _, k, hop = heappop(self.hops)
            ways = hop.follow(self.around[k])
        elif self.found:
            k = int(rng.integers(len(self.found)))
            ways = climbs(self.around[k], rng)
        else:
            return
        self.leave(k)
        for ended in ways:
            self.arrive(ended)


class Hop(NamedTuple):
    """A path from an equilibrium: along one of its modes, in either sense; or half a turn of one of
    its angles."""

    mode: int
    coordinate: int
    by: float = math.pi

    def follow(self, around: Vicinity) -> Iterator[Vicinity | None]:
        """The equilibria to which the path leads."""
        if self.coordinate >= 0:
            yield approach(advance_coordinate(around, self.coordinate, self.by), False)
            return
        along = around.bends[1][:, self.mode]
        for sense in (1.0, -1.0):
            yield follow(around, sense * along)


def climbs(around: Vicinity, rng: np.random.Generator) -> Iterator[Vicinity | None]:
    """The equilibria uphill along a random direction, in both senses, within the directions that
    have a stiffness."""
    bends, modes = around.bends
    along = modes @ np.where(bends_beyond(around, LEVEL_BEND), rng.normal(size=len(bends)), 0.0)
    if along.any():
        for sense in (1.0, -1.0):
            yield follow(around, sense * along, straight=True)


def hops_from(around: Vicinity) -> list[Hop]:
    """Half a turn of each angle, in both senses where a force depends on whole turns, and every
    mode that has a stiffness, softest first."""
    counted = are_turns_counted(around)
    turned = [Hop(-1, c, sense * math.pi) for sense in (1.0, -1.0) for c in angles_of(around)
              if sense > 0.0 or counted[c]]  # fmt: skip
    bends, stiff = abs(around.bends[0]), bends_beyond(around, LEVEL_BEND)
    modes = [k for k in np.argsort(bends, kind="stable").tolist() if stiff[k]]
    return [*turned, *(Hop(k, -1) for k in modes)]


def equilibria(system: System, state: State, seeds: int, seed: int, spread: float) -> Equilibria:
    """Equilibria reached from random starts, with an estimate of those missed; see
    `Multibody.equilibria`."""
    system.check_state("equilibria", state)
    if not (type(seeds) is int and 0 < seeds <= MOST_SEEDS):
        raise PartError(
            f"equilibria: seeds is {show(seeds)}, but must be a whole number from 1 to "
            f"{MOST_SEEDS}."
        )
    check_argument("equilibria", "seed", seed, whole)
    check_argument("equilibria", "spread", spread, below(FARTHEST))
    doubt_spread(state, spread)
    base = Vicinity(system.clusters, hold_at_latches(system.clusters, state))
    met, rng = Met(), np.random.default_rng(seed)
    cusps, box = search_around(base, seeds, rng, spread, met), RangeBox(base)
    left = search_faces(box, ON_FACES * seeds, rng, met)
    missing = count_missing(base, seeds, rng, spread, met, cusps)
    doubtful = missing is None and cusps.any
    order = sorted(range(len(met.found)), key=lambda i: (round(met.found[i].energy, 12), i))
    found = tuple(replace(met.found[i], system=system) for i in order)
    hits = tuple(met.hits[i] for i in order)
    return Equilibria(
        found, hits, seeds, met.lost, met.places, len(met.hops) + left, missing, doubtful, met.open
    )


def doubt_spread(state: State, spread: float) -> None:
    """Warn of a spread that was probably meant in degrees, unless bodies are so far apart that it
    is less than a turn around all of them: then it may be meant in metres."""
    apart = float(np.linalg.norm(np.ptp(state.r, axis=0))) if len(state.r) else 0.0
    if spread > 2.0 * math.pi * apart:
        doubt_degrees("equilibria: spread", spread)


def count_missing(
    base: Vicinity, seeds: int, rng: np.random.Generator, spread: float, met: Met, cusps: Cusps
) -> int | None:
    """The least number of missing equilibria, after a search near cusps for those that the sum of
    signs shows to be missing, with the corresponding numbers of unstable modes; None where the sum
    is not known."""
    census, corners = Census(base, cusps), ranges(base)
    for _ in range(MEETINGS if cusps.springs else 0):
        census.look(random_corner(base, rng, corners), rng)
    for k in range(FURTHER * seeds if cusps.springs else 0):
        excess = census.excess(met.found, met.around)
        if not excess:
            break
        place = random_corner(base, rng, corners) if k % 2 else wander(base, rng, spread)
        census.look(place, rng)
        beside = cusps.place_near(place, rng)
        for start in (place, *(() if beside is None else beside[:1])):
            met.leave()
            for falling in range(int(excess > 0), census.freedoms + 1, 2):
                met.arrive(cusps.climb(start, falling))
        met.hop(rng)
    box = RangeBox(base)
    for _ in range(FURTHER * seeds if box.bounded else 0):
        if not census.excess(met.found, met.around):
            break
        search_faces(box, 1, rng, met)
        met.hop(rng)
    excess = census.excess(met.found, met.around)
    return None if excess is None else math.ceil(abs(excess) / census.most_images)


def search_around(
    base: Vicinity, seeds: int, rng: np.random.Generator, spread: float, met: Met
) -> Cusps:
    """Search from a state and from random places around it, and from there along modes and
    joints."""
    corners, cusps = ranges(base), Cusps(base)
    for k in range(seeds):
        places = (
            [base] if k == 0 else [wander(base, rng, spread), random_corner(base, rng, corners)]
        )
        for start in [
            held for place in places for held in (place, at_stops(place)) if held is not None
        ]:
            met.leave()
            for downhill in (True, False):
                met.arrive(approach(start, downhill))
        for around, across in cusps.places_near(places[-1], rng):
            met.leave()
            for ended in cusps.ridges(around, across, rng):
                met.arrive(ended)
        for _ in range(HOPS if met.hops else 1):
            met.hop(rng)
    return cusps


def search_faces(box: RangeBox, most: int, rng: np.random.Generator, met: Met) -> int:
    """Search from at most a given number of starts on faces of the box of joint ranges, with the
    stops of each face active; returns the number of starts left out."""
    left, visit = box.visits, 0
    faces = box.faces(rng, most) if left else []
    while faces and most > 0:
        for face in faces[:most]:
            most -= 1
            place = box.place_on(face, rng)
            if place is not None:
                met.leave()
                met.arrive(box.press(place))
                met.arrive(approach(place, False))
            gone = 1 if place is not None else face.visits - visit
            left -= gone
            if visit + gone >= face.visits:
                faces.remove(face)
        visit += 1
    return left


def at_one(a: Vicinity, b: Vicinity) -> bool:
    """Whether two equilibria are the same: equal pose, and equal energy, which may distinguish
    whole turns."""
    ways = displacement_between(a.rows, b.rows).reshape(-1, 3)
    if np.linalg.norm(ways, axis=1).max(initial=0.0) > SAME_POSE:
        return False
    return as_high(a, b)


def as_high(a: Vicinity, b: Vicinity) -> bool:
    """Whether two equilibria have the same energy, within the effect of small differences of their
    poses."""
    stiffest = float(a.principal[1].max(initial=0.0)) * float(
        a.layout.selection.tables.body_mass.sum()
    )
    return (
        abs(a.energy - b.energy)
        <= SAME_FAMILY * max(abs(a.energy), abs(b.energy)) + stiffest * SAME_POSE**2
    )


def akin(one: Equilibrium, a: Vicinity, two: Equilibrium, b: Vicinity) -> bool:
    """Whether two equilibria belong to one family, along neutral directions."""
    if not (one.neutral and two.neutral and a.freedoms == b.freedoms):
        return False
    still = [np.max([np.linalg.norm(halves_of(mode.shape), axis=2) for mode in e.neutral],
    axis=0) < UNMOVED_SHARE
             for e in (one, two)]  # fmt: skip
    ways = np.linalg.norm(
        halves_of(displacement_between(state_rows_of(one), state_rows_of(two))), axis=2
    )
    if a.flexible and a.points.displaced(one.state.further, two.state.further) > SAME_POSE:
        return False
    if (ways[still[0] & still[1]] > SAME_POSE).any():  # the neutral motion moves none of these
        return False
    ours, theirs = (np.sort(np.linalg.eigvals(x.stiffness.values).real) for x in (a, b))
    scale = max(float(abs(ours).max(initial=0.0)), TINY)
    return bool(as_high(a, b) and abs(ours - theirs).max(initial=0.0) <= SAME_FAMILY * scale)


def state_rows_of(found: Equilibrium) -> Floats:
    """Bodies of the state as rows (n, STATE_WIDTH)."""
    s = found.state
    return state_rows(s.r, s.q, s.v, s.omega)


# --- passes ---------------------------------------------------------------------------------------
def saddle(system: System, bottom: Equilibrium, directions: int) -> Saddle | None:
    """The lowest saddle found around the well of an equilibrium; see `Multibody.saddle`."""
    if not isinstance(bottom, Equilibrium):
        raise PartError(f"saddle: {show(bottom)} is not an Equilibrium, such as system.settle().")
    if bottom.verdict in ("unstable", "never settles", "stopped"):
        raise PartError(
            f"saddle: the verdict of this equilibrium is {bottom.verdict!r}, so it lies in no "
            "well; climb out of a "
            "stable one, such as those of system.equilibria().",
            code="together",
        )
    base = Vicinity(system.clusters, bottom.state)
    slope = base.slopes_of(base.probes.energies[:, None])[0] if base.freedoms else np.zeros(0)
    if size_of(base, slope + base.pull) > UNKNOWN * (
        base.loading + float(abs(base.stiffness.values).max(initial=0.0))
    ):
        raise PartError(
            "saddle: some of the loads that act here have no potential energy, so no barrier can "
            "be stated; write them "
            "as forces with a potential (Gravity, PotentialWell, Potential).",
            code="together",
        )
    met, rng = Met(), np.random.default_rng(0)
    met.leave()
    met.arrive(base)
    modes = [hop.mode for hop in hops_from(base) if hop.mode >= 0][:directions]
    for hop in hops_from(base):
        if hop.mode in (-1, *modes):
            met.leave(0)
            for ended in hop.follow(base):
                met.arrive(ended)
    search_around(base, TRIES * directions, rng, SPREAD, met)
    tops = sorted(
        (k for k, e in enumerate(met.found) if e.energy > bottom.energy),
        key=lambda k: met.found[k].energy,
    )
    for k in tops:
        if leads_to(met.around[k], base):
            at = replace(met.found[k], system=system)
            return Saddle(at, at.energy - bottom.energy, met.attempts)
    return None


def leads_to(top: Vicinity, bottom: Vicinity) -> bool:
    """Whether the descent from a saddle, along a direction in which the energy falls, ends at a
    given minimum."""
    bends, modes = top.bends
    for mode in modes.T[(bends < 0.0) & bends_beyond(top, LEVEL_BEND)]:
        for sense in (1.0, -1.0):
            ended = descend(
                displace_within_reach(top, mode * (sense * CLIMB / size_of(top, mode)), CLIMB)
            )
            if ended is not None and (
                at_one(ended, bottom) or akin(certify(ended), ended, certify(bottom), bottom)
            ):
                return True
    return False
