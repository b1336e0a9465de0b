"""Closing many loops: bodies are merged into blocks, two by two, until no row is left open.

A block keeps the motions that its rows have left to it, in a basis in which its mass matrix is
one, and what each of them does to the bodies on its border, those that rows still ask for.  Nothing
else of it is known outside, so the work of a merge grows with the border and not with the block.
Merging two blocks closes the rows between them: with the motions of both side by side, the rows
are factorized, strong ones first, by reflections that turn as many motions into what the rows
demand; the other motions are those of the new block.  A redundant row finds nothing left of itself,
and ends that by itself.  Where the border has fewer speeds than the block has motions, those that
it does not show are turned away, and stay at rest.  On the way back each block is told how far its
motions go (docs/numerics.md).

The answer is the smallest change of accelerations, in the metric of mass, that gives the rows what
they lack: as in closure.py, with its scale of rows and its filter of weak ones, and without a tree:
every body is free, and all joints are rows."""

from __future__ import annotations

import math
from typing import NamedTuple

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.matrices import lower, lower_transposed, sym6
from quirkpy.kernels.base.vectors import add, get3, put3, scale
from quirkpy.kernels.place.rows import JACOBIAN, LEFT, SECOND, SIZE
from quirkpy.kernels.tree.closure import (
    CONTRADICTION,
    COUNTED,
    FADING,
    SWEEPS,
    TARGET,
    WEAKEST,
    WHICH,
    close_loops,
    innovation_scales,
    load_and_motion,
)
from quirkpy.kernels.tree.elimination import ACCELERATION, CENTRE, ROOT, SCHUR_ROOT
from quirkpy.kernels.tree.reach import PIVOT_ROUNDING, free_response
from quirkpy.kernels.tree.reflections import numbers_before, reflect, reflect_back
from quirkpy.kernels.tree.tree import (
    FIRST_KEPT,
    FIRST_ROW,
    KEPT_PLACE,
    LAST_KEPT,
    LAST_ROW,
    LASTING,
    LOOP_BODY1,
    LOOP_BODY2,
    LOOP_BODY3,
    LOOP_BODY4,
    ONE,
    ROW_NUMBER,
    ROW_PLACE,
    SPEEDS,
    TWO,
    WIDEST,
    Tree,
)
from quirkpy.maths.types import Floats, Ints

# Columns of the blocks, a line for each body, the ground, and each merge: how many bodies stand on
# the border, and how many motions it has; where in the memory is written: what each motion does to
# the border, and then what that does already; how far the motions go; of the merge that made it:
# reflections, demands and shares of its rows, and the reflections that hide what the border does
# not show; how many rows count, how many of them fully, of how many motions it was made, and how
# many reflections hide; how many bodies it has.  Last, and apart from all that: the rows of the
# merge at work.
BORDER, MOTIONS, SHOWN, ANSWER, REFLECTIONS, SHARES, HIDDEN = range(7)
RANK, STRICT, WHOLE, HIDING, MEMBERS, LISTED, BLOCK_WIDTH = range(7, 14)
#: Below this share of its length, squared, what is left of a row is summed anew.
FADED = 1e-3


class Space(NamedTuple):
    """Where in the memory the numbers of the current merge are: factors of a reflection, sizes and
    residuals of rows, known accelerations of the border; and its table, with a line for each motion
    and a column for each row, then for each speed of the border."""

    sums: int
    sizes: int
    lacking: int
    already: int
    table: int


@inner
def space_of(ground: int, merges: Ints) -> Space:
    """The places of a merge in the memory, behind the results of all bodies."""
    first, span = SPEEDS * ground, merges[0, WIDEST]
    return Space(first, first + span, first + 2 * span, first + 3 * span, first + 4 * span)


@inner
def scale_rows(tree: Tree, bodies: Floats, rows: Floats, work: Floats, report: Floats) -> None:
    """LEFT: the residuals of the rows at the accelerations in the scratch array, scaled; SIZE: the
    scales."""
    report[TARGET] = 0.0
    for k in range(rows.shape[0]):
        a, b = tree.loops[k, LOOP_BODY1], tree.loops[k, LOOP_BODY2]
        left = rows[k, LEFT]
        demand = abs(left)
        _, part, size = load_and_motion(rows, k, JACOBIAN, a, work)
        _, other_part, other_size = load_and_motion(rows, k, JACOBIAN + 6, b, work)
        left, demand = left - part - other_part, demand + size + other_size
        free = free_response(rows, k, JACOBIAN, a, b, bodies)
        if tree.loops[k, LOOP_BODY3] >= 0:
            a, b = tree.loops[k, LOOP_BODY3], tree.loops[k, LOOP_BODY4]
            _, part, size = load_and_motion(rows, k, SECOND, a, work)
            _, other_part, other_size = load_and_motion(rows, k, SECOND + 6, b, work)
            left, demand = left - part - other_part, demand + size + other_size
            free += free_response(rows, k, SECOND, a, b, bodies)
        scaling = 1.0 / math.sqrt(free) if free > 0.0 else 0.0
        rows[k, LEFT], rows[k, SIZE] = left * scaling, scaling
        report[TARGET] = max(report[TARGET], demand * scaling)


@inner
def add_load(
    at: int, width: int, block: int, slot: int, scaling: float, rows: Floats, k: int, first: int,
    blocks: Ints, work: Floats, room: Floats,
) -> float:  # fmt: skip
    """Add the components of row k on the motions of a block, from room[at] on; its columns for a
    body begin at `first`.  Returns its value at the known accelerations. slot: of the body on the
    block's border."""
    f, n = scale(scaling, get3(rows, k, first)), scale(scaling, get3(rows, k, first + 3))
    if block < work.shape[0] - 1:
        f, n = scale(work[block, SCHUR_ROOT], f), lower_transposed(sym6(work, block, ROOT), n)
        for i in range(3):
            room[at + i * width] += f[i]
            room[at + (3 + i) * width] += n[i]
        return 0.0
    step = SPEEDS * blocks[block, BORDER]
    shown = blocks[block, SHOWN] + SPEEDS * slot
    for i in range(blocks[block, MOTIONS]):
        room[at + i * width] += pull(f, n, shown + i * step, room)
    return pull(f, n, shown + blocks[block, MOTIONS] * step, room)


@inner
def pull(f: Vec, n: Vec, at: int, room: Floats) -> float:
    """The power of a load and a couple on the motion at room[at]."""
    return (
        f[0] * room[at] + f[1] * room[at + 1] + f[2] * room[at + 2]
        + n[0] * room[at + 3] + n[1] * room[at + 4] + n[2] * room[at + 5]
    )  # fmt: skip


@inner
def show_body(
    at: int, width: int, block: int, slot: int, blocks: Ints, work: Floats, room: Floats
) -> None:  # fmt: skip
    """Copy the effect of the motions of a block on a body of its border, from room[at] on."""
    if block < work.shape[0] - 1:
        root, h = work[block, SCHUR_ROOT], sym6(work, block, ROOT)
        for i in range(3):
            room[at + i * width + i] = root
        turn = at + 3 * width + 3
        room[turn], room[turn + 1], room[turn + 2] = h[0], h[1], h[2]
        room[turn + width + 1], room[turn + width + 2] = h[3], h[4]
        room[turn + 2 * width + 2] = h[5]
        return
    step = SPEEDS * blocks[block, BORDER]
    shown = blocks[block, SHOWN] + SPEEDS * slot
    for i in range(blocks[block, MOTIONS]):
        for c in range(SPEEDS):
            room[at + i * width + c] = room[shown + i * step + c]


@inner
def exchange(
    a: int, b: int, width: int, whole: int, space: Space, blocks: Ints, room: Floats
) -> None:  # fmt: skip
    """Exchange two columns, with the data of their rows."""
    at, sizes, lacking = space.table, space.sizes, space.lacking
    if a == b:
        return
    for i in range(whole):
        k = at + i * width
        room[k + a], room[k + b] = room[k + b], room[k + a]
    room[sizes + a], room[sizes + b] = room[sizes + b], room[sizes + a]
    room[lacking + a], room[lacking + b] = room[lacking + b], room[lacking + a]
    blocks[a, LISTED], blocks[b, LISTED] = blocks[b, LISTED], blocks[a, LISTED]


@inner
def measure(first: int, last: int, top: int, at: int, whole: int, width: int, sizes: int,
            room: Floats) -> None:  # fmt: skip
    """The squared norm of the remainder of each row."""
    for c in range(first, last):
        room[sizes + c] = 0.0
    for i in range(top, whole):
        for c in range(first, last):
            room[sizes + c] += room[at + i * width + c] ** 2


@inner
def strongest(first: int, last: int, sizes: int, room: Floats) -> int:
    """The column with the largest remainder."""
    best = first
    for c in range(first + 1, last):
        if room[sizes + c] > room[sizes + best]:
            best = c
    return best


@inner
def count_row(d: float, usual: float, mu: float, row: int, report: Floats) -> None:
    """Count a row whose squared independent part is d, compared with a typical value."""
    if d > mu:
        report[COUNTED] += 1.0
        if d < report[WEAKEST] * usual:
            report[WEAKEST] = d / usual
            if report[FADING] < 0.0:
                report[WHICH] = row
    elif report[FADING] < 0.0:
        report[FADING] = report[WHICH] = row


@inner
def take_rows(
    m: int, count: int, width: int, space: Space, free: int, mu: float, blocks: Ints,
    room: Floats, report: Floats,
) -> int:  # fmt: skip
    """Eliminate the rows in the first columns, strong ones first; returns where the memory is free
    behind the reflections.  The demand of each row on its motion, and the share in which that
    motion stays free, replace its residual and its size."""
    whole, at, sizes, lacking = blocks[m, WHOLE], space.table, space.sizes, space.lacking
    measure(0, count, 0, at, whole, width, sizes, room)
    measured = room[sizes + strongest(0, count, sizes, room)]
    usual = min(1.0, max(measured, 1.0 / blocks[m, MEMBERS]))  # large blocks yield little
    rank, strict = 0, 0
    while rank < count and rank < whole:
        best = strongest(rank, count, sizes, room)
        if room[sizes + best] < FADED * measured:
            measure(rank, count, rank, at, whole, width, sizes, room)
            best = strongest(rank, count, sizes, room)
            measured = room[sizes + best]
        d = room[sizes + best]
        if d <= PIVOT_ROUNDING * mu:
            break
        exchange(rank, best, width, whole, space, blocks, room)
        count_row(d, usual, mu, blocks[rank, LISTED], report)
        felt = reflect(at, whole, width, rank, rank, free, space.sums, room)
        free += 1 + whole - rank
        y, line = room[lacking + rank] / felt, at + rank * width
        for c in range(rank + 1, count):
            room[lacking + c] -= y * room[line + c]
            room[sizes + c] -= room[line + c] ** 2
        undone = (mu * mu / (d * (d + mu) + mu * mu)) ** SWEEPS
        room[lacking + rank], room[sizes + rank] = (1.0 - undone) * y, max(0.0, 1.0 - d / mu)
        rank += 1
        strict += 1 if d > mu else 0
    for c in range(rank, count):
        report[CONTRADICTION] = max(report[CONTRADICTION], abs(room[lacking + c]))
    blocks[m, RANK], blocks[m, STRICT] = rank, strict
    return free


@inner
def lay_rows(
    step: int, width: int, merges: Ints, space: Space, rows: Floats, blocks: Ints, work: Floats,
    room: Floats,
) -> None:  # fmt: skip
    """Write the rows that a merge closes, as components on its motions, into the first columns;
    rows without demands are left out."""
    one, two = merges[step, ONE], merges[step, TWO]
    border, second = blocks[one, BORDER], blocks[one, MOTIONS] * width
    count = 0
    for line in range(merges[step, FIRST_ROW], merges[step, LAST_ROW]):
        k = merges[line, ROW_NUMBER]
        if rows[k, SIZE] == 0.0:
            continue
        lacking = rows[k, LEFT]
        for end in range(4):
            slot, first = merges[line, ROW_PLACE + end], JACOBIAN + SPEEDS * end
            if 0 <= slot < border:
                lacking -= add_load(
                    space.table + count, width, one, slot, rows[k, SIZE], rows, k, first, blocks,
                    work, room,
                )  # fmt: skip
            elif slot >= border:
                lacking -= add_load(
                    space.table + count + second, width, two, slot - border, rows[k, SIZE], rows,
                    k, first, blocks, work, room,
                )  # fmt: skip
        room[space.lacking + count], blocks[count, LISTED] = lacking, k
        count += 1


@inner
def lay_border(
    step: int, column: int, width: int, merges: Ints, space: Space, blocks: Ints, work: Floats,
    room: Floats,
) -> None:  # fmt: skip
    """Write the effects of the motions on the bodies of the new border into the columns behind the
    rows."""
    one, two = merges[step, ONE], merges[step, TWO]
    border, second = blocks[one, BORDER], blocks[one, MOTIONS] * width
    at = space.table + column
    for line in range(merges[step, FIRST_KEPT], merges[step, LAST_KEPT]):
        slot = merges[line, KEPT_PLACE]
        if slot < border:
            show_body(at, width, one, slot, blocks, work, room)
        else:
            show_body(at + second, width, two, slot - border, blocks, work, room)
        at += SPEEDS


@inner
def keep_shares(m: int, free: int, space: Space, blocks: Ints, room: Floats) -> int:
    """Store the demand of each row on its motion, then the share in which that motion stays free;
    returns where the memory is free."""
    rank = blocks[m, RANK]
    blocks[m, SHARES] = free
    for c in range(rank):
        room[free + c] = room[space.lacking + c]
        room[free + rank + c] = room[space.sizes + c]
    return free + 2 * rank


@inner
def hide_motions(
    m: int, count: int, width: int, free: int, space: Space, blocks: Ints, room: Floats
) -> int:  # fmt: skip
    """Eliminate motions that have no effect on the border (columns behind the rows): MOTIONS,
    HIDING; returns where the memory is free."""
    whole, strict, rank = blocks[m, WHOLE], blocks[m, STRICT], blocks[m, RANK]
    speeds = width - count
    for i in range(strict, rank):
        line, share = space.table + i * width, room[blocks[m, SHARES] + rank + i]
        for c in range(count, width):
            room[line + c] *= share
    blocks[m, MOTIONS], blocks[m, HIDING] = whole - strict, 0
    if whole - strict > speeds:
        for c in range(speeds):
            top, column = strict + c, count + c
            room[space.table + top * width + column] = reflect(
                space.table, whole, width, top, column, free, space.sums, room
            )
            for i in range(top + 1, strict + speeds):
                room[space.table + i * width + column] = 0.0
            free += 1 + whole - strict - c
        blocks[m, MOTIONS], blocks[m, HIDING] = speeds, speeds
    return free


@inner
def keep_border(
    m: int, count: int, width: int, free: int, space: Space, blocks: Ints, room: Floats
) -> int:  # fmt: skip
    """Store the effects of the motions of the new block on its border, and the known accelerations
    of the border; returns where the memory is free."""
    speeds = width - count
    blocks[m, SHOWN] = free
    for i in range(blocks[m, MOTIONS]):
        line = space.table + (blocks[m, STRICT] + i) * width + count
        for c in range(speeds):
            room[free + c] = room[line + c]
        free += speeds
    for c in range(speeds):
        room[free + c] = room[space.already + c]
    return free + speeds


@inner
def move_border(
    step: int, m: int, count: int, width: int, merges: Ints, space: Space, ground: int,
    blocks: Ints, room: Floats,
) -> None:  # fmt: skip
    """The known accelerations of the border of a new block: those from before, plus those that the
    rows demand."""
    one, two, at = merges[step, ONE], merges[step, TWO], space.already
    for line in range(merges[step, FIRST_KEPT], merges[step, LAST_KEPT]):
        slot, block = merges[line, KEPT_PLACE], one
        if slot >= blocks[one, BORDER]:
            slot, block = slot - blocks[one, BORDER], two
        shown = blocks[block, SHOWN] + SPEEDS * (
            blocks[block, MOTIONS] * blocks[block, BORDER] + slot
        )
        for c in range(SPEEDS):
            room[at + c] = 0.0 if block < ground else room[shown + c]
        at += SPEEDS
    for i in range(blocks[m, RANK]):
        y, line = room[blocks[m, SHARES] + i], space.table + i * width + count
        for c in range(width - count):
            room[space.already + c] += y * room[line + c]


@inner
def merge_blocks(
    step: int, free: int, tree: Tree, space: Space, rows: Floats, mu: float, blocks: Ints,
    work: Floats, room: Floats, report: Floats,
) -> int:  # fmt: skip
    """Merge two blocks; returns where the memory is free."""
    merges, ground = tree.merges, work.shape[0] - 1
    one, two, m = merges[step, ONE], merges[step, TWO], ground + 1 + step
    whole = blocks[one, MOTIONS] + blocks[two, MOTIONS]
    border = merges[step, LAST_KEPT] - merges[step, FIRST_KEPT]
    count = 0
    for line in range(merges[step, FIRST_ROW], merges[step, LAST_ROW]):
        if rows[merges[line, ROW_NUMBER], SIZE] != 0.0:
            count += 1
    width = count + SPEEDS * border
    for k in range(space.table, space.table + whole * width):
        room[k] = 0.0
    blocks[m, WHOLE], blocks[m, BORDER], blocks[m, REFLECTIONS] = whole, border, free
    blocks[m, MEMBERS] = blocks[one, MEMBERS] + blocks[two, MEMBERS]
    lay_rows(step, width, merges, space, rows, blocks, work, room)
    lay_border(step, count, width, merges, space, blocks, work, room)
    free = take_rows(m, count, width, space, free, mu, blocks, room, report)
    free = keep_shares(m, free, space, blocks, room)
    move_border(step, m, count, width, merges, space, ground, blocks, room)
    blocks[m, HIDDEN] = free
    free = hide_motions(m, count, width, free, space, blocks, room)
    free = keep_border(m, count, width, free, space, blocks, room)
    blocks[m, ANSWER] = free
    return free + blocks[m, MOTIONS]


@inner
def answer_blocks(
    step: int, ground: int, merges: Ints, space: Space, blocks: Ints, room: Floats
) -> None:
    """Back substitution: the amplitudes of the motions of two blocks from those of the block into
    which they were merged."""
    m, x = ground + 1 + step, space.table
    whole, rank, strict = blocks[m, WHOLE], blocks[m, RANK], blocks[m, STRICT]
    motions, at = blocks[m, MOTIONS], blocks[m, SHARES]
    for i in range(whole - strict):
        room[x + strict + i] = room[blocks[m, ANSWER] + i] if i < motions else 0.0
    to = blocks[m, HIDDEN] + numbers_before(blocks[m, HIDING], whole - strict)
    for c in range(blocks[m, HIDING] - 1, -1, -1):
        to -= 1 + whole - strict - c
        reflect_back(x + strict + c, whole - strict - c, to, room)
    for i in range(rank):
        further = room[x + i] * room[at + rank + i] if i >= strict else 0.0
        room[x + i] = room[at + i] + further
    to = blocks[m, REFLECTIONS] + numbers_before(rank, whole)
    for k in range(rank - 1, -1, -1):
        to -= 1 + whole - k
        reflect_back(x + k, whole - k, to, room)
    for block in (merges[step, ONE], merges[step, TWO]):
        for i in range(blocks[block, MOTIONS]):
            room[blocks[block, ANSWER] + i] = room[x + i]
        x += blocks[block, MOTIONS]


@inner
def begin_blocks(ground: int, blocks: Ints, room: Floats) -> None:
    """Make each body a block; so is the ground, which has no motions."""
    for b in range(ground + 1):
        blocks[b, BORDER], blocks[b, MOTIONS], blocks[b, MEMBERS] = 1, SPEEDS, 1
        blocks[b, ANSWER] = SPEEDS * b
    blocks[ground, BORDER] = blocks[ground, MOTIONS] = blocks[ground, MEMBERS] = 0
    for k in range(SPEEDS * ground):
        room[k] = 0.0


@inner
def add_answers(ground: int, work: Floats, room: Floats) -> None:
    """Add the corrections to the accelerations of all bodies."""
    for b in range(ground):
        a = scale(work[b, SCHUR_ROOT], vector_at(room, SPEEDS * b))
        alpha = lower(sym6(work, b, ROOT), vector_at(room, SPEEDS * b + 3))
        put3(work, b, CENTRE, add(get3(work, b, CENTRE), a))
        put3(work, b, ACCELERATION + 3, add(get3(work, b, ACCELERATION + 3), alpha))


@inner
def vector_at(room: Floats, at: int) -> Vec:
    """Three numbers side by side."""
    return room[at], room[at + 1], room[at + 2]


@shared
def close_by_merging(
    tree: Tree, bodies: Floats, rows: Floats, room: Floats, blocks: Ints, mu: float, work: Floats,
    report: Floats,
) -> None:  # fmt: skip
    """Correct the accelerations of free bodies (CENTRE and the angular ones) so that J a = LEFT on
    all rows."""
    merges, ground = tree.merges, work.shape[0] - 1
    report[COUNTED], report[WEAKEST], report[WHICH], report[FADING] = 0.0, 1.0, -1.0, -1.0
    report[CONTRADICTION] = 0.0
    innovation_scales(tree.nodes, work)
    scale_rows(tree, bodies, rows, work, report)
    begin_blocks(ground, blocks, room)
    space = space_of(ground, merges)
    free = merges[0, LASTING]
    for step in range(merges[0, FIRST_ROW]):
        free = merge_blocks(step, free, tree, space, rows, mu, blocks, work, room, report)
    for step in range(merges[0, FIRST_ROW] - 1, -1, -1):
        answer_blocks(step, ground, merges, space, blocks, room)
    add_answers(ground, work, room)


@inner
def close_rows(
    tree: Tree, bodies: Floats, rows: Floats, A: Floats, spans: Ints, mu: float, work: Floats,
    general: Floats, report: Floats,
) -> None:  # fmt: skip
    """Correct accelerations (CENTRE and the angular ones) so that J a = LEFT on the closing rows:
    by merging blocks where there is a plan for that, else along the tree."""
    if tree.merges.shape[0] > 0:
        close_by_merging(tree, bodies, rows, A[0], spans, mu, work, report)
    else:
        close_loops(tree, bodies, rows, A, spans, mu, work, general, report)
