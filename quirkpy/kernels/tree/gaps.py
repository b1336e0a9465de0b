"""How far the joints of the tree are from meeting, and how fast they slip: what corrections aim
at."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import (
    AXES,
    MOTION_AXIS,
    MOTION_KIND,
    PLACE_AXES,
    PLACE_POINT,
    POSITION,
    SPIN,
    VELOCITY,
    Vec,
)
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, column, cross, get3, put3, scale, sub, turn
from quirkpy.kernels.tree.elimination import BIAS, LOAD, POINT
from quirkpy.kernels.tree.tree import (
    AXIS_NUMBER,
    BALL_NODE,
    COUNT,
    FAR,
    FREE_NODE,
    GENERAL_NODE,
    MOTION,
    NEAR,
    NODE,
    PARENT,
    TURN_NODE,
    Tree,
)
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import TURN


@inner
def twist(tree: Tree, i: int, place: Floats, frames: Floats) -> Vec:
    """The small turn of body i, in N, that lines it up with its parent, apart from what its joint
    leaves free."""
    nodes = tree.nodes
    kind, near, far, p = nodes[i, NODE], nodes[i, NEAR], nodes[i, FAR], nodes[i, PARENT]
    out = (0.0, 0.0, 0.0)
    turns, axis = 0, nodes[i, AXIS_NUMBER]
    if kind == TURN_NODE:
        turns = 1
    elif kind == BALL_NODE or kind == FREE_NODE:
        turns = 3
    elif kind == GENERAL_NODE:
        for k in range(nodes[i, MOTION], nodes[i, MOTION] + nodes[i, COUNT]):
            if tree.motions[k, MOTION_KIND] == TURN:
                turns += 1
                axis = tree.motions[k, MOTION_AXIS]
    if turns == 1:
        mine = turn(frames, i, AXES, column(place, far, PLACE_AXES, axis))
        out = cross(mine, turn(frames, p, AXES, column(place, near, PLACE_AXES, axis)))
    elif turns == 0:
        for k in range(3):
            mine = turn(frames, i, AXES, column(place, far, PLACE_AXES, k))
            out = add(
                out,
                scale(0.5, cross(mine, turn(frames, p, AXES, column(place, near, PLACE_AXES, k)))),
            )
    return out


@inner
def aim(
    tree: Tree,
    place: Floats,
    frames: Floats,
    work: Floats,
    keep: float,
    of_gap: float,
    of_slip: float,
) -> None:
    """For each joint of the tree: what the velocities make (kept or not) plus so much of its gap
    and of its slip.

    The gap is the displacement of the body that closes the joint, the slip the change of velocity
    that stops it."""
    nodes = tree.nodes
    for i in range(nodes.shape[0] - 1):
        put3(work, i, LOAD, scale(keep, get3(work, i, LOAD)))
        put3(work, i, LOAD + 3, scale(keep, get3(work, i, LOAD + 3)))
        if nodes[i, NODE] != FREE_NODE:
            p, c = nodes[i, PARENT], get3(work, i, POINT)
            near = add(
                get3(frames, p, POSITION),
                turn(frames, p, AXES, get3(place, nodes[i, NEAR], PLACE_POINT)),
            )
            far = add(get3(frames, i, POSITION), c)
            w, wp = get3(frames, i, SPIN), get3(frames, p, SPIN)
            mine = add(get3(frames, i, VELOCITY), cross(w, c))
            slip = sub(
                add(get3(frames, p, VELOCITY), cross(wp, sub(far, get3(frames, p, POSITION)))), mine
            )
            linear = add(scale(of_gap, sub(near, far)), scale(of_slip, slip))
            angular = add(scale(of_gap, twist(tree, i, place, frames)), scale(of_slip, sub(wp, w)))
            put3(work, i, BIAS, add(scale(keep, get3(work, i, BIAS)), linear))
            put3(work, i, BIAS + 3, add(scale(keep, get3(work, i, BIAS + 3)), angular))
