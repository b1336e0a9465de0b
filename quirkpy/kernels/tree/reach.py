"""How strong a closing row is: what it adds to those before it, in the metric of mass, and how far
it reaches without.

A row is divided by what its two bodies would yield if they were free: so it is long where the
lightest of them can follow it, and short where only heavier ones could.  Short is also what the
tree satisfies by itself.  The two are told apart by weighing every freedom of the tree as much as
its whole branch: masses cancel then, and angles are left."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import MASS, MOMENTS
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import dot, get3
from quirkpy.kernels.place.rows import JACOBIAN, SECOND, SIZE
from quirkpy.kernels.tree.elimination import BRANCH
from quirkpy.kernels.tree.tree import (
    COUNT,
    FIRST,
    LOOP_BODY1,
    LOOP_BODY2,
    LOOP_BODY3,
    LOOP_BODY4,
    MEMBER_NODE,
    NODE,
    ORDER,
    PARENT,
    WHOSE,
    Tree,
)
from quirkpy.maths.types import Floats, Ints

#: What is left of a row below this share of the pivot is rounding.
PIVOT_ROUNDING = 1e-3
#: Rows shorter than the first are asked how far they reach: a pose may be singular, or a member
#: light; what is shorter than the second is rounding, whatever masses are.
SHORT, LEAST_ROW = 1e-4, 1e-26
# Columns of the spans of A, a row per closing row: where it may differ from zero; and, apart from
# that, a list of the rows that are still to be taken.
LOW, HIGH, LISTED, SPAN_WIDTH = range(4)


@inner
def trace_of(bodies: Floats, i: int) -> float:
    """Trace of the moments of a body."""
    return bodies[i, MOMENTS] + bodies[i, MOMENTS + 3] + bodies[i, MOMENTS + 5]


@inner
def free_response(rows: Floats, k: int, first: int, a: int, b: int, bodies: Floats) -> float:
    """The approximate admittance of row k if its two bodies were free."""
    out = 0.0
    if a < bodies.shape[0]:
        f, n = get3(rows, k, first), get3(rows, k, first + 3)
        out += dot(f, f) / bodies[a, MASS] + 3.0 * dot(n, n) / trace_of(bodies, a)
    if b < bodies.shape[0]:
        f, n = get3(rows, k, first + 6), get3(rows, k, first + 9)
        out += dot(f, f) / bodies[b, MASS] + 3.0 * dot(n, n) / trace_of(bodies, b)
    return out


@inner
def own_mass(rows: Floats, k: int, first: int, a: int, b: int, bodies: Floats) -> float:
    """`free_response` with unit masses."""
    out = 0.0
    if a < bodies.shape[0]:
        f, n = get3(rows, k, first), get3(rows, k, first + 3)
        out += dot(f, f) + 3.0 * dot(n, n) * bodies[a, MASS] / trace_of(bodies, a)
    if b < bodies.shape[0]:
        f, n = get3(rows, k, first + 6), get3(rows, k, first + 9)
        out += dot(f, f) + 3.0 * dot(n, n) * bodies[b, MASS] / trace_of(bodies, b)
    return out


@inner
def heaviest_over_lightest(bodies: Floats) -> float:
    """Ratio of the total mass to the smallest mass of a body."""
    total, least = 0.0, math.inf
    for i in range(bodies.shape[0]):
        total += bodies[i, MASS]
        least = min(least, bodies[i, MASS])
    return total / least


@inner
def least_size(mu: float, bodies: Floats) -> float:
    """The SIZE from which on a row may count: where masses are so uneven that its reach may be
    more, next to none."""
    least = PIVOT_ROUNDING * mu
    return least if heaviest_over_lightest(bodies) * math.sqrt(least) <= 1.0 else LEAST_ROW


@inner
def reach(
    k: int, A: Floats, spans: Ints, rows: Floats, tree: Tree, bodies: Floats, work: Floats
) -> float:
    """What is left of row k, squared, if each freedom answered as its whole branch of the tree
    weighs: about 1 where some body can follow the row alone, the square of an angle where all would
    have to be turned by that first.

    Masses cancel: the share of a light member, which answers to a load a million times as fast as
    what it is joined to, does not hide what the row asks of the others."""
    nodes, n = tree.nodes, tree.nodes.shape[0] - 1
    for i in range(n):
        work[i, BRANCH] = bodies[i, MASS] if i < bodies.shape[0] else 0.0
    for p in range(n - 1, -1, -1):  # children come after their parents
        i = nodes[p, ORDER]
        if nodes[i, PARENT] < n:
            work[nodes[i, PARENT], BRANCH] += work[i, BRANCH]
    out = 0.0
    for i in range(n):
        if nodes[i, NODE] == MEMBER_NODE:
            continue  # its freedoms are those of the lead
        for m in range(
            max(spans[k, LOW], nodes[i, FIRST]),
            min(spans[k, HIGH], nodes[i, FIRST] + nodes[i, COUNT]),
        ):
            out += A[k, m] * A[k, m] * work[i, BRANCH]
    c, d = tree.loops[k, LOOP_BODY3], 0
    a, b = nodes[tree.loops[k, LOOP_BODY1], WHOSE], nodes[tree.loops[k, LOOP_BODY2], WHOSE]
    free, unit = (
        free_response(rows, k, JACOBIAN, a, b, bodies),
        own_mass(rows, k, JACOBIAN, a, b, bodies),
    )
    if c >= 0:
        c, d = nodes[c, WHOSE], nodes[tree.loops[k, LOOP_BODY4], WHOSE]
        free += free_response(rows, k, SECOND, c, d, bodies)
        unit += own_mass(rows, k, SECOND, c, d, bodies)
    return out * free / unit if unit > 0.0 else 0.0


@inner
def strength(
    k: int, A: Floats, spans: Ints, rows: Floats, tree: Tree, bodies: Floats, work: Floats
) -> float:
    """The part of a short row that is independent of those taken before it, squared: SIZE; beside
    light members the square of its reach, which is the larger one only there."""
    far = reach(k, A, spans, rows, tree, bodies, work)
    return max(rows[k, SIZE], far * far)
