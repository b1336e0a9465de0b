"""Accelerations by articulated-body recursion in absolute coordinates: O(n) for trees, exact for
every joint.

Each body hangs on its parent at a point o, the origin of the joint's site on the body (a free root:
its mass centre).  Spatial quantities are taken at o in the axes of N, linear part first:

    a = X a_parent + c + S s''      acceleration of the point of the body at o, and of its angular
    velocity f = I a + p                     what the joint must transmit, with the articulated
    inertia I = [A B; B' C] S' f = 0                        the joint's own freedoms carry no load

Backward, from the leaves, each body's freedoms are eliminated and its inertia and load handed to
its parent; forward, from the roots, accelerations follow (Featherstone, Rigid Body Dynamics
Algorithms, ch. 7; here without joint coordinates, so that a change of joints changes a list and
nothing else)."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import (
    AXES,
    MASS,
    SPIN,
    RowTable,
    Sites,
)
from quirkpy.kernels.base.compiled import woven
from quirkpy.kernels.base.matrices import mat9, put6, sym6, sym_inverse, sym_times
from quirkpy.kernels.base.states import ANGULAR_HALF, LINEAR_HALF
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
from quirkpy.kernels.place.kinematics import inertia_in_n
from quirkpy.kernels.place.sites import arm_on, axis_on, join_to_body, point_motion
from quirkpy.kernels.tree.elimination import (
    ACCELERATION,
    ANGULAR,
    AXIS,
    BIAS,
    CENTRE,
    EFFORT,
    G_EFFORT,
    GAIN,
    INVERSE,
    LINEAR,
    LOAD,
    MIXED,
    POINT,
    SCHUR,
    SHIFT,
    ball_turn,
    cross_bias,
    eliminate_general,
    eliminate_single,
    eliminate_turns,
    general_motion,
    hand_over,
    hand_over_point,
    whole_bias,
    without_single,
)
from quirkpy.kernels.tree.members import member_motion, take_member
from quirkpy.kernels.tree.model import Scratch
from quirkpy.kernels.tree.tree import (
    AXIS_NUMBER,
    BALL_NODE,
    COUNT,
    FAR,
    FREE_NODE,
    GENERAL_NODE,
    MEMBER_NODE,
    NEAR,
    NODE,
    ORDER,
    PARENT,
    SLIDE_NODE,
    TURN_NODE,
    Tree,
)
from quirkpy.maths.types import Floats, Ints


@woven
def start_bodies(
    nodes: Ints, bodies: Floats, wrench: Floats, sites: Sites, frames: Floats, work: Floats
) -> None:
    """Point, own inertia and own load of every body."""
    for i in range(bodies.shape[0]):
        w = get3(frames, i, SPIN)
        far = nodes[i, FAR]
        # the point o, and the body's own inertia there: A = m, B = m [c]x, C = J - m [c]x [c]x with
        # c = o - r
        c = (0.0, 0.0, 0.0)
        if far >= 0:
            c = arm_on(i, far, sites, frames)
        m = bodies[i, MASS]
        j = inertia_in_n(bodies, frames, i)
        mc = scale(m, c)
        square = dot(mc, c)
        # what a = 0 would take: centripetal and gyroscopic terms less the applied load
        f = sub(scale(-m, centripetal(w, c)), get3(wrench, i, 0))
        n = sub(sub(cross(w, sym_times(j, w)), get3(wrench, i, 3)), cross(c, f))
        put3(work, i, POINT, c)
        put3(work, i, LOAD, f)
        put3(work, i, LOAD + 3, n)
        put6(work, i, LINEAR, (m, 0.0, 0.0, m, 0.0, m))
        put3(work, i, MIXED, (0.0, -mc[2], mc[1]))
        put3(work, i, MIXED + 3, (mc[2], 0.0, -mc[0]))
        put3(work, i, MIXED + 6, (-mc[1], mc[0], 0.0))
        work[i, ANGULAR] = j[0] + square - mc[0] * c[0]
        work[i, ANGULAR + 1] = j[1] - mc[0] * c[1]
        work[i, ANGULAR + 2] = j[2] - mc[0] * c[2]
        work[i, ANGULAR + 3] = j[3] + square - mc[1] * c[1]
        work[i, ANGULAR + 4] = j[4] - mc[1] * c[2]
        work[i, ANGULAR + 5] = j[5] + square - mc[2] * c[2]


@woven
def hang_bodies(tree: Tree, sites: Sites, frames: Floats, work: Floats) -> None:
    """Shift to the parent's point, axis of the joint, and the acceleration c that the velocities
    alone make."""
    nodes = tree.nodes
    for i in range(nodes.shape[0] - 1):
        p, kind = nodes[i, PARENT], nodes[i, NODE]
        mine = point_motion(i, get3(work, i, POINT), frames)
        theirs = join_to_body(p, mine.position, frames)  # o as part of the parent
        d = sub(theirs.arm, get3(work, p, POINT))
        w, wp = mine.spin, theirs.spin
        bias = centripetal(wp, d)
        if kind == SLIDE_NODE or kind == GENERAL_NODE:
            slip = sub(mine.velocity, theirs.velocity)
            bias = add(bias, scale(2.0, cross(wp, slip)))
        put3(work, i, SHIFT, d)
        put3(work, i, BIAS, bias)
        put3(work, i, BIAS + 3, cross(wp, w))
        if kind == GENERAL_NODE and nodes[i, COUNT] == 2:
            bend = cross_bias(tree, i, sub(w, wp), sites, frames)
            put3(work, i, BIAS + 3, add(cross(wp, w), bend))
        if kind == TURN_NODE or kind == SLIDE_NODE:
            axis = axis_on(p, nodes[i, NEAR], nodes[i, AXIS_NUMBER], sites, frames)
            put3(work, i, AXIS, axis)


@woven
def backward(tree: Tree, rows: RowTable, sites: Sites, frames: Floats, scratch: Scratch) -> None:
    """From the leaves to the roots: eliminate freedoms, hand inertia and load over."""
    work, general = scratch.work, scratch.general
    nodes = tree.nodes
    ground = nodes.shape[0] - 1
    for k in range(ground - 1, -1, -1):
        i = nodes[k, ORDER]
        p, kind = nodes[i, PARENT], nodes[i, NODE]
        if kind == BALL_NODE:
            A, f = eliminate_turns(i, work)
            if p < ground:
                hand_over_point(i, p, A, add(f, sym_times(A, get3(work, i, BIAS))), work)
        elif kind == TURN_NODE or kind == SLIDE_NODE:
            eliminate_single(i, kind, work)
            if p < ground:
                A, B, C, f, n = without_single(i, work)
                hand_over(i, p, A, B, C, f, n, work)
        elif kind == FREE_NODE:
            A, f = eliminate_turns(i, work)
            put6(work, i, SCHUR, sym_inverse(A))
        else:
            if kind == GENERAL_NODE:
                eliminate_general(i, tree, rows, sites, frames, work, general)
            if p < ground:
                f, n = whole_bias(i, work)
                hand_over(
                    i,
                    p,
                    sym6(work, i, LINEAR),
                    mat9(work, i, MIXED),
                    sym6(work, i, ANGULAR),
                    f,
                    n,
                    work,
                )
            if kind >= MEMBER_NODE:
                take_member(i, tree, scratch)


@woven
def forward(nodes: Ints, work: Floats, general: Floats) -> None:
    """From the roots to the leaves: accelerations at each body's point."""
    ground = nodes.shape[0] - 1
    for k in range(ground):
        i = nodes[k, ORDER]
        p, kind = nodes[i, PARENT], nodes[i, NODE]
        if kind == FREE_NODE:
            f, n = get3(work, i, LOAD), get3(work, i, LOAD + 3)
            k0, k1, k2 = get3(work, i, GAIN), get3(work, i, GAIN + 3), get3(work, i, GAIN + 6)
            a = sym_times(sym6(work, i, SCHUR), sub((dot(k0, n), dot(k1, n), dot(k2, n)), f))
            alpha = ball_turn(i, a, n, work)
        else:
            a, alpha = get3(work, i, BIAS), get3(work, i, BIAS + 3)
            if p < ground:
                up = get3(work, p, ACCELERATION + 3)
                a = add(a, add(get3(work, p, ACCELERATION), cross(up, get3(work, i, SHIFT))))
                alpha = add(alpha, up)
            if kind == BALL_NODE:
                alpha = ball_turn(i, a, get3(work, i, LOAD + 3), work)
            elif kind == TURN_NODE or kind == SLIDE_NODE:
                uf, un = get3(work, i, GAIN), get3(work, i, GAIN + 3)
                s = (work[i, EFFORT] - dot(uf, a) - dot(un, alpha)) * work[i, INVERSE]
                if kind == TURN_NODE:
                    alpha = add(alpha, scale(s, get3(work, i, AXIS)))
                else:
                    a = add(a, scale(s, get3(work, i, AXIS)))
            elif kind == GENERAL_NODE:
                a, alpha = general_motion(i, nodes[i, COUNT], a, alpha, G_EFFORT, general)
            elif kind >= MEMBER_NODE:
                a, alpha = member_motion(i, nodes, a, alpha, work, general)
        put3(work, i, ACCELERATION, a)
        put3(work, i, ACCELERATION + 3, alpha)


@woven
def centres(frames: Floats, work: Floats, keep: float, n: int) -> None:
    """From the acceleration at each body's point to that of its mass centre; the centripetal part
    is kept or not."""
    for i in range(n):
        c = get3(work, i, POINT)
        turning = add(
            cross(get3(work, i, ACCELERATION + 3), c),
            scale(keep, centripetal(get3(frames, i, SPIN), c)),
        )
        put3(work, i, CENTRE, sub(get3(work, i, ACCELERATION), turning))


@woven
def in_body_axes(frames: Floats, work: Floats, out: Floats) -> None:
    """The answer (nb, 6): acceleration of the mass centre in N, omega-dot in body axes."""
    for i in range(out.shape[0]):
        put3(out, i, LINEAR_HALF, get3(work, i, CENTRE))
        put3(out, i, ANGULAR_HALF, turn_back(frames, i, AXES, get3(work, i, ACCELERATION + 3)))
