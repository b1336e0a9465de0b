"""Fields and other rare loads, one function for each kind.  `field_loads` is called for these kinds
alone."""

from __future__ import annotations

import math

from quirkpy.kernels.act.magnets import dipoles, image, planet_dipole
from quirkpy.kernels.act.orbit import MOVING, MU, origin
from quirkpy.kernels.act.wrenches import INTO, OUT, load_body
from quirkpy.kernels.base.arrays import (
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    KIND,
    LAW_ADDRESS,
    MASS,
    POSITION,
    SCHEDULE1,
    SCHEDULE2,
    SPIN,
    VELOCITY,
    Elements,
    Schedules,
    Sites,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.hook import call_law
from quirkpy.kernels.base.matrices import mat9, mixed_transposed, sym6, sym_times
from quirkpy.kernels.base.vectors import add, cross, dot, get3, norm, scale, sub
from quirkpy.kernels.place.kinematics import inertia_in_n
from quirkpy.kernels.place.schedules import schedule_rate, schedule_value
from quirkpy.kernels.place.sites import (
    from_site,
    join_to_site,
    load_at,
    power_at,
    push_at,
    site_motion,
    to_site,
    twist_at,
)
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import (
    BUSHING,
    CHARGES,
    DIPOLES,
    HILL,
    IMAGE,
    LAW,
    PLANET,
    PLANET_DIPOLE,
    WHEEL,
)

#: sin(x) / x is one where the sine is no more than this [1].
NO_SINE = 1e-150
#: Coulomb's constant [N m2/C2].
COULOMB = 8.9875517923e9
# Columns of a bushing: stiffness, then damping, each as linear (6), mixed (9) and angular (6)
# block.
BUSHING_DAMPING, MIXED_BLOCK, ANGULAR_BLOCK = 21, 6, 15


@inner
def hill(e: int, numbers: Floats, bodies: Floats, frames: Floats, wrench: Floats) -> float:
    """The turning frame, on every mass element: x up, y along, z normal; returns the amended
    potential.

    Force m (2n y' + 3n2 x, -2n x', -n2 z); torque 3n2 x^ x I x^ + I (w x o) - o x I (w + o) - w x I
    o, o = n z^."""
    n, energy = numbers[e, 0], 0.0
    for b in range(bodies.shape[0]):
        m, r, v, w = (
            bodies[b, MASS],
            get3(frames, b, POSITION),
            get3(frames, b, VELOCITY),
            get3(frames, b, SPIN),
        )
        j, o = inertia_in_n(bodies, frames, b), (0.0, 0.0, n)
        f = m * n * (2.0 * v[1] + 3.0 * n * r[0]), -2.0 * m * n * v[0], -m * n * n * r[2]
        of_frame = sym_times(j, o)
        gradient = (0.0, -3.0 * n * n * j[2], 3.0 * n * n * j[1])
        turning = sub(sym_times(j, cross(w, o)), cross(o, sym_times(j, w)))
        load_body(b, f, add(gradient, sub(turning, cross(add(o, w), of_frame))), wrench)
        energy += 0.5 * n * n * (m * (r[2] * r[2] - 3.0 * r[0] * r[0]) + 3.0 * j[0] - j[5])
    return energy


@inner
def planet(
    t: float, e: int, numbers: Floats, bodies: Floats, frames: Floats, wrench: Floats, power: Floats
) -> float:
    """A point mass, to second order in the size of each body: force and torque; returns the
    potential energy.

    If the origin of N falls freely, the acceleration of the origin is subtracted (without
    cancellation), and the remainder counts as work, since its potential would depend on time."""
    mu, moving, centre, energy = (
        numbers[e, MU],
        numbers[e, MOVING] != 0.0,
        origin(t, e, numbers),
        0.0,
    )
    for b in range(bodies.shape[0]):
        m, r, j = bodies[b, MASS], get3(frames, b, POSITION), inertia_in_n(bodies, frames, b)
        at = add(centre, r)
        distance = norm(at)
        c, cube = scale(1.0 / distance, at), distance * distance * distance
        jc, trace = sym_times(j, c), j[0] + j[3] + j[5]
        out = dot(c, jc)
        f = scale(-1.5 * mu / (cube * distance), add(scale(2.0, jc), scale(trace - 5.0 * out, c)))
        if moving:
            square = dot(centre, centre)
            q = dot(r, add(r, scale(2.0, centre))) / square
            s = (1.0 + q) * math.sqrt(1.0 + q)
            share = q * (3.0 + q * (3.0 + q)) / (s * (1.0 + s))  # 1 - (|origin| / |at|)^3
            f = add(f, scale(-mu * m / (square * math.sqrt(square)), sub(r, scale(share, at))))
        else:
            f = add(f, scale(-mu * m / cube, at))
            energy -= mu * (m / distance + 0.5 * (trace - 3.0 * out) / cube)
        torque = scale(3.0 * mu / cube, cross(c, jc))
        load_body(b, f, torque, wrench)
        if moving:
            v, w = get3(frames, b, VELOCITY), get3(frames, b, SPIN)
            power[INTO] += dot(f, v) + dot(torque, w)
    return energy


@inner
def charges(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """Two charges in a plasma: U = k q1 q2 exp(-d / l) / d, or work where a charge is scheduled."""
    numbers, one, two = elements.numbers, elements.what[e, SCHEDULE1], elements.what[e, SCHEDULE2]
    here = site_motion(elements.what[e, ELEMENT_SITE1], sites, frames)
    there = site_motion(elements.what[e, ELEMENT_SITE2], sites, frames)
    q1 = schedule_value(one, t, schedules)[0] if one >= 0 else numbers[e, 0]
    q2 = schedule_value(two, t, schedules)[0] if two >= 0 else numbers[e, 1]
    d, screening = sub(there.position, here.position), numbers[e, 2]
    distance = norm(d)
    energy = COULOMB * q1 * q2 * math.exp(-screening * distance) / distance
    f = scale(energy * (1.0 / distance + screening) / distance, d)
    back, still = scale(-1.0, f), (0.0, 0.0, 0.0)
    push_at(there, f, wrench)
    push_at(here, back, wrench)
    if one < 0 and two < 0:
        return energy
    power[INTO] += power_at(there, f, still) + power_at(here, back, still)
    return 0.0


@inner
def block_times(numbers: Floats, e: int, first: int, a: Vec, b: Vec) -> tuple[Vec, Vec]:
    """A symmetric 6x6 matrix, stored by blocks from column `first` on, times (a, b)."""
    mixed = mat9(numbers, e, first + MIXED_BLOCK)
    rows = mixed[0:3], mixed[3:6], mixed[6:9]
    upper = add(
        sym_times(sym6(numbers, e, first), a), (dot(rows[0], b), dot(rows[1], b), dot(rows[2], b))
    )
    lower = add(
        mixed_transposed(rows[0], rows[1], rows[2], a),
        sym_times(sym6(numbers, e, first + ANGULAR_BLOCK), b),
    )
    return upper, lower


@inner
def rotation_vector(s1: int, s2: int, sites: Sites, frames: Floats) -> Vec:
    """Axis times angle of the turn from site 1 to site 2, in either's axes, at most half a turn
    [rad]."""
    x = to_site(s1, from_site(s2, (1.0, 0.0, 0.0), sites, frames), sites, frames)
    y = to_site(s1, from_site(s2, (0.0, 1.0, 0.0), sites, frames), sites, frames)
    z = to_site(s1, from_site(s2, (0.0, 0.0, 1.0), sites, frames), sites, frames)
    twice = y[2] - z[1], z[0] - x[2], x[1] - y[0]  # 2 sin(angle) axis
    sine, cosine = 0.5 * norm(twice), 0.5 * (x[0] + y[1] + z[2] - 1.0)
    angle = math.atan2(sine, cosine)
    return scale(0.5 * angle / sine if sine > NO_SINE else 0.5, twice)


@inner
def conjugate_torque(phi: Vec, g: Vec) -> Vec:
    """The torque conjugate to a gradient g with respect to the rotation vector phi: torque . omega
    = g . phi'."""
    angle = norm(phi)
    if angle < 1e-2:
        square = angle * angle
        c = 1.0 / 12.0 + square * (1.0 / 720.0 + square / 30240.0)
    else:
        c = (1.0 - 0.5 * angle / math.tan(0.5 * angle)) / (angle * angle)
    across = cross(phi, g)
    return add(g, add(scale(0.5, across), scale(c, cross(phi, across))))


@inner
def bushing(
    e: int, elements: Elements, sites: Sites, frames: Floats, wrench: Floats, power: Floats
) -> float:
    """A 6x6 spring and damper between two sites, in the axes of site 1; returns its potential
    energy."""
    numbers, s1, s2 = (
        elements.numbers,
        elements.what[e, ELEMENT_SITE1],
        elements.what[e, ELEMENT_SITE2],
    )
    one, two = site_motion(s1, sites, frames), site_motion(s2, sites, frames)
    apart, phi = sub(two.position, one.position), rotation_vector(s1, s2, sites, frames)
    d = to_site(s1, apart, sites, frames)
    u, w = sub(two.velocity, one.velocity), sub(two.spin, one.spin)
    rate = to_site(s1, sub(u, cross(one.spin, apart)), sites, frames)
    spin = to_site(s1, w, sites, frames)
    g, gamma = block_times(numbers, e, 0, d, phi)
    drag, resistance = block_times(numbers, e, BUSHING_DAMPING, rate, spin)
    f = from_site(s1, scale(-1.0, add(g, drag)), sites, frames)
    torque = from_site(
        s1, scale(-1.0, add(conjugate_torque(phi, gamma), resistance)), sites, frames
    )
    load_at(two, f, torque, wrench)
    load_at(join_to_site(one, two.position, frames), scale(-1.0, f), scale(-1.0, torque), wrench)
    power[OUT] += dot(rate, drag) + dot(spin, resistance)
    return 0.5 * (dot(d, g) + dot(phi, gamma))


@inner
def wheel(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats,
) -> None:  # fmt: skip
    """A momentum h stored in a body: torque -h' - w x h, h' as seen from the body; that of the
    motor counts as work."""
    site, s, h = (
        elements.what[e, ELEMENT_SITE1],
        elements.what[e, SCHEDULE1],
        get3(elements.numbers, e, 0),
    )
    motor = 0.0, 0.0, 0.0
    if s >= 0:
        h = schedule_value(s, t, schedules)
        motor = from_site(site, scale(-1.0, schedule_rate(s, t, schedules)), sites, frames)
    at = site_motion(site, sites, frames)
    twist_at(at, add(motor, cross(from_site(site, h, sites, frames), at.spin)), wrench)
    power[INTO] += dot(motor, at.spin)


@shared
def field_loads(
    t: float, e: int, elements: Elements, schedules: Schedules, bodies: Floats, sites: Sites,
    frames: Floats, wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """Add the load of element e to `wrench` and `power`; returns its potential energy."""
    kind, numbers, energy = elements.what[e, KIND], elements.numbers, 0.0
    if kind == HILL:
        energy = hill(e, numbers, bodies, frames, wrench)
    elif kind == PLANET:
        energy = planet(t, e, numbers, bodies, frames, wrench, power)
    elif kind == DIPOLES:
        energy = dipoles(t, e, elements, schedules, sites, frames, wrench, power)
    elif kind == IMAGE:
        energy = image(e, elements, sites, frames, wrench)
    elif kind == PLANET_DIPOLE:
        energy = planet_dipole(t, e, elements, schedules, sites, frames, wrench, power)
    elif kind == CHARGES:
        energy = charges(t, e, elements, schedules, sites, frames, wrench, power)
    elif kind == BUSHING:
        energy = bushing(e, elements, sites, frames, wrench, power)
    elif kind == WHEEL:
        wheel(t, e, elements, schedules, sites, frames, wrench, power)
    elif kind == LAW:
        address, what, sites_of, places = (
            elements.what[e, LAW_ADDRESS],
            elements.what,
            sites.body,
            sites.place,
        )
        energy = call_law(address, t, e, what, numbers, sites_of, places, frames, wrench, power)
    return energy
