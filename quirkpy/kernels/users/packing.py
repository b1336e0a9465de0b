"""`pack`: tables as packed arrays for kernels, made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from quirkpy.kernels.base.arrays import (
    PLACE_WIDTH,
    RIGID,
    UPPER,
    Elements,
    Modes,
    Packed,
    RowTable,
    Schedules,
    Sites,
)
from quirkpy.kernels.place.sites import points_of, with_points
from quirkpy.kernels.users.modal import stations_of
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.parts.body import Site
from quirkpy.parts.joint_laws import JointLaw
from quirkpy.parts.law import CompiledForce
from quirkpy.tables.compile import site_line
from quirkpy.tables.tables import ANGLE, FORMULA, JOINT_LAW, LAW, RELATION_ROW, SCREW, Tables


def pack(t: Tables) -> Packed:
    """The packed arrays of the tables, made once and shared; they are never written to."""
    known = vars(t)
    if "packed" not in known:
        known["packed"] = _pack(t)
    made: Packed = known["packed"]
    return made


def _pack(t: Tables) -> Packed:
    moments = t.body_inertia.reshape(-1, 9)[:, UPPER]
    rows, points, modes = stations_of(t.site_body, t.site_point, t)
    body = rows[t.joint_site1], rows[t.joint_site2]
    sites = t.joint_site1[t.coordinate_joint], t.joint_site2[t.coordinate_joint]
    second = t.coordinate_site == 1
    turning = [(t.coordinate_axis + k) % 3 for k in (1, 2)]
    across, up = np.where(
        second, turning[::-1], turning
    )  # seen from site 2, an axis of site 1 turns the other way
    coordinates = _columns(
        t.coordinate_kind, t.coordinate_axis, np.where(second, *sites[::-1]), *sites,
        np.where(second, *sites), across, across, up,
    )  # fmt: skip
    return Packed(
        Sites(rows, np.concatenate([points, t.site_axes], axis=1)),
        _columns(t.joint_site1, t.joint_site2),
        coordinates,
        RowTable(
            _columns(
                t.row_kind,
                t.row_joint,
                t.row_axis1,
                t.row_axis2,
                t.row_schedule,
                *_row_bodies(t, rows),
            ),
            np.stack([t.row_value, t.row_factor, _periods(t)], axis=1),
        ),
        Elements(
            _columns(
                t.element_kind,
                t.element_site1,
                t.element_site2,
                t.element_site3,
                t.element_coordinate,
                *t.element_schedule.T,
                _addresses(t),
            ),
            t.element_numbers.copy(),
            np.zeros(len(t.element_kind), dtype=np.int64),
        ),
        Schedules(
            _spans(t),
            np.concatenate([t.knot_time[:, None], t.knot_value], axis=1),
        ),
        np.ascontiguousarray(np.concatenate([t.body_mass[:, None], moments], axis=1)),
        _columns(t.freedom_kind, t.freedom_axis, t.freedom_site),
        _columns(
            *body,
            t.joint_site1,
            t.joint_site2,
            t.joint_freedom[:-1],
            np.diff(t.joint_freedom),
            t.joint_in_tree,
            _threads(t),
        ),
        modes,
    )


def _threads(t: Tables) -> Ints:
    """The row by which each joint that is a screw moves on; -1: it is none (nj,)."""
    screws = np.zeros(len(t.joint_site1), dtype=bool)
    owner = np.repeat(np.arange(len(screws)), np.diff(t.joint_freedom))
    screws[owner[t.freedom_kind == SCREW]] = True
    return np.where(screws, t.joint_row[1:] - 1, -1)


def sites_of(parts: Sequence[Site], rows: Mapping[str, int], ground: int) -> Sites:
    """Sites that are in no table, packed; rows: the numbers of bodies by name, and that of the
    ground, for sites on fixed bodies.  None of the bodies bends."""
    body = [ground if site.body.fixed else rows[site.body.name] for site in parts]
    place = [(*point, *axes) for point, axes in map(site_line, parts)]
    return Sites(np.array(body, dtype=np.int64), np.reshape(place, (-1, PLACE_WIDTH)))


def sites_and_modes(parts: Sequence[Site], t: Tables) -> tuple[Sites, Modes]:
    """Sites that are in no table, packed, on bodies of that, and the modes with stations for them
    alone."""
    sites = sites_of(parts, t.body_index, len(t.bodies))
    if not t.bends:
        return sites, RIGID
    rows, inside, modes = stations_of(sites.body, points_of(sites), t)
    return with_points(sites, rows, inside), modes


def sites_known(parts: Sequence[Site], t: Tables) -> Sites:
    """Sites packed as `pack` does; those on bodies that bend must be in the tables."""
    packed, out = pack(t), sites_of(parts, t.body_index, t.n_bodies + len(pack(t).modes.stations))
    for k, site in enumerate(parts):
        if len(packed.modes.what) and site.body.modal is not None:
            out.body[k] = packed.sites.body[_row_of(site, t)]
            out.place[k] = (0.0, 0.0, 0.0, *site.axes9)
    return out


def _row_of(site: Site, t: Tables) -> int:
    """The row in the tables of a site."""
    point, axes = site_line(site)
    same = (t.site_point == point).all(axis=1) & (t.site_axes == axes).all(axis=1)
    found = np.flatnonzero(same & (t.site_body == t.body_index[site.body.name]))
    if not len(found):
        raise site.refuse(
            f"its body {site.body.name!r} bends, and no joint, force or sensor of the system is at "
            "this site; name one of theirs, or read run.at(t).",
            code="together",
        )
    return int(found[0])


def _addresses(t: Tables) -> Ints:
    """The address of the machine code of each element's law in this process; 0 if it has none
    (ne,)."""
    out = np.zeros(len(t.element_kind), dtype=np.int64)
    if not ((t.element_kind == LAW) | (t.element_kind == JOINT_LAW)).any():
        return out
    for e in np.flatnonzero(t.element_kind == LAW):
        from quirkpy.kernels.users.laws import address_of  # only then: it needs these arrays

        force = t.forces[t.element_force[e]]
        assert isinstance(force, CompiledForce)
        out[e] = address_of(force)
    for e in np.flatnonzero(t.element_kind == JOINT_LAW):
        from quirkpy.kernels.users.formulas import address_of_law

        law = t.forces[t.element_force[e]]
        assert isinstance(law, JointLaw)
        out[e] = address_of_law(law)
    return out


def _spans(t: Tables) -> Ints:
    """For each schedule: its first and last knot, or part; its kind; the address of its formula."""
    if not len(t.schedule_kind):
        return _columns(*(t.schedule_kind for _ in range(4)))
    made = t.schedule_parts[:, 0] >= 0
    knots = np.stack([t.schedule_knot[:-1], t.schedule_knot[1:] - 1], axis=1)
    first, last = np.where(made[:, None], t.schedule_parts, knots).T
    addresses = np.zeros(len(made), dtype=np.int64)
    for s in np.flatnonzero(t.schedule_kind == FORMULA):
        from quirkpy.kernels.users.formulas import address_of_function

        formula = t.schedule_formula[s]
        assert formula is not None
        addresses[s] = address_of_function(formula)
    return _columns(first, last, t.schedule_kind, addresses)


def _row_bodies(t: Tables, bodies: Ints) -> Ints:
    """The rows of the bodies on which each row acts, and those of its second coordinate (4, nr);
    bodies: the row of each site."""
    relates, ends = t.row_kind == RELATION_ROW, (t.joint_site1, t.joint_site2)
    one, two = t.row_joint.copy(), np.full(len(t.row_joint), -1)
    if not relates.any():
        return np.array([*(bodies[sites[one]] for sites in ends), two, two])
    one[relates] = t.coordinate_joint[t.row_axis1[relates]]
    pairs = np.flatnonzero(relates & (t.row_axis2 >= 0))
    two[pairs] = t.coordinate_joint[t.row_axis2[pairs]]
    other = (two >= 0) & (two != one)
    return np.array(
        [bodies[sites[one]] for sites in ends]
        + [np.where(other, bodies[sites[np.where(other, two, 0)]], -1) for sites in ends]
    ).reshape(4, -1)


def _periods(t: Tables) -> Floats:
    """For each relation with exactly one angle the change of its residual by a whole turn (nr,); 0
    for others."""
    out = np.zeros(len(t.row_kind))
    for row in np.flatnonzero(t.row_kind == RELATION_ROW):
        pairs = ((t.row_axis1[row], 1.0), (t.row_axis2[row], t.row_factor[row]))
        turns = [factor for c, factor in pairs if c >= 0 and t.coordinate_kind[c] == ANGLE]
        out[row] = 2.0 * np.pi * abs(turns[0]) if len(turns) == 1 else 0.0
    return out


def _columns(*columns: Ints | Bools) -> Ints:
    """Whole numbers as columns of an array."""
    out = np.empty((len(columns[0]), len(columns)), dtype=np.int64)
    for k, column in enumerate(columns):
        out[:, k] = column
    return out
