"""Bodies that bend: their mass matrix, what velocities do, and the loads on their modes.

T = V'M(q)V / 2 over velocity, angular velocity and rates of modes, in body axes; `ModalModel` says
what the integrals are, mechanics/bending.py writes the matrix out.  Products of the matrices that
are not zero with amounts and rates are taken once an evaluation."""

from __future__ import annotations

from quirkpy.kernels.act.wrenches import load_body
from quirkpy.kernels.base.arrays import (
    AXES,
    BENT,
    FACTOR,
    FIRST_COORDINATE,
    FIRST_PRODUCT,
    FIRST_SPEED,
    LAST_PRODUCT,
    MASS,
    MATRIX,
    MODE_COUNT,
    MODE_NUMBERS,
    MOMENTS,
    PRODUCT_NUMBER,
    SPIN,
    VELOCITY,
    Modes,
    Sym,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.matrices import put6, sym6, sym_times
from quirkpy.kernels.base.vectors import (
    add,
    centripetal,
    cross,
    dot,
    get3,
    put3,
    scale,
    sub,
    turn_back,
)
from quirkpy.kernels.place.sites import from_body
from quirkpy.kernels.tree.elimination import (
    ANGULAR,
    G_WIDTH,
    LINEAR,
    LOAD,
    MIXED,
)
from quirkpy.maths.types import Floats

# Products of matrices and modal amounts, one behind the other: K q, D u; (G_a q), (G_a u); B_ab q,
# xx xy xz yy yz zz; (S_k q), (S_k u) of the foreshortening; (A_a q), (A_a u) of its moments.
STIFF, DAMPED, TURNED, TURNING, SQUARED, SHORTENED, SHORTENING, TILTED, TILTING = (
    0, 1, 2, 5, 8, 14, 17, 20, 23,
)  # fmt: skip
PRODUCTS = 26
# Columns of the second scratch array behind those of joints, in units of the number of modes n: of
# every member its shapes in N (n x 6), of the body behind them: coupling U (n x 6); V, then W (n x
# 6); y, then L^-1 y; loads on the modes; a vector over the modes; u''; the products; D, then L (n x
# n).  Of a station behind its shapes: beta (6).
SHAPES, COUPLING, HALF, PUSH, LOADS, STEP, ANSWER, PRODUCT, FACTORS = (
    0, 6, 12, 18, 19, 20, 21, 22, 48,
)  # fmt: skip
# Where numbers of a body stand, in units of n, in those of its modes: linear, angular (n x 3), and
# the change of the moments of inertia (n x 6).
OF_FORCE, OF_TORQUE, OF_MOMENTS, NUMBERS_WIDTH = 0, 3, 6, 12


def width_of(modes: int) -> int:
    """Columns behind those of joints for so many modes."""
    return max(FACTORS * modes + modes * modes, 6 * modes + 6)


@inner
def column_of(n: int, part: int) -> int:
    """Where a part of the columns of n modes begins."""
    return G_WIDTH + n * part


@inner
def multiply(b: int, modes: Modes, tail: Floats, general: Floats) -> None:
    """The products of body b of the modes with its amounts and rates, column by column, each from
    its first to its last entry that is not zero."""
    i, n = modes.what[b, BENT], modes.what[b, MODE_COUNT]
    q, u = modes.what[b, FIRST_COORDINATE], modes.what[b, FIRST_SPEED]
    for k in range(modes.what[b, FIRST_PRODUCT], modes.what[b, LAST_PRODUCT]):
        at, first = modes.products[k, MATRIX], q if modes.products[k, FACTOR] == 0 else u
        to = column_of(n, PRODUCT + modes.products[k, PRODUCT_NUMBER])
        for r in range(n):
            general[i, to + r] = 0.0
        for c in range(n):
            low, high = int(modes.numbers[at + 2 * c]), int(modes.numbers[at + 2 * c + 1])
            x, column = tail[0, first + c], at + n * (2 + c)
            for r in range(low, high):
                general[i, to + r] += modes.numbers[column + r] * x


@inner
def three(modes: Modes, b: int, part: int, i: int) -> Vec:
    """Three numbers of mode i of body b."""
    at = modes.what[b, MODE_NUMBERS] + modes.what[b, MODE_COUNT] * part + 3 * i
    return modes.numbers[at], modes.numbers[at + 1], modes.numbers[at + 2]


@inner
def product(general: Floats, i: int, n: int, which: int, k: int) -> float:
    """Entry k of a product."""
    return float(general[i, column_of(n, PRODUCT + which) + k])


@inner
def products3(general: Floats, i: int, n: int, which: int, k: int) -> Vec:
    """Entry k of three products behind each other."""
    at = column_of(n, PRODUCT + which) + k
    return general[i, at], general[i, at + n], general[i, at + 2 * n]


@inner
def pulls(modes: Modes, b: int, k: int, general: Floats) -> tuple[Vec, Vec]:
    """How a rate of mode k moves momentum and angular momentum of body b, in its axes: a column of
    the mass matrix."""
    i, n = modes.what[b, BENT], modes.what[b, MODE_COUNT]
    force = sub(three(modes, b, OF_FORCE, k), products3(general, i, n, SHORTENED, k))
    torque = add(three(modes, b, OF_TORQUE, k), products3(general, i, n, TURNED, k))
    return force, sub(torque, products3(general, i, n, TILTED, k))


@inner
def first_moment(b: int, modes: Modes, tail: Floats, general: Floats) -> Vec:
    """Mass times the way of the mass centre from where it was undeformed, in body axes [kg m]."""
    i, n, q = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_COORDINATE]
    out = (0.0, 0.0, 0.0)
    for k in range(n):
        half = scale(0.5, products3(general, i, n, SHORTENED, k))
        out = add(out, scale(tail[0, q + k], sub(three(modes, b, OF_FORCE, k), half)))
    return out


@inner
def change_of_moments(
    b: int, modes: Modes, tail: Floats, first: int, share: float, general: Floats
) -> Sym:
    """How amounts (share 1) or rates (share 2) that begin at `first` in the tail change the moments
    of inertia, in body axes."""
    i, n = modes.what[b, BENT], modes.what[b, MODE_COUNT]
    at = modes.what[b, MODE_NUMBERS] + OF_MOMENTS * n
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        x, to = tail[0, first + k], at + 6 * k
        xx += x * (modes.numbers[to] + share * product(general, i, n, SQUARED, k))
        xy += x * (modes.numbers[to + 1] + share * product(general, i, n, SQUARED + 1, k))
        xz += x * (modes.numbers[to + 2] + share * product(general, i, n, SQUARED + 2, k))
        yy += x * (modes.numbers[to + 3] + share * product(general, i, n, SQUARED + 3, k))
        yz += x * (modes.numbers[to + 4] + share * product(general, i, n, SQUARED + 4, k))
        zz += x * (modes.numbers[to + 5] + share * product(general, i, n, SQUARED + 5, k))
    return xx, xy, xz, yy, yz, zz


@inner
def add_sym(a: Sym, b: Sym) -> Sym:
    """The sum of two symmetric matrices."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inner
def moments_of(b: int, modes: Modes, bodies: Floats, tail: Floats, general: Floats) -> Sym:
    """Moments of inertia of body b about the origin of its axes, bent as it is."""
    change = change_of_moments(b, modes, tail, modes.what[b, FIRST_COORDINATE], 1.0, general)
    return add_sym(sym6(bodies, modes.what[b, BENT], MOMENTS), change)


@inner
def moving_mass(b: int, modes: Modes, tail: Floats, general: Floats) -> tuple[Vec, Vec, Vec, Vec]:
    """What the rates of the modes of body b do, in its axes: momentum, angular momentum; and how
    both change while the rates stay."""
    i, n, u = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_SPEED]
    p, h, p_rate, h_rate = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(n):
        rate = tail[0, u + k]
        force, torque = pulls(modes, b, k, general)
        p, h = add(p, scale(rate, force)), add(h, scale(rate, torque))
        p_rate = sub(p_rate, scale(rate, products3(general, i, n, SHORTENING, k)))
        h_rate = sub(h_rate, scale(rate, products3(general, i, n, TILTING, k)))
    return p, h, p_rate, h_rate


@inner
def turned_moments(j: Sym, frames: Floats, i: int) -> Sym:
    """Moments in the axes of body i, in N."""
    x, y, z = get3(frames, i, AXES), get3(frames, i, AXES + 3), get3(frames, i, AXES + 6)
    jx, jy, jz = sym_times(j, x), sym_times(j, y), sym_times(j, z)
    return dot(x, jx), dot(x, jy), dot(x, jz), dot(y, jy), dot(y, jz), dot(z, jz)


# --- inertia and bias ----------------------------------------------------------------------------
@inner
def put_body(
    b: int, modes: Modes, bodies: Floats, frames: Floats, wrench: Floats, tail: Floats,
    work: Floats, general: Floats,
) -> None:  # fmt: skip
    """Inertia and load of body b of the modes, with the bias of its velocities."""
    i, u = modes.what[b, BENT], modes.what[b, FIRST_SPEED]
    m, c = bodies[i, MASS], first_moment(b, modes, tail, general)
    j = moments_of(b, modes, bodies, tail, general)
    j_rate = change_of_moments(b, modes, tail, u, 2.0, general)
    p, h, p_rate, h_rate = moving_mass(b, modes, tail, general)
    w = turn_back(frames, i, AXES, get3(frames, i, SPIN))
    f = add(add(centripetal(w, c), scale(2.0, cross(w, p))), p_rate)
    n = add(sym_times(j_rate, w), h_rate)
    n = add(n, cross(w, add(sym_times(j, w), h)))
    put3(work, i, LOAD, sub(from_body(i, f, frames), get3(wrench, i, 0)))
    put3(work, i, LOAD + 3, sub(from_body(i, n, frames), get3(wrench, i, 3)))
    mc = from_body(i, c, frames)
    put6(work, i, LINEAR, (m, 0.0, 0.0, m, 0.0, m))
    put3(work, i, MIXED, (0.0, mc[2], -mc[1]))
    put3(work, i, MIXED + 3, (-mc[2], 0.0, mc[0]))
    put3(work, i, MIXED + 6, (mc[1], -mc[0], 0.0))
    put6(work, i, ANGULAR, turned_moments(j, frames, i))


@inner
def put_modes(
    b: int, keep: float, modes: Modes, frames: Floats, tail: Floats, general: Floats
) -> None:
    """U in N of body b of the modes, its shapes (none), and the loads on its modes less their
    bias."""
    i, n, u = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_SPEED]
    at = modes.what[b, MODE_NUMBERS] + OF_MOMENTS * n
    w = turn_back(frames, i, AXES, get3(frames, i, SPIN))
    two = (w[0] * w[0], 2.0 * w[0] * w[1], 2.0 * w[0] * w[2],
           w[1] * w[1], 2.0 * w[1] * w[2], w[2] * w[2])  # fmt: skip
    to, mine, loads = column_of(n, COUPLING), column_of(n, SHAPES), column_of(n, LOADS)
    for k in range(n):
        force, torque = pulls(modes, b, k, general)
        put3(general, i, to + 6 * k, from_body(i, force, frames))
        put3(general, i, to + 6 * k + 3, from_body(i, torque, frames))
        for c in range(6):
            general[i, mine + 6 * k + c] = 0.0
        x = tail[2, u + k] - 2.0 * dot(w, products3(general, i, n, TURNING, k))
        for c in range(6):
            bent = 0.5 * modes.numbers[at + 6 * k + c] + product(general, i, n, SQUARED + c, k)
            x += two[c] * bent
        general[i, loads + k] = keep * x


# --- loads, momenta, energies ---------------------------------------------------------------------
@shared
def load_modes(modes: Modes, general: Floats, tail: Floats, potential: Floats) -> float:
    """Loads of stiffness and damping on all modes into tail[2], the slopes of their coordinates,
    and energies of strain behind those of the elements; returns the power of damping [W]."""
    taken, first = 0.0, potential.shape[0] - modes.what.shape[0]
    for b in range(modes.what.shape[0]):
        i, n = modes.what[b, BENT], modes.what[b, MODE_COUNT]
        q, u = modes.what[b, FIRST_COORDINATE], modes.what[b, FIRST_SPEED]
        multiply(b, modes, tail, general)
        strain = 0.0
        for k in range(n):
            pull, drag = product(general, i, n, STIFF, k), product(general, i, n, DAMPED, k)
            strain += 0.5 * pull * tail[0, q + k]
            taken += drag * tail[0, u + k]
            tail[1, q + k], tail[2, u + k] = tail[0, u + k], -pull - drag
        potential[first + b] = strain
    return taken


@shared
def pull_modes(
    g: Vec, modes: Modes, frames: Floats, wrench: Floats, general: Floats, tail: Floats
) -> float:
    """What a uniform acceleration g in N does to bodies that bend, beside what it does to them as
    they were; returns the potential energy of that [J]."""
    energy = 0.0
    for b in range(modes.what.shape[0]):
        i, n, u = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_SPEED]
        c = from_body(i, first_moment(b, modes, tail, general), frames)
        here = turn_back(frames, i, AXES, g)
        load_body(i, (0.0, 0.0, 0.0), cross(c, g), wrench)
        energy -= dot(c, g)
        for k in range(n):
            tail[2, u + k] += dot(pulls(modes, b, k, general)[0], here)
    return energy


@inner
def place_of_mass(
    b: int, modes: Modes, frames: Floats, tail: Floats, general: Floats
) -> tuple[Vec, Vec]:
    """First moment of mass about the origin of the axes of body b, and its rate, in N."""
    i = modes.what[b, BENT]
    c = from_body(i, first_moment(b, modes, tail, general), frames)
    p = from_body(i, moving_mass(b, modes, tail, general)[0], frames)
    return c, add(cross(get3(frames, i, SPIN), c), p)


@inner
def turning_mass(
    b: int, modes: Modes, frames: Floats, tail: Floats, general: Floats
) -> tuple[Sym, Vec]:
    """How bending changes the moments of inertia of body b about the origin of its axes, and its
    angular momentum about that, in N."""
    i, q = modes.what[b, BENT], modes.what[b, FIRST_COORDINATE]
    j = change_of_moments(b, modes, tail, q, 1.0, general)
    h = from_body(i, moving_mass(b, modes, tail, general)[1], frames)
    change = turned_moments(j, frames, i)
    return change, add(sym_times(change, get3(frames, i, SPIN)), h)


@inner
def bending_energy(
    modes: Modes, bodies: Floats, frames: Floats, tail: Floats, general: Floats
) -> float:
    """Kinetic energy of bodies that bend beyond that of the same bodies, undeformed and stiff."""
    out = 0.0
    for b in range(modes.what.shape[0]):
        i, n, u = modes.what[b, BENT], modes.what[b, MODE_COUNT], modes.what[b, FIRST_SPEED]
        multiply(b, modes, tail, general)
        q = modes.what[b, FIRST_COORDINATE]
        change = change_of_moments(b, modes, tail, q, 1.0, general)
        p, h, _, _ = moving_mass(b, modes, tail, general)
        v = turn_back(frames, i, AXES, get3(frames, i, VELOCITY))
        w = turn_back(frames, i, AXES, get3(frames, i, SPIN))
        c = first_moment(b, modes, tail, general)
        out += dot(v, add(cross(w, c), p)) + 0.5 * dot(w, sym_times(change, w)) + dot(w, h)
        for k in range(n):
            out += 0.5 * tail[0, u + k] * tail[0, u + k]
    return out
