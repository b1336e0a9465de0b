"""The tables as the kernels take them: few packed arrays, a row per thing, with named columns.

A call from Python copies the description of each array that it is given, so a dozen packed arrays
cost less than fifty slim ones.  All of them can be written to, unlike those of the tables: kernels
are compiled once for each kind of array.  The tuples must be importable by name: numba finds its
cached code by them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from quirkpy.maths.types import Floats, Ints

#: Three numbers in registers.
Vec: TypeAlias = tuple[float, float, float]
#: A symmetric 3x3 matrix in registers: xx xy xz yy yz zz; or a lower triangular one, column by
#: column.
Sym: TypeAlias = tuple[float, float, float, float, float, float]
#: Any 3x3 matrix in registers, row by row.
Mat: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]

# Columns of the kinematics in N, a row per body, the ground last.
POSITION, VELOCITY, AXES, SPIN, FRAME_WIDTH = 0, 3, 6, 15, 18

# Columns of Sites.place.
PLACE_POINT, PLACE_AXES, PLACE_WIDTH = 0, 3, 12

# Columns of Joints.ends.
SITE1, SITE2 = range(2)

# Columns of Joints.coordinates: kind, axis, the site to which that belongs, and the sites of the
# joint; of an angle the pointer, an axis of the other site, and the axes between which it turns
# (see `joint_angle`).
COORDINATE_KIND, COORDINATE_AXIS, AXIS_SITE, COORDINATE_SITE1, COORDINATE_SITE2 = range(5)
POINTER_SITE, POINTER, ACROSS, UP = range(5, 9)

# Columns of RowTable.what; the third and fourth body are those of a second coordinate, -1 where
# there is none or where it is of the same joint.
(
    ROW_KIND,
    ROW_JOINT,
    ROW_AXIS1,
    ROW_AXIS2,
    ROW_SCHEDULE,
    ROW_BODY1,
    ROW_BODY2,
    ROW_BODY3,
    ROW_BODY4,
) = range(9)
# Columns of RowTable.numbers; the period of a relation with just one angle is what a whole turn of
# it makes, else 0.
ROW_VALUE, ROW_FACTOR, ROW_PERIOD = range(3)

# Columns of Elements.what; the last: where the machine code of a user's law is, 0 for others.
(
    KIND,
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    ELEMENT_SITE3,
    ELEMENT_COORDINATE,
    SCHEDULE1,
    SCHEDULE2,
    LAW_ADDRESS,
) = range(8)
ELEMENT_COLUMNS = 8

# Columns of Schedules.spans, and of its knots; of what is made of other schedules the first two say
# which; the last: where the machine code of a formula is, 0 for others.
FIRST_KNOT, LAST_KNOT, INTERPOLATION, FORMULA_ADDRESS = range(4)
KNOT_TIME, KNOT_VALUE, KNOT_WIDTH = 0, 1, 4

# Columns of Packed.motions, and of Packed.carriers: bodies, sites, where its freedoms begin and how
# many they are, whether a tree can hang on it, the row of its thread (-1: it is no screw).
MOTION_KIND, MOTION_AXIS, MOTION_SITE = range(3)
BODY1, BODY2, CARRIER_SITE1, CARRIER_SITE2 = range(4)
FIRST_MOTION, MOTIONS, IN_TREE, THREAD_ROW, CARRIER_WIDTH = range(4, 9)

# Columns of Modes.what: row of the body; how many modes it has; where its coordinates and its
# speeds begin in the tail of a state; where its numbers begin; its products, and its stations, as
# rows.
(
    BENT,
    MODE_COUNT,
    FIRST_COORDINATE,
    FIRST_SPEED,
    MODE_NUMBERS,
    FIRST_PRODUCT,
    LAST_PRODUCT,
    FIRST_STATION,
    LAST_STATION,
) = range(9)
MODES_WIDTH = 9
# Columns of Modes.stations: whose row of Modes.what; where its numbers begin; where those of its
# foreshortening along the three body axes begin (-1: none).
STATION_MODES, STATION_NUMBERS, STATION_SHORTENING, STATION_WIDTH = 0, 1, 2, 5
# Columns of Modes.products: where the matrix begins (first and last of the rows of each column that
# are not zero, then the columns); what it multiplies (0: coordinates, 1:
# speeds); which product that is (`kernels/place/bending.py` names them).
MATRIX, FACTOR, PRODUCT_NUMBER, PRODUCT_WIDTH = range(4)

# Columns of the body array: mass, and the moments xx xy xz yy yz zz about the mass centre in body
# axes.
MASS, MOMENTS, BODY_WIDTH = 0, 1, 7
# Of nine numbers row by row, the upper triangle.
UPPER = [0, 1, 2, 4, 5, 8]


class Sites(NamedTuple):
    """Tables.site_*: row of the body; point and axes in its axes."""

    body: Ints
    place: Floats


class JointTable(NamedTuple):
    """Tables.joint_* and coordinate_*."""

    ends: Ints
    coordinates: Ints


class Joints(NamedTuple):
    """Ends and coordinates of all joints as in Tables; near: the angle [rad] next to which that of
    each coordinate is taken, so that it is continuous past pi."""

    ends: Ints
    coordinates: Ints
    near: Floats


class RowTable(NamedTuple):
    """Tables.row_*."""

    what: Ints
    numbers: Floats


class Elements(NamedTuple):
    """Tables.element_*; phases: what each rope is told to do (ne,), `kernels/act/ropes.py` says
    how."""

    what: Ints
    numbers: Floats
    phases: Ints


class Schedules(NamedTuple):
    """Tables.schedule_* and knot_*: spans (n, 4), knots (nk, KNOT_WIDTH)."""

    spans: Ints
    knots: Floats


class Modes(NamedTuple):
    """How bodies bend: what (n, MODES_WIDTH); stations (ns, STATION_WIDTH), the frames of all sites
    on bodies that bend: rows behind those of bodies, before the ground; products
    (., PRODUCT_WIDTH): the matrices that are not zero; numbers: of all of them, in one line."""

    what: Ints
    stations: Ints
    products: Ints
    numbers: Floats


#: Nothing bends.
RIGID = Modes(
    np.zeros((0, MODES_WIDTH), np.int64), np.zeros((0, STATION_WIDTH), np.int64),
    np.zeros((0, PRODUCT_WIDTH), np.int64), np.zeros(0),
)  # fmt: skip


class Packed(NamedTuple):
    """Tables as the kernels take them.  ends: of every joint (nj, 2); coordinates (nc, 9); bodies:
    masses and moments (nb, BODY_WIDTH); motions: kind and axis of every joint's freedoms (nf, 2);
    carriers: what a tree is made of (nj, CARRIER_WIDTH); modes: how bodies bend."""

    sites: Sites
    ends: Ints
    coordinates: Ints
    rows: RowTable
    elements: Elements
    schedules: Schedules
    bodies: Floats
    motions: Ints
    carriers: Ints
    modes: Modes
