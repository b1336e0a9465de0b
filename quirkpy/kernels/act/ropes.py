"""Ropes and strings: springs along a way from site to site, which pull and never push; and springs
that yield, as strings may."""

from __future__ import annotations

from quirkpy.kernels.act.driven import in_time
from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.arrays import (
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    FIRST_KNOT,
    KNOT_VALUE,
    LAST_KNOT,
    SCHEDULE1,
    SCHEDULE2,
    Elements,
    Schedules,
    Sites,
)
from quirkpy.kernels.base.compiled import inner, woven
from quirkpy.kernels.base.vectors import dot, norm, scale, sub
from quirkpy.kernels.place.kinematics import along
from quirkpy.kernels.place.sites import push_at, site_motion
from quirkpy.maths.constants import EPS
from quirkpy.maths.types import Floats

#: Numbers of an element between two sites: stiffness, rest length, damping, whether it is a rope
#: (1) or a spring that yields both ways (2), how many elements behind it are further stretches of
#: its way, and the load at which it yields (0: at none).
STIFFNESS, REST, DAMPING, IS_ROPE, FURTHER, LIMIT = range(6)
BOTH_WAYS = 2.0
#: What a rope does: as its length says; nothing, shorter than its rest length; nothing, as it
#: shortens so fast that its damping takes all that its stretch pulls; it pulls; it yields as it is
#: pulled, or as it is pressed: then its elastic load stays at the limit.
BY_LENGTH, SLACK, LIMP, TAUT, DRAWN, CRUSHED = range(6)
#: A length is known to this share of the places of its ends and of itself.
LENGTH_ROUNDING = 16.0 * EPS


@inner
def way_of(e: int, elements: Elements, sites: Sites, frames: Floats) -> tuple[float, float]:
    """Length of the way of an element from site to site, and its rate."""
    length, rate = 0.0, 0.0
    for k in range(e, e + 1 + int(elements.numbers[e, FURTHER])):
        one = site_motion(elements.what[k, ELEMENT_SITE1], sites, frames)
        two = site_motion(elements.what[k, ELEMENT_SITE2], sites, frames)
        d = sub(two.position, one.position)
        stretch = norm(d)
        length += stretch
        rate += dot(along(d, stretch), sub(two.velocity, one.velocity))
    return length, rate


@inner
def rim_of(
    length: float, rest: float, e: int, elements: Elements, sites: Sites, frames: Floats
) -> float:
    """By how much the stretch of an element may be off by rounding."""
    one = site_motion(elements.what[e, ELEMENT_SITE1], sites, frames)
    return LENGTH_ROUNDING * (norm(one.position) + length + rest)


@inner
def phase_of(
    stretch: float, rate: float, stiffness: float, rim: float, e: int, elements: Elements
) -> int:
    """What a rope does, by its stretch and its rate; it yields where its load is at the limit, and
    further than rounding."""
    limit, damping = elements.numbers[e, LIMIT], elements.numbers[e, DAMPING]
    both = elements.numbers[e, IS_ROPE] == BOTH_WAYS
    if limit > 0.0:
        if rim + (limit / stiffness - stretch) <= 0.0:
            return DRAWN
        if both:
            return CRUSHED if rim + (limit / stiffness + stretch) <= 0.0 else TAUT
    if stretch <= 0.0:
        return SLACK
    return LIMP if stiffness * stretch + damping * rate <= 0.0 and damping > 0.0 else TAUT


@inner
def phase_at(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats
) -> int:
    """What a rope does as its length says, whatever it is told."""
    stiffness, _ = in_time(STIFFNESS, SCHEDULE1, t, e, elements, schedules)
    rest, _ = in_time(REST, SCHEDULE2, t, e, elements, schedules)
    length, rate = way_of(e, elements, sites, frames)
    rim = rim_of(length, rest, e, elements, sites, frames)
    return phase_of(length - rest, rate, stiffness, rim, e, elements)


@woven
def rope(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """A rope; what a change of stiffness or rest length puts into its energy, which is returned,
    counts as work."""
    stiffness, harder = in_time(STIFFNESS, SCHEDULE1, t, e, elements, schedules)
    rest, longer = in_time(REST, SCHEDULE2, t, e, elements, schedules)
    length, rate = way_of(e, elements, sites, frames)
    stretch, damping, phase = length - rest, elements.numbers[e, DAMPING], elements.phases[e]
    if phase == BY_LENGTH:
        rim = rim_of(length, rest, e, elements, sites, frames)
        phase = phase_of(stretch, rate, stiffness, rim, e, elements)
    if phase == SLACK:
        return 0.0
    if phase >= DRAWN:
        limit = elements.numbers[e, LIMIT] if phase == DRAWN else -elements.numbers[e, LIMIT]
        power[OUT] += limit * rate
        stretch, phase = limit / stiffness, TAUT
    drag = damping * rate if phase == TAUT else -stiffness * stretch
    power[INTO] += (0.5 * harder * stretch - stiffness * longer) * stretch
    power[OUT] += drag * rate
    if phase == TAUT:
        draw_in(stiffness * stretch + drag, e, elements, sites, frames, wrench)
    return 0.5 * stiffness * stretch * stretch


@inner
def draw_in(
    tension: float, e: int, elements: Elements, sites: Sites, frames: Floats, wrench: Floats
) -> None:
    """Pull every two sites together that follow each other along the way."""
    for k in range(e, e + 1 + int(elements.numbers[e, FURTHER])):
        one = site_motion(elements.what[k, ELEMENT_SITE1], sites, frames)
        two = site_motion(elements.what[k, ELEMENT_SITE2], sites, frames)
        d = sub(two.position, one.position)
        f = scale(-tension, along(d, norm(d)))
        push_at(two, f, wrench)
        push_at(one, scale(-1.0, f), wrench)


@inner
def tension_of(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats
) -> float:
    """How hard a rope pulls, as its length says."""
    stiffness, _ = in_time(STIFFNESS, SCHEDULE1, t, e, elements, schedules)
    rest, _ = in_time(REST, SCHEDULE2, t, e, elements, schedules)
    length, rate = way_of(e, elements, sites, frames)
    stretch, limit = length - rest, elements.numbers[e, LIMIT]
    both = elements.numbers[e, IS_ROPE] == BOTH_WAYS
    if limit > 0.0:
        stretch = max(-limit / stiffness, min(limit / stiffness, stretch))
    if stretch <= 0.0 and not both:
        return 0.0
    pull = stiffness * stretch + elements.numbers[e, DAMPING] * rate
    return pull if both else max(0.0, pull)


@inner
def phase_lasts(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats
) -> tuple[float, float, float]:
    """How far a rope is from doing something else than it is told [m], zero or below where it
    should; and by what a short visit beyond is known, a length and its rate: 1 and 0 where that is
    not asked, with damping.

    A phase lasts a rounding of the length beyond its end, so that none is left and met again by
    rounding alone; yielding, until the length turns back."""
    stiffness, _ = in_time(STIFFNESS, SCHEDULE1, t, e, elements, schedules)
    rest, longer = in_time(REST, SCHEDULE2, t, e, elements, schedules)
    length, rate = way_of(e, elements, sites, frames)
    stretch, damping = length - rest, elements.numbers[e, DAMPING]
    if elements.phases[e] >= DRAWN:
        return (rate if elements.phases[e] == DRAWN else -rate), 1.0, 0.0
    rim = rim_of(length, rest, e, elements, sites, frames)
    if elements.phases[e] == SLACK:
        return rim - stretch, rim - stretch, longer - rate
    if elements.numbers[e, LIMIT] > 0.0:
        return elastic_lasts(stretch, rate, stiffness, rim, e, elements)
    if damping == 0.0:
        return stretch + rim, stretch + rim, rate - longer
    pulls = stretch + damping * rate / stiffness if stiffness > 0.0 else rate
    return rim + min(stretch, pulls if elements.phases[e] == TAUT else -pulls), 1.0, 0.0


@inner
def elastic_lasts(
    stretch: float, rate: float, stiffness: float, rim: float, e: int, elements: Elements
) -> tuple[float, float, float]:
    """`phase_lasts` of what is taut or limp and may yield."""
    most, damping = elements.numbers[e, LIMIT] / stiffness, elements.numbers[e, DAMPING]
    both = elements.numbers[e, IS_ROPE] == BOTH_WAYS
    least = most + stretch if both else stretch
    above, pace = rim + (most - stretch), -rate
    if rim + least < above:
        above, pace = rim + least, rate
    if both or damping == 0.0:
        return above, above, pace
    pulls = rim + stretch + damping * rate / stiffness
    if elements.phases[e] == LIMP:
        pulls = rim - (stretch + damping * rate / stiffness)
    return min(above, pulls), above, pace


@inner
def keep_stretch(
    t: float, phase: int, e: int, elements: Elements, schedules: Schedules, sites: Sites,
    frames: Floats,
) -> float:  # fmt: skip
    """Make the present length of what has yielded, less its elastic stretch, its rest length, from
    now on; returns that."""
    stiffness, _ = in_time(STIFFNESS, SCHEDULE1, t, e, elements, schedules)
    length, _ = way_of(e, elements, sites, frames)
    most, s = elements.numbers[e, LIMIT] / stiffness, elements.what[e, SCHEDULE2]
    rest = length - (most if phase == DRAWN else -most)
    for n in range(schedules.spans[s, FIRST_KNOT], schedules.spans[s, LAST_KNOT] + 1):
        schedules.knots[n, KNOT_VALUE] = rest
    return rest
