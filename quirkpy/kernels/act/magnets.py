"""Dipoles: pairs of them, the images of magnets in a superconductor, and the field of a planet."""

from __future__ import annotations

import math

from quirkpy.kernels.act.orbit import MOVING, origin
from quirkpy.kernels.act.wrenches import INTO
from quirkpy.kernels.base.arrays import (
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    ELEMENT_SITE3,
    SCHEDULE1,
    SCHEDULE2,
    Elements,
    Schedules,
    Sites,
    Vec,
)
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, cross, dot, get3, scale, sub
from quirkpy.kernels.place.schedules import schedule_value
from quirkpy.kernels.place.sites import (
    from_site,
    join_to_site,
    load_at,
    power_at,
    site_motion,
    to_site,
)
from quirkpy.maths.constants import MU0_4PI
from quirkpy.maths.types import Floats

# Columns of the numbers of an image (see `Element`).
COLD, MOMENT1, MOMENT2, FROZEN_POINT, FROZEN_MOMENT = 0, 1, 2, 3, 6
# Of a dipole in a planet's field, after those of the orbit.
PLANET_MOMENT, OWN_MOMENT = 10, 13


@inner
def on_dipole(m1: Vec, m2: Vec, d: Vec) -> tuple[Vec, Vec, float]:
    """Force and torque on dipole 2, which lies d from dipole 1, and the energy of the two.

    U = mu0/(4 pi r3) [m1.m2 - 3 (m1.u)(m2.u)], F = -dU/dd, torque = m2 x B1, with u = d/r.
    """
    square = dot(d, d)
    r = math.sqrt(square)
    u = scale(1.0 / r, d)
    a, b, c, k = dot(m1, u), dot(m2, u), dot(m1, m2), MU0_4PI / (r * square)
    f = add(add(scale(a, m2), scale(b, m1)), scale(c - 5.0 * a * b, u))
    field = scale(k, sub(scale(3.0 * a, u), m1))
    return scale(3.0 * k / r, f), cross(m2, field), k * (c - 3.0 * a * b)


@inner
def moment_of(t: float, site: int, e: int, first: int, s: int, elements: Elements,
schedules: Schedules, sites: Sites,
              frames: Floats) -> Vec:  # fmt: skip
    """Moment in N of the dipole at a site: three numbers from column `first` on, or schedule s, in
    axes of the site."""
    m = get3(elements.numbers, e, first)
    if s >= 0:
        m = schedule_value(s, t, schedules)
    return from_site(site, m, sites, frames)


@inner
def dipoles(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """Two dipoles; returns their energy, or counts their power as work if a moment is scheduled."""
    what = elements.what
    site1, site2, one, two = (
        what[e, ELEMENT_SITE1],
        what[e, ELEMENT_SITE2],
        what[e, SCHEDULE1],
        what[e, SCHEDULE2],
    )
    here, there = site_motion(site1, sites, frames), site_motion(site2, sites, frames)
    m1 = moment_of(t, site1, e, 0, one, elements, schedules, sites, frames)
    m2 = moment_of(t, site2, e, 3, two, elements, schedules, sites, frames)
    d = sub(there.position, here.position)
    f, torque, energy = on_dipole(m1, m2, d)
    back, counter = (
        scale(-1.0, f),
        scale(-1.0, add(torque, cross(d, f))),
    )  # together they have no moment
    load_at(there, f, torque, wrench)
    load_at(here, back, counter, wrench)
    if one < 0 and two < 0:
        return energy
    power[INTO] += power_at(there, f, torque) + power_at(here, back, counter)
    return 0.0


@inner
def image(e: int, elements: Elements, sites: Sites, frames: Floats, wrench: Floats) -> float:
    """One magnet (site 2) and the two images of another or the same (site 3) behind a face (site 1,
    normal z).

    Everything in the axes of the face.  The mobile image mirrors the magnet of site 3, the frozen
    one stays; the energy of the mobile one counts half, for it is induced."""
    numbers, what = elements.numbers, elements.what
    if numbers[e, COLD] == 0.0:
        return 0.0
    face, site, source = what[e, ELEMENT_SITE1], what[e, ELEMENT_SITE2], what[e, ELEMENT_SITE3]
    plane, at = site_motion(face, sites, frames), site_motion(site, sites, frames)
    mirrored = site_motion(source, sites, frames)
    x = to_site(face, sub(at.position, plane.position), sites, frames)
    y = to_site(face, sub(mirrored.position, plane.position), sites, frames)
    m = to_site(
        face, from_site(site, (0.0, 0.0, numbers[e, MOMENT1]), sites, frames), sites, frames
    )
    k = to_site(
        face, from_site(source, (0.0, 0.0, numbers[e, MOMENT2]), sites, frames), sites, frames
    )
    f1, t1, u1 = on_dipole((k[0], k[1], -k[2]), m, sub(x, (y[0], y[1], -y[2])))
    f2, t2, u2 = on_dipole(
        get3(numbers, e, FROZEN_MOMENT), m, sub(x, get3(numbers, e, FROZEN_POINT))
    )
    f, torque = (
        from_site(face, add(f1, f2), sites, frames),
        from_site(face, add(t1, t2), sites, frames),
    )
    load_at(at, f, torque, wrench)
    load_at(join_to_site(plane, at.position, frames), scale(-1.0, f), scale(-1.0, torque), wrench)
    return 0.5 * u1 + u2


@inner
def planet_dipole(
    t: float, e: int, elements: Elements, schedules: Schedules, sites: Sites, frames: Floats,
    wrench: Floats, power: Floats,
) -> float:  # fmt: skip
    """A dipole in the field of a planet's; energy, or work where the planet moves in N or the
    moment is scheduled."""
    numbers, site, s = (
        elements.numbers,
        elements.what[e, ELEMENT_SITE1],
        elements.what[e, SCHEDULE1],
    )
    at = site_motion(site, sites, frames)
    m = moment_of(t, site, e, OWN_MOMENT, s, elements, schedules, sites, frames)
    x = add(origin(t, e, numbers), at.position)
    f, torque, energy = on_dipole(get3(numbers, e, PLANET_MOMENT), m, x)
    load_at(at, f, torque, wrench)
    if s < 0 and numbers[e, MOVING] == 0.0:
        return energy
    power[INTO] += power_at(at, f, torque)
    return 0.0
