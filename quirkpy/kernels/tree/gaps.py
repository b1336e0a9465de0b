"""Position gaps and velocity slips of the joints of the tree, at which corrections aim."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import (
    MOTION_AXIS,
    MOTION_KIND,
    ROW_AXIS1,
    ROW_AXIS2,
    ROW_FACTOR,
    ROW_PERIOD,
    ROW_VALUE,
    Joints,
    RowTable,
    Sites,
    Vec,
)
from quirkpy.kernels.base.compiled import inner
from quirkpy.kernels.base.vectors import add, cross, dot, get3, put3, scale, sub
from quirkpy.kernels.place.kinematics import joint_coordinate
from quirkpy.kernels.place.rows import within_turn
from quirkpy.kernels.place.sites import axis_on, join_to_body, point_motion, site_motion_on
from quirkpy.kernels.tree.elimination import BIAS, LOAD, POINT, is_cross, motion_axis
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
    SENSE,
    THREAD,
    TURN_NODE,
    Tree,
)
from quirkpy.maths.types import Floats
from quirkpy.tables.tables import SLIDE


@inner
def twist(tree: Tree, i: int, sites: Sites, frames: Floats) -> Vec:
    """The small turn of body i, in N, that aligns it with its parent, apart from the freedoms of
    its joint."""
    nodes = tree.nodes
    kind, near, far, p = nodes[i, NODE], nodes[i, NEAR], nodes[i, FAR], nodes[i, PARENT]
    out = (0.0, 0.0, 0.0)
    turns, axis = 0, nodes[i, AXIS_NUMBER]
    if kind == TURN_NODE:
        turns = 1
    elif kind == BALL_NODE or kind == FREE_NODE:
        turns = 3
    elif kind == GENERAL_NODE and is_cross(tree, i):
        mine, theirs = (
            motion_axis(tree, i, 0, sites, frames), motion_axis(tree, i, 1, sites, frames),
        )  # fmt: skip
        across = cross(mine, theirs)
        out = scale(nodes[i, SENSE] * dot(mine, theirs) / dot(across, across), across)
        turns = 2
    elif kind == GENERAL_NODE:
        for k in range(nodes[i, MOTION], nodes[i, MOTION] + nodes[i, COUNT]):
            if tree.motions[k, MOTION_KIND] != SLIDE:
                turns += 1
                axis = tree.motions[k, MOTION_AXIS]
    if turns == 1:
        mine = axis_on(i, far, axis, sites, frames)
        out = cross(mine, axis_on(p, near, axis, sites, frames))
    elif turns == 0:
        for k in range(3):
            mine = axis_on(i, far, k, sites, frames)
            out = add(out, scale(0.5, cross(mine, axis_on(p, near, k, sites, frames))))
    return out


@inner
def lead(tree: Tree, i: int, rows: RowTable, joints: Joints, sites: Sites, frames: Floats) -> float:
    """How far its turn has led the screw by which body i hangs [m]: its travel less its gap."""
    row = tree.nodes[i, THREAD]
    angle, _ = joint_coordinate(rows.what[row, ROW_AXIS2], joints, sites, frames)
    travel, _ = joint_coordinate(rows.what[row, ROW_AXIS1], joints, sites, frames)
    led = rows.numbers[row, ROW_VALUE] - rows.numbers[row, ROW_FACTOR] * angle
    period = rows.numbers[row, ROW_PERIOD]
    return travel - within_turn(travel - led, period)


@inner
def aim(
    tree: Tree,
    rows: RowTable,
    joints: Joints,
    sites: Sites,
    frames: Floats,
    work: Floats,
    keep: float,
    of_gap: float,
    of_slip: float,
) -> None:
    """For each joint of the tree: its velocity-dependent acceleration (kept or not), plus multiples
    of its gap and of its slip.

    The gap is the displacement of the body that closes the joint, the slip the change of velocity
    that stops it."""
    nodes = tree.nodes
    for i in range(nodes.shape[0] - 1):
        put3(work, i, LOAD, scale(keep, get3(work, i, LOAD)))
        put3(work, i, LOAD + 3, scale(keep, get3(work, i, LOAD + 3)))
        if nodes[i, NEAR] >= 0:  # neither a free root nor a member
            p = nodes[i, PARENT]
            near = site_motion_on(p, nodes[i, NEAR], sites, frames)
            mine = point_motion(i, get3(work, i, POINT), frames)
            theirs = join_to_body(p, mine.position, frames)
            gap, slip = sub(near.position, mine.position), sub(theirs.velocity, mine.velocity)
            if nodes[i, THREAD] >= 0:
                axis = motion_axis(tree, i, 0, sites, frames)
                way = lead(tree, i, rows, joints, sites, frames)
                gap = add(gap, scale(nodes[i, SENSE] * way, axis))
            spin = sub(theirs.spin, mine.spin)
            linear = add(scale(of_gap, gap), scale(of_slip, slip))
            angular = add(scale(of_gap, twist(tree, i, sites, frames)), scale(of_slip, spin))
            put3(work, i, BIAS, add(scale(keep, get3(work, i, BIAS)), linear))
            put3(work, i, BIAS + 3, add(scale(keep, get3(work, i, BIAS + 3)), angular))
