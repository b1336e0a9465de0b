"""Springs that change with time, servos, motors, tape springs and users' laws of coordinates, one
function for each kind.  `driven_loads` is called for these kinds alone."""

from __future__ import annotations

import math

from quirkpy.kernels.act.springs import pull_together, push_coordinate
from quirkpy.kernels.act.wrenches import INTO, OUT
from quirkpy.kernels.base.arrays import (
    ELEMENT_COORDINATE,
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    KIND,
    LAW_ADDRESS,
    SCHEDULE1,
    SCHEDULE2,
    Elements,
    Joints,
    Schedules,
    Sites,
)
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.hook import call_formula
from quirkpy.kernels.base.vectors import norm, sub
from quirkpy.kernels.place.kinematics import joint_coordinate
from quirkpy.kernels.place.schedules import schedule_motion, schedule_value
from quirkpy.kernels.place.sites import site_motion
from quirkpy.maths import tapes
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import COORDINATE, JOINT_LAW, MOTOR, PAIR, SERVO, TAPE

#: Which of the formulas of a law is asked for: its load, its energy, what the time changes in that.
LOAD_OF, ENERGY_OF, CHANGE_OF = range(3)
#: Where peak and plateau of positive angles stand among the numbers of a tape spring; those of
#: negative ones follow.
TAPE_SIDES = 4

bent_tape = inner(tapes.bend_tape)


@inner
def in_time(
    column: int, which: int, t: float, e: int, elements: Elements, schedules: Schedules
) -> tuple[float, float]:
    """A number of an element and its rate, from its schedule if it has one."""
    s = elements.what[e, which]
    if s < 0:
        return elements.numbers[e, column], 0.0
    x, rate, _ = schedule_motion(s, t, schedules)
    return x, rate


@inner
def driven_pair(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """A spring between two points whose stiffness or rest length changes with time; the explicit
    rate of its energy counts as work."""
    numbers, what = elements.numbers, elements.what
    stiffness, harder = in_time(0, SCHEDULE1, t, e, elements, schedules)
    rest, longer = in_time(1, SCHEDULE2, t, e, elements, schedules)
    s1, s2 = what[e, ELEMENT_SITE1], what[e, ELEMENT_SITE2]
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    stretch = norm(sub(two.position, one.position)) - rest
    power[INTO] += (0.5 * harder * stretch - stiffness * longer) * stretch
    return pull_together(wrench, stiffness, rest, numbers[e, 2], s1, s2, sites, frames, power)


@inner
def driven_coordinate(
    t: float, e: int, elements: Elements, joints: Joints, schedules: Schedules, sites: Sites,
    frames: Floats, wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """A spring on a coordinate whose stiffness or rest value changes with time; see
    `driven_pair`."""
    numbers, c = elements.numbers, elements.what[e, ELEMENT_COORDINATE]
    stiffness, harder = in_time(0, SCHEDULE1, t, e, elements, schedules)
    rest, further = in_time(1, SCHEDULE2, t, e, elements, schedules)
    x, rate = joint_coordinate(c, joints, sites, frames)
    stretch, drag = x - rest, numbers[e, 2] * rate
    power[INTO] += (0.5 * harder * stretch - stiffness * further) * stretch
    power[OUT] += drag * rate
    push_coordinate(wrench, -stiffness * stretch - drag, c, joints, sites, frames)
    return 0.5 * stiffness * stretch * stretch


@inner
def servo(
    t: float, e: int, elements: Elements, joints: Joints, schedules: Schedules, sites: Sites,
    frames: Floats, wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """A motor that follows its target; returns the energy of its stiffness, or, with a limited
    load, counts its whole power as work."""
    numbers, c = elements.numbers, elements.what[e, ELEMENT_COORDINATE]
    stiffness, damping, limit = numbers[e, 0], numbers[e, 2], numbers[e, 3]
    target, leading = in_time(1, SCHEDULE1, t, e, elements, schedules)
    x, rate = joint_coordinate(c, joints, sites, frames)
    off, slip = x - target, rate - leading
    push = -stiffness * off - damping * slip
    if limit > 0.0:
        push = math.copysign(bent_tape(abs(push), 1.0, limit, limit, 1.0)[0], push)
        power[INTO] += push * rate
    else:
        power[INTO] += push * leading
        power[OUT] += damping * slip * slip
    push_coordinate(wrench, push, c, joints, sites, frames)
    return 0.5 * stiffness * off * off if limit == 0.0 else 0.0


@inner
def motor(
    t: float, e: int, elements: Elements, joints: Joints, schedules: Schedules, sites: Sites,
    frames: Floats, wrench: Floats, power: Floats,
) -> None:  # fmt: skip
    """A load along a coordinate; its whole power counts as work."""
    c, s, load = elements.what[e, ELEMENT_COORDINATE], elements.what[e, SCHEDULE1], 0.0
    if s < 0:
        load = elements.numbers[e, 0]
    else:
        load = schedule_value(s, t, schedules)[0]
    _, rate = joint_coordinate(c, joints, sites, frames)
    power[INTO] += load * rate
    push_coordinate(wrench, load, c, joints, sites, frames)


@inner
def tape(
    e: int, elements: Elements, joints: Joints, sites: Sites, frames: Floats, wrench: Floats,
    power: Floats,
) -> float:  # fmt: skip
    """A tape spring: linear, snap, plateau; returns its energy."""
    numbers, c = elements.numbers, elements.what[e, ELEMENT_COORDINATE]
    x, rate = joint_coordinate(c, joints, sites, frames)
    away = x - numbers[e, 1]
    first = TAPE_SIDES if away >= 0.0 else TAPE_SIDES + 2
    moment, energy = bent_tape(
        abs(away), numbers[e, 0], numbers[e, first], numbers[e, first + 1], numbers[e, 3]
    )
    drag = numbers[e, 2] * rate
    power[OUT] += drag * rate
    push_coordinate(wrench, -math.copysign(moment, away) - drag, c, joints, sites, frames)
    return energy


@inner
def joint_law(
    t: float, e: int, elements: Elements, joints: Joints, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """A user's law of a coordinate; returns its energy, or counts its whole power as work."""
    numbers, c, address = (
        elements.numbers,
        elements.what[e, ELEMENT_COORDINATE],
        elements.what[e, LAW_ADDRESS],
    )
    x, rate = joint_coordinate(c, joints, sites, frames)
    push = call_formula(address, LOAD_OF, t, x, rate, e, numbers)
    push_coordinate(wrench, push, c, joints, sites, frames)
    if numbers[e, 0] == 0.0:
        power[INTO] += push * rate
        return 0.0 * push  # nan where that is no number
    still = call_formula(address, LOAD_OF, t, x, 0.0, e, numbers)
    power[INTO] += call_formula(address, CHANGE_OF, t, x, 0.0, e, numbers)
    power[OUT] += (still - push) * rate
    return call_formula(address, ENERGY_OF, t, x, 0.0, e, numbers) + 0.0 * push


@inner
def driven_loads(
    t: float, e: int, elements: Elements, joints: Joints, schedules: Schedules, sites: Sites,
    frames: Floats, wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """Add the load of element e, of a rare kind that acts on a coordinate or changes with time, to
    `wrench` and `power`; returns its potential energy."""
    kind, energy = elements.what[e, KIND], 0.0
    if kind == PAIR:
        energy = driven_pair(t, e, elements, schedules, sites, frames, wrench, power)
    elif kind == COORDINATE:
        energy = driven_coordinate(t, e, elements, joints, schedules, sites, frames, wrench, power)
    elif kind == SERVO:
        energy = servo(t, e, elements, joints, schedules, sites, frames, wrench, power)
    elif kind == MOTOR:
        motor(t, e, elements, joints, schedules, sites, frames, wrench, power)
    elif kind == TAPE:
        energy = tape(e, elements, joints, sites, frames, wrench, power)
    elif kind == JOINT_LAW:
        energy = joint_law(t, e, elements, joints, sites, frames, wrench, power)
    return energy
