"""Eliminating the freedoms of one body, and handing its inertia and load to its parent.

The work of one body is one row of the scratch array, so that a pass touches memory in order;
recursion.py says what the letters mean."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import (
    MOTION_AXIS,
    MOTION_KIND,
    MOTION_SITE,
    ROW_FACTOR,
    Mat,
    RowTable,
    Sites,
    Sym,
    Vec,
)
from quirkpy.kernels.base.compiled import inner, woven
from quirkpy.kernels.base.matrices import mixed_transposed, put6, sym6, sym_inverse, sym_times
from quirkpy.kernels.base.vectors import add, cross, dot, get3, put3, scale, sub
from quirkpy.kernels.place.sites import axis_on
from quirkpy.kernels.tree.tree import (
    COUNT,
    FAR,
    MOTION,
    NEAR,
    PARENT,
    SENSE,
    THREAD,
    TURN_NODE,
    Tree,
)
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import SCREW, SLIDE, TURN

# Columns of the scratch array, a row per body.
POINT = 0  # o - r (3)
SHIFT = 3  # o - o of the parent (3)
BIAS = 6  # c: linear, angular (6)
LOAD = 12  # p: linear, angular (6)
LINEAR = 18  # A, symmetric: xx xy xz yy yz zz (6)
MIXED = 24  # B, row-major (9)
ANGULAR = 33  # C, symmetric (6)
AXIS = 39  # z of a single freedom (3)
GAIN = 42  # single freedom: U = I S (6);  ball, free: B C^-1 (9)
INVERSE = 51  # single freedom: 1 / D;  ball, free: C^-1 (6)
EFFORT = 57  # single freedom: -S' p
ACCELERATION = 58  # a at o: linear, angular (6)
SCHUR = 64  # free: inverse of A - B C^-1 B' (6)
CENTRE = 70  # acceleration of the mass centre (3)
# Loops: H with H H' = C^-1 (ball, free), packed like a symmetric matrix; 1 / sqrt(D) (single) (6).
ROOT = 73
SCHUR_ROOT = 79  # loops: H with H H' = SCHUR (free) (6)
CHANGE = 85  # loops: what closing them adds to the acceleration at o (6)
# Loops: before that, mass of the body and of all that hangs on it, where it was asked for
BRANCH = 85
WIDTH = 91

# Columns of the second scratch array, for joints with several freedoms that are not all turns (at
# most 5).
MOST = 5
G_MOTION = 0  # S, a column after the other (6 x 5)
G_GAIN = 30  # U = I S (6 x 5)
G_FACTOR = 60  # Cholesky factor of D = S' I S, row-major (5 x 5)
G_EFFORT = 85  # -S' p (5)
G_PUSH = 90  # loops: innovations as efforts (5)
G_STEP = 95  # scratch: a vector over the freedoms (5)
G_HALF = 100  # scratch: V = L^-1 (U', -S' p), row-major (5 x 7)
G_WIDTH = 135


@inner
def hand_over(i: int, p: int, A: Sym, B: Mat, C: Sym, f: Vec, n: Vec, work: Floats) -> None:
    """Add inertia [A B; B' C] and load (f, n), taken at the point of body i, to body p at its own
    point."""
    d = get3(work, i, SHIFT)
    # B - A [d]x: row k of A [d]x is (row k of A) x d
    r0 = cross((A[0], A[1], A[2]), d)
    r1 = cross((A[1], A[3], A[4]), d)
    r2 = cross((A[2], A[4], A[5]), d)
    b00, b01, b02 = B[0] - r0[0], B[1] - r0[1], B[2] - r0[2]
    b10, b11, b12 = B[3] - r1[0], B[4] - r1[1], B[5] - r1[2]
    b20, b21, b22 = B[6] - r2[0], B[7] - r2[1], B[8] - r2[2]
    # C + [d]x B' - B'[d]x (the first with the new B, the second with the old)
    k0 = cross(d, (b00, b10, b20))
    k1 = cross(d, (b01, b11, b21))
    k2 = cross(d, (b02, b12, b22))
    l0 = cross((B[0], B[3], B[6]), d)
    l1 = cross((B[1], B[4], B[7]), d)
    l2 = cross((B[2], B[5], B[8]), d)
    for k in range(6):
        work[p, LINEAR + k] += A[k]
    work[p, MIXED] += b00
    work[p, MIXED + 1] += b01
    work[p, MIXED + 2] += b02
    work[p, MIXED + 3] += b10
    work[p, MIXED + 4] += b11
    work[p, MIXED + 5] += b12
    work[p, MIXED + 6] += b20
    work[p, MIXED + 7] += b21
    work[p, MIXED + 8] += b22
    work[p, ANGULAR] += C[0] + k0[0] - l0[0]
    work[p, ANGULAR + 1] += C[1] + k1[0] - l0[1]
    work[p, ANGULAR + 2] += C[2] + k2[0] - l0[2]
    work[p, ANGULAR + 3] += C[3] + k1[1] - l1[1]
    work[p, ANGULAR + 4] += C[4] + k2[1] - l1[2]
    work[p, ANGULAR + 5] += C[5] + k2[2] - l2[2]
    m = cross(d, f)
    work[p, LOAD] += f[0]
    work[p, LOAD + 1] += f[1]
    work[p, LOAD + 2] += f[2]
    work[p, LOAD + 3] += n[0] + m[0]
    work[p, LOAD + 4] += n[1] + m[1]
    work[p, LOAD + 5] += n[2] + m[2]


@woven
def eliminate_single(i: int, kind: int, work: Floats) -> None:
    """One turn or slide: keeps U, 1/D and u = -S' p."""
    b0, b1, b2 = get3(work, i, MIXED), get3(work, i, MIXED + 3), get3(work, i, MIXED + 6)
    z = get3(work, i, AXIS)
    if kind == TURN_NODE:
        uf = (dot(b0, z), dot(b1, z), dot(b2, z))
        un = sym_times(sym6(work, i, ANGULAR), z)
        work[i, INVERSE], work[i, EFFORT] = 1.0 / dot(z, un), -dot(z, get3(work, i, LOAD + 3))
    else:
        uf = sym_times(sym6(work, i, LINEAR), z)
        un = mixed_transposed(b0, b1, b2, z)
        work[i, INVERSE], work[i, EFFORT] = 1.0 / dot(z, uf), -dot(z, get3(work, i, LOAD))
    put3(work, i, GAIN, uf)
    put3(work, i, GAIN + 3, un)


@woven
def without_single(i: int, work: Floats) -> tuple[Sym, Mat, Sym, Vec, Vec]:
    """What a body with one turn or slide leaves to its parent: I - U U'/D and p + I c + U (u /
    D)."""
    A, C = sym6(work, i, LINEAR), sym6(work, i, ANGULAR)
    b0, b1, b2 = get3(work, i, MIXED), get3(work, i, MIXED + 3), get3(work, i, MIXED + 6)
    f, n = get3(work, i, LOAD), get3(work, i, LOAD + 3)
    cf, cn = get3(work, i, BIAS), get3(work, i, BIAS + 3)
    uf, un, inverse, effort = (
        get3(work, i, GAIN),
        get3(work, i, GAIN + 3),
        work[i, INVERSE],
        work[i, EFFORT],
    )
    # p + I c, and the part of it that the freedom takes: (u - U . c) / D
    take = (effort - dot(uf, cf) - dot(un, cn)) * inverse
    fa, na = sym_times(A, cf), mixed_transposed(b0, b1, b2, cf)
    nc = sym_times(C, cn)
    f = (
        f[0] + fa[0] + dot(b0, cn) + uf[0] * take,
        f[1] + fa[1] + dot(b1, cn) + uf[1] * take,
        f[2] + fa[2] + dot(b2, cn) + uf[2] * take,
    )
    n = (
        n[0] + na[0] + nc[0] + un[0] * take,
        n[1] + na[1] + nc[1] + un[1] * take,
        n[2] + na[2] + nc[2] + un[2] * take,
    )
    g, h = scale(inverse, uf), scale(inverse, un)
    A = (
        A[0] - g[0] * uf[0], A[1] - g[0] * uf[1], A[2] - g[0] * uf[2],
        A[3] - g[1] * uf[1], A[4] - g[1] * uf[2], A[5] - g[2] * uf[2],
    )  # fmt: skip
    B = (
        b0[0] - g[0] * un[0], b0[1] - g[0] * un[1], b0[2] - g[0] * un[2],
        b1[0] - g[1] * un[0], b1[1] - g[1] * un[1], b1[2] - g[1] * un[2],
        b2[0] - g[2] * un[0], b2[1] - g[2] * un[1], b2[2] - g[2] * un[2],
    )  # fmt: skip
    C = (
        C[0] - h[0] * un[0], C[1] - h[0] * un[1], C[2] - h[0] * un[2],
        C[3] - h[1] * un[1], C[4] - h[1] * un[2], C[5] - h[2] * un[2],
    )  # fmt: skip
    return A, B, C, f, n


@inner
def eliminate_turns(i: int, work: Floats) -> tuple[Sym, Vec]:
    """All three turns: what remains is a point mass A - B C^-1 B' and a force; keeps C^-1 and B
    C^-1."""
    A, inverse = sym6(work, i, LINEAR), sym_inverse(sym6(work, i, ANGULAR))
    b0, b1, b2 = get3(work, i, MIXED), get3(work, i, MIXED + 3), get3(work, i, MIXED + 6)
    f, n = get3(work, i, LOAD), get3(work, i, LOAD + 3)
    put6(work, i, INVERSE, inverse)
    k0, k1, k2 = sym_times(inverse, b0), sym_times(inverse, b1), sym_times(inverse, b2)
    put3(work, i, GAIN, k0)
    put3(work, i, GAIN + 3, k1)
    put3(work, i, GAIN + 6, k2)
    A = (
        A[0] - dot(k0, b0), A[1] - dot(k0, b1), A[2] - dot(k0, b2),
        A[3] - dot(k1, b1), A[4] - dot(k1, b2), A[5] - dot(k2, b2),
    )  # fmt: skip
    return A, sub(f, (dot(k0, n), dot(k1, n), dot(k2, n)))


@inner
def hand_over_point(i: int, p: int, A: Sym, f: Vec, work: Floats) -> None:
    """`hand_over` for a point mass: B = 0, C = 0, n = 0."""
    d = get3(work, i, SHIFT)
    # -A [d]x, and [d]x of that
    r0 = cross(d, (A[0], A[1], A[2]))
    r1 = cross(d, (A[1], A[3], A[4]))
    r2 = cross(d, (A[2], A[4], A[5]))
    k0 = cross(d, (r0[0], r1[0], r2[0]))
    k1 = cross(d, (r0[1], r1[1], r2[1]))
    k2 = cross(d, (r0[2], r1[2], r2[2]))
    for k in range(6):
        work[p, LINEAR + k] += A[k]
    for k in range(3):
        work[p, MIXED + k] += r0[k]
        work[p, MIXED + 3 + k] += r1[k]
        work[p, MIXED + 6 + k] += r2[k]
    work[p, ANGULAR] += k0[0]
    work[p, ANGULAR + 1] += k1[0]
    work[p, ANGULAR + 2] += k2[0]
    work[p, ANGULAR + 3] += k1[1]
    work[p, ANGULAR + 4] += k2[1]
    work[p, ANGULAR + 5] += k2[2]
    m = cross(d, f)
    for k in range(3):
        work[p, LOAD + k] += f[k]
        work[p, LOAD + 3 + k] += m[k]


@inner
def whole_bias(i: int, work: Floats) -> tuple[Vec, Vec]:
    """p + I c for a joint without freedoms."""
    A, C = sym6(work, i, LINEAR), sym6(work, i, ANGULAR)
    b0, b1, b2 = get3(work, i, MIXED), get3(work, i, MIXED + 3), get3(work, i, MIXED + 6)
    cf, cn = get3(work, i, BIAS), get3(work, i, BIAS + 3)
    f = add(get3(work, i, LOAD), add(sym_times(A, cf), (dot(b0, cn), dot(b1, cn), dot(b2, cn))))
    n = add(get3(work, i, LOAD + 3), add(mixed_transposed(b0, b1, b2, cf), sym_times(C, cn)))
    return f, n


@inner
def ball_turn(i: int, a: Vec, n: Vec, work: Floats) -> Vec:
    """Angular acceleration that leaves no torque: -C^-1 (B' a + n)."""
    k0, k1, k2 = get3(work, i, GAIN), get3(work, i, GAIN + 3), get3(work, i, GAIN + 6)
    return scale(-1.0, add(mixed_transposed(k0, k1, k2, a), sym_times(sym6(work, i, INVERSE), n)))


@inner
def motion_axis(tree: Tree, i: int, k: int, sites: Sites, frames: Floats) -> Vec:
    """The axis, in N, of freedom k of the joint by which body i hangs: one of the parent's site,
    but for a cross, which has one of either."""
    nodes, motion = tree.nodes, tree.nodes[i, MOTION] + k
    axis = tree.motions[motion, MOTION_AXIS]
    if is_cross(tree, i) and (tree.motions[motion, MOTION_SITE] == 0) == (nodes[i, SENSE] < 0):
        return axis_on(i, nodes[i, FAR], axis, sites, frames)
    return axis_on(nodes[i, PARENT], nodes[i, NEAR], axis, sites, frames)


@inner
def is_cross(tree: Tree, i: int) -> bool:
    """Whether body i hangs by a cross: two turns, the second about an axis of site 2."""
    second = tree.nodes[i, MOTION] + 1
    return tree.nodes[i, COUNT] == 2 and tree.motions[second, MOTION_SITE] == 1


@inner
def cross_bias(tree: Tree, i: int, w: Vec, sites: Sites, frames: Floats) -> Vec:
    """What the turn about the parent's arm of a cross does to that about the body's own: the
    angular acceleration without any of the rates changing; w: angular velocity relative to the
    parent."""
    if not is_cross(tree, i):
        return 0.0, 0.0, 0.0
    one, two = (
        motion_axis(tree, i, 0, sites, frames), motion_axis(tree, i, 1, sites, frames),
    )  # fmt: skip
    return scale(tree.nodes[i, SENSE] * dot(w, one) * dot(w, two), cross(one, two))


@inner
def pitch_of(tree: Tree, i: int, rows: RowTable) -> float:
    """How far the screw by which body i hangs moves on as it turns [m/rad]."""
    return -rows.numbers[tree.nodes[i, THREAD], ROW_FACTOR]


@inner
def eliminate_general(
    i: int,
    tree: Tree,
    rows: RowTable,
    sites: Sites,
    frames: Floats,
    work: Floats,
    general: Floats,
) -> None:
    """Freedoms S (6 x n): replaces A, B, C by I - U D^-1 U', and p by p + U D^-1 u; keeps S, U, D
    and u = -S' p."""
    first, n = tree.nodes[i, MOTION], tree.nodes[i, COUNT]
    A, C = sym6(work, i, LINEAR), sym6(work, i, ANGULAR)
    b0, b1, b2 = get3(work, i, MIXED), get3(work, i, MIXED + 3), get3(work, i, MIXED + 6)
    for k in range(n):
        z, kind = motion_axis(tree, i, k, sites, frames), tree.motions[first + k, MOTION_KIND]
        turning = 0.0 if kind == SLIDE else 1.0
        moving = 0.0 if kind == TURN else 1.0
        if kind == SCREW:
            moving = pitch_of(tree, i, rows)
        put3(general, i, G_MOTION + 6 * k, scale(moving, z))
        put3(general, i, G_MOTION + 6 * k + 3, scale(turning, z))
        uf = add(
            scale(turning, (dot(b0, z), dot(b1, z), dot(b2, z))), scale(moving, sym_times(A, z))
        )
        un = add(scale(turning, sym_times(C, z)), scale(moving, mixed_transposed(b0, b1, b2, z)))
        put3(general, i, G_GAIN + 6 * k, uf)
        put3(general, i, G_GAIN + 6 * k + 3, un)
        effort = 0.0
        for c in range(6):
            effort -= general[i, G_MOTION + 6 * k + c] * work[i, LOAD + c]
        general[i, G_EFFORT + k] = effort
    # D = S' U = L L'
    for k in range(n):
        for m in range(k + 1):
            d = 0.0
            for c in range(6):
                d += general[i, G_MOTION + 6 * k + c] * general[i, G_GAIN + 6 * m + c]
            for c in range(m):
                d -= general[i, G_FACTOR + MOST * k + c] * general[i, G_FACTOR + MOST * m + c]
            general[i, G_FACTOR + MOST * k + m] = (
                math.sqrt(d) if m == k else d / general[i, G_FACTOR + MOST * m + m]
            )
    # V = L^-1 U': then U D^-1 U' = V' V and U D^-1 t = V' (L^-1 t)
    for k in range(n):
        for c in range(7):
            x = general[i, G_EFFORT + k] if c == 6 else general[i, G_GAIN + 6 * k + c]
            for m in range(k):
                x -= general[i, G_FACTOR + MOST * k + m] * general[i, G_HALF + 7 * m + c]
            general[i, G_HALF + 7 * k + c] = x / general[i, G_FACTOR + MOST * k + k]
    for k in range(n):
        v, w = get3(general, i, G_HALF + 7 * k), get3(general, i, G_HALF + 7 * k + 3)
        at = 0
        for r in range(3):
            for c in range(3):
                work[i, MIXED + 3 * r + c] -= v[r] * w[c]
                if c >= r:
                    work[i, LINEAR + at] -= v[r] * v[c]
                    work[i, ANGULAR + at] -= w[r] * w[c]
                    at += 1
        for c in range(6):
            work[i, LOAD + c] += general[i, G_HALF + 7 * k + c] * general[i, G_HALF + 7 * k + 6]


@inner
def general_motion(
    i: int, n: int, a: Vec, alpha: Vec, push: int, general: Floats
) -> tuple[Vec, Vec]:
    """a + S s'' with D s'' = (-S' p) - U' a, where -S' p stands in column `push`."""
    s = G_STEP
    for k in range(n):
        x = general[i, push + k]
        for c in range(3):
            x -= (
                general[i, G_GAIN + 6 * k + c] * a[c]
                + general[i, G_GAIN + 6 * k + 3 + c] * alpha[c]
            )
        for m in range(k):
            x -= general[i, G_FACTOR + MOST * k + m] * general[i, s + m]
        general[i, s + k] = x / general[i, G_FACTOR + MOST * k + k]
    for k in range(n - 1, -1, -1):
        x = general[i, s + k]
        for m in range(k + 1, n):
            x -= general[i, G_FACTOR + MOST * m + k] * general[i, s + m]
        x /= general[i, G_FACTOR + MOST * k + k]
        general[i, s + k] = x
        a = add(a, scale(x, get3(general, i, G_MOTION + 6 * k)))
        alpha = add(alpha, scale(x, get3(general, i, G_MOTION + 6 * k + 3)))
    return a, alpha
