"""Closing loops: the rows that the tree does not satisfy by itself, solved in innovation space.

Every freedom of the tree has an innovation nu: its acceleration in units in which the tree's mass
matrix is one.  A unit load on a row, carried up both paths to the root, leaves one number at each
freedom that it passes; these numbers are a row of A, with A A' = J M^-1 J' over the tree.  Gauss's
principle is then the smallest nu with A nu = gamma - J a: rows are scaled by what they would yield
between free bodies, so that units and masses do not matter, and taken strong ones first.  A row
that lies in the span of those before it, or that the tree already satisfies, is redundant and drops
out; one that nearly does is damped smoothly (`PIVOT`).  Beside light members a row may be short and
yet demand something of its own: how far it reaches is then measured without masses (`reach`).

Freedoms are numbered along the loops (tree.py), so that a row answers in a short span of A and is
compared only with rows whose spans meet its own: a row of four-bars costs in proportion to its
length."""

from __future__ import annotations

import math

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.matrices import cholesky3, lower, lower_transposed, mixed_transposed, sym6
from quirkpy.kernels.base.vectors import add, cross, dot, get3, put3, scale, sub
from quirkpy.kernels.place.rows import JACOBIAN, LEFT, SECOND, SIZE
from quirkpy.kernels.tree.elimination import (
    ACCELERATION,
    AXIS,
    CENTRE,
    CHANGE,
    G_FACTOR,
    G_GAIN,
    G_MOTION,
    G_PUSH,
    G_STEP,
    GAIN,
    INVERSE,
    MOST,
    POINT,
    ROOT,
    SCHUR,
    SCHUR_ROOT,
    SHIFT,
    general_motion,
)
from quirkpy.kernels.tree.members import change_member, pass_modes
from quirkpy.kernels.tree.reach import (
    HIGH,
    LISTED,
    LOW,
    PIVOT_ROUNDING,
    SHORT,
    free_response,
    least_size,
    strength,
)
from quirkpy.kernels.tree.tree import (
    BALL_NODE,
    COUNT,
    FIRST,
    FREE_NODE,
    GENERAL_NODE,
    LOOP_BODY1,
    LOOP_BODY2,
    LOOP_BODY3,
    LOOP_BODY4,
    MEMBER_NODE,
    NODE,
    ORDER,
    PARENT,
    PLACE,
    SLIDE_NODE,
    TURN_NODE,
    WHOSE,
    Tree,
)
from quirkpy.maths.types import Floats, Ints

#: Rows whose part independent of the others, squared, is far above this count fully; far below, not
#: at all.  For one acceleration, exact; and for the stages of a run, whose drift of 1e-9 must not
#: pose as independence.
PIVOT = 1e-11
RUNNING_PIVOT = 1e-8
#: Sweeps of the damped solution: what is left of a row with independent part d is (mu^2 /
#: d^2)^SWEEPS.
SWEEPS = 3
#: Rows that have kept this share of the strongest one's size may be taken before it, for the sake
#: of short spans.
STRONG = 0.25

# Columns of the report: of the rows that count, how many, and the independent part of the weakest,
# squared (1 when there is none), and which row that is (-1: none), or the first of those that fade;
# the largest contradiction, and the largest demand; which row was the first to fade (-1: none).
COUNTED, WEAKEST, WHICH, CONTRADICTION, TARGET, FADING, REPORT_WIDTH = range(7)


@inner
def innovation_scales(nodes: Ints, work: Floats) -> None:
    """Square roots of the admittance of each freedom: its acceleration by a unit load."""
    for i in range(nodes.shape[0] - 1):
        kind = nodes[i, NODE]
        if kind == TURN_NODE or kind == SLIDE_NODE:
            work[i, ROOT] = math.sqrt(work[i, INVERSE])
        elif kind == BALL_NODE or kind == FREE_NODE:
            h = cholesky3(sym6(work, i, INVERSE))
            for k in range(6):
                work[i, ROOT + k] = h[k]
            if kind == FREE_NODE:
                h = cholesky3(sym6(work, i, SCHUR))
                for k in range(6):
                    work[i, SCHUR_ROOT + k] = h[k]


@inner
def pass_freedoms(
    nodes: Ints,
    i: int,
    count: int,
    f: Vec,
    n: Vec,
    row: Floats,
    at: int,
    work: Floats,
    general: Floats,
) -> tuple[Vec, Vec]:
    """Pass a load (f, n) at the point of body i through its joint: adds its innovations to
    row[at:], returns the load on the parent."""
    kind = nodes[i, NODE]
    if kind == TURN_NODE or kind == SLIDE_NODE:
        z = get3(work, i, AXIS)
        y = dot(z, n) if kind == TURN_NODE else dot(z, f)
        row[at] += y * work[i, ROOT]
        y *= work[i, INVERSE]
        return sub(f, scale(y, get3(work, i, GAIN))), sub(n, scale(y, get3(work, i, GAIN + 3)))
    if kind == BALL_NODE or kind == FREE_NODE:
        y = lower_transposed(sym6(work, i, ROOT), n)
        f = sub(
            f,
            (
                dot(get3(work, i, GAIN), n),
                dot(get3(work, i, GAIN + 3), n),
                dot(get3(work, i, GAIN + 6), n),
            ),
        )
        for k in range(3):
            row[at + k] += y[k]
        if kind == FREE_NODE:
            y = lower_transposed(sym6(work, i, SCHUR_ROOT), f)
            for k in range(3):
                row[at + 3 + k] += y[k]
        return f, (0.0, 0.0, 0.0)
    if kind == GENERAL_NODE:
        for k in range(count):
            x = dot(get3(general, i, G_MOTION + 6 * k), f) + dot(
                get3(general, i, G_MOTION + 6 * k + 3), n
            )
            for m in range(k):
                x -= general[i, G_FACTOR + MOST * k + m] * general[i, G_STEP + m]
            x /= general[i, G_FACTOR + MOST * k + k]
            general[i, G_STEP + k] = x
            row[at + k] += x
        for k in range(count - 1, -1, -1):
            x = general[i, G_STEP + k]
            for m in range(k + 1, count):
                x -= general[i, G_FACTOR + MOST * m + k] * general[i, G_STEP + m]
            x /= general[i, G_FACTOR + MOST * k + k]
            general[i, G_STEP + k] = x
            f = sub(f, scale(x, get3(general, i, G_GAIN + 6 * k)))
            n = sub(n, scale(x, get3(general, i, G_GAIN + 6 * k + 3)))
    if kind >= MEMBER_NODE:
        return pass_modes(i, nodes, f, n, row, at, work, general)
    return f, n


@inner
def carry_up(
    nodes: Ints,
    a: int,
    b: int,
    fa: Vec,
    na: Vec,
    fb: Vec,
    nb: Vec,
    row: Floats,
    work: Floats,
    general: Floats,
) -> tuple[int, int]:
    """Propagate the loads of a row from bodies a and b to the root; where the two paths meet the
    loads are added.  Returns the span of the freedoms that they pass."""
    ground = nodes.shape[0] - 1
    low, high = row.shape[0], 0
    while a < ground or b < ground:
        if nodes[a, PLACE] < nodes[b, PLACE]:  # the deeper one moves, so that the paths can meet
            a, b = b, a
            fa, fb = fb, fa
            na, nb = nb, na
        if a == b:
            fa, na = add(fa, fb), add(na, nb)
            b, fb, nb = ground, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        at, count = nodes[a, FIRST], nodes[a, COUNT]
        if count > 0:
            low, high = min(low, at), max(high, at + count)
            fa, na = pass_freedoms(nodes, a, count, fa, na, row, at, work, general)
        na = add(na, cross(get3(work, a, SHIFT), fa))
        a = nodes[a, PARENT]
    return min(low, high), high


@inner
def load_and_motion(
    rows: Floats, k: int, first: int, i: int, work: Floats
) -> tuple[tuple[Vec, Vec], float, float]:  # fmt: skip
    """For body i and the six columns of row k from `first` on: the load at the body's point, J a,
    and its size without signs; nothing for the ground."""
    if i == work.shape[0] - 1:
        return ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), 0.0, 0.0
    linear = dot(get3(rows, k, first), get3(work, i, CENTRE))
    angular = dot(get3(rows, k, first + 3), get3(work, i, ACCELERATION + 3))
    return at_point(rows, k, first, i, work), linear + angular, abs(linear) + abs(angular)


@inner
def innovation_rows(
    tree: Tree, bodies: Floats, rows: Floats, A: Floats, spans: Ints, work: Floats, general: Floats
) -> None:
    """A, and what the accelerations in the scratch array leave of the targets, LEFT - J a, scaled;
    SIZE: what went into that, without signs.  Outside its span, that of the last time on entry, a
    row is zero."""
    for k in range(rows.shape[0]):
        a, b = tree.loops[k, LOOP_BODY1], tree.loops[k, LOOP_BODY2]
        for m in range(spans[k, LOW], spans[k, HIGH]):
            A[k, m] = 0.0
        left = rows[k, LEFT]
        demand = abs(left)  # the sum of what cancels, all positive: a measure of rounding
        loads, part, size = load_and_motion(rows, k, JACOBIAN, a, work)
        others, other_part, other_size = load_and_motion(rows, k, JACOBIAN + 6, b, work)
        left -= part + other_part
        demand += size + other_size
        low, high = carry_up(tree.nodes, a, b, *loads, *others, A[k], work, general)
        nodes = tree.nodes
        free = free_response(rows, k, JACOBIAN, nodes[a, WHOSE], nodes[b, WHOSE], bodies)
        if tree.loops[k, LOOP_BODY3] >= 0:
            a, b = tree.loops[k, LOOP_BODY3], tree.loops[k, LOOP_BODY4]
            loads, part, size = load_and_motion(rows, k, SECOND, a, work)
            others, other_part, other_size = load_and_motion(rows, k, SECOND + 6, b, work)
            left -= part + other_part
            demand += size + other_size
            more, most = carry_up(tree.nodes, a, b, *loads, *others, A[k], work, general)
            if most > more:
                low, high = (min(low, more), max(high, most)) if high > low else (more, most)
            free += free_response(rows, k, SECOND, nodes[a, WHOSE], nodes[b, WHOSE], bodies)
        scaling = 1.0 / math.sqrt(free) if free > 0.0 else 0.0
        for m in range(low, high):
            A[k, m] *= scaling
        spans[k, LOW], spans[k, HIGH] = low, high
        rows[k, LEFT], rows[k, SIZE] = left * scaling, demand * scaling


@inner
def at_point(rows: Floats, k: int, first: int, i: int, work: Floats) -> tuple[Vec, Vec]:
    """The load of row k on body i, moved from the mass centre to the body's point."""
    f, n = get3(rows, k, first), get3(rows, k, first + 3)
    return f, sub(n, cross(get3(work, i, POINT), f))


@inner
def list_rows(A: Floats, spans: Ints, rows: Floats, floor: float, report: Floats) -> int:
    """SIZE of each row, and the numbers of the rows above the floor into spans[:, LISTED]; returns
    the number of listed rows."""
    listed = 0
    for i in range(rows.shape[0]):
        report[TARGET] = max(report[TARGET], rows[i, SIZE])
        s = 0.0
        for k in range(spans[i, LOW], spans[i, HIGH]):
            s += A[i, k] * A[i, k]
        rows[i, SIZE] = s
        if s > floor:
            spans[listed, LISTED] = i
            listed += 1
    return listed


@inner
def next_row(listed: int, spans: Ints, rows: Floats) -> int:
    """The listed row to eliminate next: among the strong ones the first of those with the shortest
    span."""
    strongest = 0.0
    for p in range(listed):
        strongest = max(strongest, rows[spans[p, LISTED], SIZE])
    best, shortest = -1, 0
    for p in range(listed):
        i = spans[p, LISTED]
        length = spans[i, HIGH] - spans[i, LOW]
        if rows[i, SIZE] >= STRONG * strongest and (best < 0 or length < shortest):
            best, shortest = i, length
    return best


@inner
def take_out(best: int, listed: int, A: Floats, spans: Ints, rows: Floats, floor: float) -> int:
    """Orthogonalize the other listed rows against row `best`; returns how many rows stay on the
    list."""
    q, low, high, d, left = (
        A[best],
        spans[best, LOW],
        spans[best, HIGH],
        rows[best, SIZE],
        rows[best, LEFT],
    )
    kept = 0
    for p in range(listed):
        i = spans[p, LISTED]
        if i == best:
            continue
        share = 0.0
        for k in range(max(low, spans[i, LOW]), min(high, spans[i, HIGH])):
            share += A[i, k] * q[k]
        if share != 0.0:
            share /= d
            for k in range(low, high):
                A[i, k] -= share * q[k]
            spans[i, LOW], spans[i, HIGH] = min(low, spans[i, LOW]), max(high, spans[i, HIGH])
            s = 0.0
            for k in range(spans[i, LOW], spans[i, HIGH]):
                s += A[i, k] * A[i, k]
            rows[i, SIZE] = s
            rows[i, LEFT] -= share * left
        if rows[i, SIZE] > floor:  # what is left of others is rounding
            spans[kept, LISTED] = i
            kept += 1
    rows[best, SIZE] = -1.0
    return kept


@inner
def leave_out(which: int, listed: int, spans: Ints) -> int:
    """Remove a row from the list; returns how many rows stay on it."""
    kept = 0
    for p in range(listed):
        if spans[p, LISTED] != which:
            spans[kept, LISTED] = spans[p, LISTED]
            kept += 1
    return kept


@inner
def smallest_solution(
    tree: Tree,
    bodies: Floats,
    work: Floats,
    A: Floats,
    spans: Ints,
    rows: Floats,
    mu: float,
    report: Floats,
) -> None:
    """The smallest nu with A nu = rows[:, LEFT], strong rows first, into the last row of A;
    destroys the others.

    report[CONTRADICTION]: the largest right-hand side left on rows that do not count: how far they
    contradict the others; report[TARGET]: the largest of the numbers in SIZE; report[WHICH]: of
    rows that fade, the first, else the weakest of those that count."""
    m, n = rows.shape[0], A.shape[1]
    nu = A[m]
    for k in range(n):
        nu[k] = 0.0
    report[COUNTED], report[WEAKEST], report[WHICH] = 0.0, 1.0, -1.0
    report[CONTRADICTION], report[TARGET], report[FADING] = 0.0, 0.0, -1.0
    floor = least_size(mu, bodies)
    listed = list_rows(A, spans, rows, floor, report)
    for _ in range(m):
        if listed == 0:
            break
        best = next_row(listed, spans, rows)
        d = rows[best, SIZE]
        part = d if d >= SHORT else strength(best, A, spans, rows, tree, bodies, work)
        if part <= PIVOT_ROUNDING * mu:
            listed = leave_out(best, listed, spans)
            continue
        if part > mu:
            report[COUNTED] += 1.0
            if part < report[WEAKEST]:
                report[WEAKEST], report[WHICH] = part, best
        elif report[FADING] < 0.0:
            report[FADING] = best
        undone = (
            mu * mu / (part * (part + mu) + mu * mu)
        )  # what one sweep of the damped solution leaves
        step = rows[best, LEFT] / d * (1.0 - undone**SWEEPS)
        for k in range(spans[best, LOW], spans[best, HIGH]):
            nu[k] += step * A[best, k]
        listed = take_out(best, listed, A, spans, rows, floor)
    if report[FADING] >= 0.0:
        report[WHICH] = report[FADING]
    for i in range(m):
        if 0.0 <= rows[i, SIZE] < mu:
            report[CONTRADICTION] = max(report[CONTRADICTION], abs(rows[i, LEFT]))


@inner
def add_innovations(nodes: Ints, nu: Floats, work: Floats, general: Floats) -> None:
    """Add the accelerations that the innovations make to those in the scratch array."""
    ground = nodes.shape[0] - 1
    for k in range(ground):
        i = nodes[k, ORDER]
        p, kind, at, count = nodes[i, PARENT], nodes[i, NODE], nodes[i, FIRST], nodes[i, COUNT]
        a, alpha = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if p < ground:
            alpha = get3(work, p, CHANGE + 3)
            a = add(get3(work, p, CHANGE), cross(alpha, get3(work, i, SHIFT)))
        if kind == TURN_NODE or kind == SLIDE_NODE:
            s = nu[at] * work[i, ROOT]
            s -= (dot(get3(work, i, GAIN), a) + dot(get3(work, i, GAIN + 3), alpha)) * work[
                i, INVERSE
            ]
            if kind == TURN_NODE:
                alpha = add(alpha, scale(s, get3(work, i, AXIS)))
            else:
                a = add(a, scale(s, get3(work, i, AXIS)))
        elif kind == BALL_NODE or kind == FREE_NODE:
            if kind == FREE_NODE:
                a = lower(sym6(work, i, SCHUR_ROOT), (nu[at + 3], nu[at + 4], nu[at + 5]))
            back = mixed_transposed(
                get3(work, i, GAIN), get3(work, i, GAIN + 3), get3(work, i, GAIN + 6), a
            )
            alpha = sub(lower(sym6(work, i, ROOT), (nu[at], nu[at + 1], nu[at + 2])), back)
        elif kind == GENERAL_NODE:
            for r in range(count):
                effort = 0.0
                for c in range(r + 1):
                    effort += general[i, G_FACTOR + MOST * r + c] * nu[at + c]
                general[i, G_PUSH + r] = effort
            a, alpha = general_motion(i, count, a, alpha, G_PUSH, general)
        elif kind >= MEMBER_NODE:
            a, alpha = change_member(i, nodes, a, alpha, nu, work, general)
        put3(work, i, CHANGE, a)
        put3(work, i, CHANGE + 3, alpha)
        put3(work, i, ACCELERATION + 3, add(get3(work, i, ACCELERATION + 3), alpha))
        put3(
            work, i, CENTRE, add(get3(work, i, CENTRE), sub(a, cross(alpha, get3(work, i, POINT))))
        )


@shared
def close_loops(
    tree: Tree, bodies: Floats, rows: Floats, A: Floats, spans: Ints, mu: float, work: Floats,
    general: Floats, report: Floats,
) -> None:  # fmt: skip
    """Correct the tree's accelerations (CENTRE and the angular ones) so that J a = LEFT on the
    closing rows."""
    innovation_scales(tree.nodes, work)
    innovation_rows(tree, bodies, rows, A, spans, work, general)
    smallest_solution(tree, bodies, work, A, spans, rows, mu, report)
    add_innovations(tree.nodes, A[rows.shape[0]], work, general)
