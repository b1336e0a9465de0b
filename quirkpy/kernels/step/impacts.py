"""The end of a step: slope, watched values, notes of events, and the reactions of stops."""

from __future__ import annotations

from typing import NamedTuple

from quirkpy.kernels.act.wrenches import OUT
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.conditions import ASKED, BOUNCE, DECIDED, HOLDS, TIME, Conditions
from quirkpy.kernels.place.rows import JACOBIAN, LEFT, PHI, RATE, ROW_WIDTH, SECOND
from quirkpy.kernels.step.charges import put_way
from quirkpy.kernels.step.events import JUST_CROSSED, TOGETHER
from quirkpy.kernels.step.ledger import (
    POSES,
    UNCHANGED,
    motion_energy,
    potential_of,
    restore_energy,
)
from quirkpy.kernels.step.pressing import SLIGHT, hold_what_presses
from quirkpy.kernels.step.projection import CORRECTION_PIVOT, change_velocities, displace
from quirkpy.kernels.step.steps import (
    ANSWER,
    ASKED_UNTIL,
    BEGIN,
    CHARGE,
    CONSERVING,
    END,
    END_SLOPE,
    ENERGY,
    JUMPED,
    NEAR,
    NOTED,
    POTENTIAL,
    PROJECTING,
    RANK,
    SMALL,
    STEP,
    WEAK_ROW,
    Run,
    T,
    accelerate,
    copy,
    nearness,
    slope,
)
from quirkpy.kernels.step.watch import (
    GAP,
    KIND,
    NOW,
    ONE,
    ROOT,
    STOP,
    VALUE,
    Watch,
    go_on,
    keep,
    leaving,
    watch_functions,
    watched_stops,
)
from quirkpy.kernels.tree.closure import CONTRADICTION, TARGET, WHICH
from quirkpy.kernels.tree.evaluation import free_of_stop, row_of_stop, row_rate, solve, stand
from quirkpy.kernels.tree.merging import close_rows
from quirkpy.kernels.tree.model import Model, Scratch
from quirkpy.kernels.tree.stops import (
    LATCH,
    LEEWAY,
    REFUSED_BEYOND,
    RELEASE,
    RESTITUTION,
    SETTLE,
    TOUCHING,
    is_latched,
)
from quirkpy.kernels.tree.tree import LOOP_BODY1, LOOP_BODY2, LOOP_BODY3, LOOP_BODY4
from quirkpy.maths.types import Bools, Floats

#: What counts[ANSWER] says of a start that is one, and of one whose velocities contradict a loop;
#: and of a step beyond which joints cannot be held; of one that is to be taken anew, shorter; of
#: one that ends in what are no numbers; and of one with an impact in a singular pose, where
#: branches of motion meet.
FIT, CONTRADICTED, UNHELD, AGAIN, NO_NUMBERS, STRUCK = -1, -2, -3, -4, -5, -6
#: Rows that ask for something else than the others, by this share of the largest demand, contradict
#: them.
CONTRADICTORY = 1e-4
#: A row that a drive does not follow by more than this [m/s], [rad/s] is contradicted, however slow
#: the drive.
SLIPPING = 1e-9
# Columns of Rows.notes: time; what happened; to which watched function, or in which closing row
# (-1: in none); what energy joints have taken [J], or the rest length of what has yielded [m].
NOTE_TIME, NOTE_WHAT, NOTE_WHICH, NOTE_LOST, NOTE_WIDTH = range(5)
# What happened: a watched function crossed zero, a stop was released, a singular pose was passed,
# joints took hold, or went on doing so; a string began to yield, or is elastic again; velocities
# jumped, as the row of jumps of that number says.
CROSSED, RELEASED, POSE, HELD, HELD_ON, YIELDED, REGAINED, JUMP = range(8)


#: Corrections of energy after a step, at most.
RESTORED = 3
#: A step notes so many things at most, and so many of each watched function.
STEP_NOTES, FUNCTION_NOTES = 3, 3


class Rows(NamedTuple):
    """The output of a run, a row for each step: times, states, angles, drift removed (displacement,
    change of velocity), stops that hold, tails; notes of events; and the states before and after
    each impact (k, 2, n + 1, STATE_WIDTH), with the stops that then held (k, ns)."""

    t: Floats
    states: Floats
    angles: Floats
    drift: Floats
    held: Bools
    tail: Floats
    notes: Floats
    jumps: Floats
    struck: Bools


@inner
def note(t: float, what: int, which: int, run: Run, rows: Rows) -> None:
    """Note an event of a watched function or closing row."""
    at = run.counts[NOTED]
    rows.notes[at, NOTE_TIME], rows.notes[at, NOTE_WHAT], rows.notes[at, NOTE_WHICH] = (
        t,
        what,
        which,
    )
    rows.notes[at, NOTE_LOST] = run.clock[CHARGE] if what == HELD or what == HELD_ON else 0.0
    run.counts[NOTED] += 1


@shared
def settle_end(
    t: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch
) -> None:
    """Slope, energy and watched values of the state in END."""
    slope(t, END, END_SLOPE, run, model, conditions, scratch)
    changed = POSES if run.clock[CONSERVING] > 0.0 else UNCHANGED
    for _ in range(RESTORED):
        if changed == POSES:  # what little moves after a change of poses may do the rest
            changed = restore_energy(
                run.states[END], run.clock[ENERGY], run.out, run.clock[STEP], model, scratch
            )
            if changed != UNCHANGED:
                slope(t, END, END_SLOPE, run, model, conditions, scratch)
    run.clock[NEAR] = nearness(True, run, scratch)
    run.clock[WEAK_ROW] = scratch.report[WHICH]
    run.clock[POTENTIAL] = potential_of(scratch)
    watch_functions(run.states[END], run.out, model, conditions, scratch, watch)
    asked = min(t, run.clock[ASKED_UNTIL])
    watched_stops(asked, run.states[END], model, conditions, scratch, watch, run.out)
    keep(watch, NOW)


@shared
def touch_stops(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch, rows: Rows
) -> int:
    """Let stops hold the joints that begin at rest on them, if they are pressed, or if they are
    latches.  Returns FIT, or the number of a stop beyond which a joint begins.

    They take hold one by one, the most pressed first.  If all held and were then released one by
    one, a set of stops that shut one motion redundantly would not show that nothing presses on
    it."""
    stops, values, touching, t = model.stops, watch.values, False, run.clock[T]
    for k in range(values.shape[0]):
        if watch.what[k, KIND] == STOP and conditions.stops[watch.what[k, ONE], HOLDS] == 0:
            s = watch.what[k, ONE]
            free, rate = values[k, GAP], values[k, GAP + 1]
            latch = stops.numbers[s, LATCH] != 0.0
            if free < -REFUSED_BEYOND and not latch:
                return s
            if free <= TOUCHING and (free >= -TOUCHING or not latch):
                shut = is_decided(s, t, run.states[BEGIN], model, conditions, scratch)
                if shut and not (latch and not is_driven(model, scratch)):
                    conditions.stops[s, DECIDED] = 1
                    values[k, VALUE], values[k, GAP] = values[k, VALUE] + LEEWAY, free + LEEWAY
                    continue
                values[k, VALUE] = max(values[k, VALUE], JUST_CROSSED)
                still = abs(rate) <= stops.numbers[s, SETTLE]
                if latch and still and not is_latched(s, stops, conditions):
                    conditions.stops[s, HOLDS] = 1
                touching = touching or still
    if touching:
        copy(run.lines, BEGIN, END)
        turns = 4 * values.shape[0]
        for turn in range(turns):
            run.clock[RANK] = 0.0
            settle_end(t, run, model, conditions, scratch, watch)
            let_go_of_unpressed(t, 0.0, False, run, model, conditions, scratch, watch, rows)
            k = most_pressed(t, run, model, conditions, scratch, watch) if turn < turns - 1 else -1
            if k < 0:
                break
            conditions.stops[watch.what[k, ONE], HOLDS] = 1
        copy(run.lines, END_SLOPE, 0)
        go_on(watch)
    return FIT


@shared
def most_pressed(
    t: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch
) -> int:
    """The watched function of the stop, among those that are touched and do not hold, towards which
    its coordinate has the largest acceleration; -1 if all coordinates leave their stops."""
    stops, values, least, which = model.stops, watch.values, RELEASE, -1
    accelerate(t, END, run, model, conditions, scratch)
    for k in range(values.shape[0]):
        if watch.what[k, KIND] == STOP and values[k, GAP] <= TOUCHING:
            s = watch.what[k, ONE]
            resting = abs(values[k, GAP + 1]) <= stops.numbers[s, SETTLE]
            if stops.numbers[s, LATCH] != 0.0:
                continue
            if resting and conditions.stops[s, HOLDS] == 0 and conditions.stops[s, DECIDED] == 0:
                away = leaving(s, model, conditions, scratch)
                if away < least:
                    least, which = away, k
    return which


@inner
def is_just_left(k: int, first: float, model: Model, watch: Watch) -> bool:
    """Whether watched function k is that of a stop which was being left at the beginning of the
    step, and is reached again at its first event."""
    values = watch.values
    if watch.what[k, KIND] != STOP or values[k, ROOT] != first:
        return False
    least = -SLIGHT * model.stops.numbers[watch.what[k, ONE], SETTLE]
    return abs(values[k, VALUE]) == JUST_CROSSED and values[k, GAP + 1] >= least


@shared
def resolve_stops(
    t: float, first: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch,
    watch: Watch, rows: Rows,
) -> None:  # fmt: skip
    """Reactions of the stops that have been reached, or are no longer pressed, at the END of the
    step. counts[ANSWER]: the number of a stop that contradicts a drive, at the velocities before.

    After a flight too brief to be told from none there is no other: it would be briefer still."""
    stops, values, y, struck, slack = model.stops, watch.values, run.states[END], False, False
    stand(y, model, scratch)
    last = -1
    for k in range(values.shape[0]):
        if watch.what[k, KIND] == STOP and values[k, ROOT] == first:
            s = watch.what[k, ONE]
            if conditions.stops[s, HOLDS] != 0:
                slack = True
                continue
            _, rate = free_of_stop(s, model, conditions, scratch)
            shut = is_decided(s, t, y, model, conditions, scratch)
            if shut and not (stops.numbers[s, LATCH] != 0.0 and not is_driven(model, scratch)):
                if conditions.stops[s, DECIDED] == 0 and rate >= -stops.numbers[s, SETTLE]:
                    conditions.stops[s, DECIDED] = 1
                    values[k, NOW], values[k, GAP + 2] = LEEWAY, LEEWAY
                    continue
                if is_driven(model, scratch):
                    run.counts[ANSWER] = s
                    continue
            if rate > SLIGHT * stops.numbers[s, SETTLE]:  # it has just been left
                values[k, NOW] = JUST_CROSSED
                continue
            last = s
            brief = is_just_left(k, first, model, watch) and t - run.clock[T] <= 2.0 * TOGETHER
            bounce = 0.0 if brief else stops.numbers[s, RESTITUTION]
            conditions.stops[s, BOUNCE] = (
                bounce if -bounce * rate > stops.numbers[s, SETTLE] else 0.0
            )
            conditions.stops[s, HOLDS] = 1
            struck = True
            note(t, CROSSED, k, run, rows)
    if struck:
        copy(run.lines, END, SMALL)
        before = motion_energy(model, scratch)
        scratch.wrench[:] = 0.0
        solve(
            model, conditions, scratch, 0.0, 1.0, 0.0, CORRECTION_PIVOT
        )  # onto the bounds, which the landing misses a little
        displace(y, model, scratch)
        stand(y, model, scratch)
        hold_what_presses(True, t, run, model, conditions, scratch)
        note_released(t, True, run, conditions, watch, rows)
        solve(model, conditions, scratch, 0.0, 0.0, 1.0, CORRECTION_PIVOT)
        change_velocities(y, model, scratch)
        stand(y, model, scratch)
        if is_contradicted(model, conditions, scratch):
            run.counts[ANSWER], conditions.stops[last, HOLDS] = last, 0
            copy(run.lines, SMALL, END)
        y[model.bodies.shape[0], OUT] += before - motion_energy(model, scratch)
        if run.counts[ANSWER] == FIT:
            record_jump(t, run, conditions, rows)
            latch_together(t, run, model, conditions, scratch, watch, rows)
        for s in range(stops.what.shape[0]):
            if conditions.stops[s, BOUNCE] > 0.0:
                conditions.stops[s, HOLDS], conditions.stops[s, BOUNCE] = 0, 0.0
    if run.counts[ANSWER] == FIT and (struck or slack):
        run.clock[RANK] = 0.0
        settle_end(t, run, model, conditions, scratch, watch)
        if struck:
            put_way(SMALL, run, model, scratch)
        let_go_of_unpressed(
            t, RELEASE if slack else 0.0, True, run, model, conditions, scratch, watch, rows
        )


@inner
def record_jump(t: float, run: Run, conditions: Conditions, rows: Rows) -> None:
    """Store the states before (SMALL) and after (END) an impact, and the stops that held in it."""
    k = run.counts[JUMPED]
    for i in range(rows.jumps.shape[2]):
        for j in range(rows.jumps.shape[3]):
            rows.jumps[k, 0, i, j] = run.states[SMALL, i, j]
            rows.jumps[k, 1, i, j] = run.states[END, i, j]
    for s in range(rows.struck.shape[1]):
        rows.struck[k, s] = conditions.stops[s, HOLDS] != 0
    note(t, JUMP, k, run, rows)
    run.counts[JUMPED] += 1


@inner
def latch_together(
    t: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch,
    rows: Rows,
) -> None:  # fmt: skip
    """After an impact let latches at whose places coordinates stand hold as well, if they shut the
    same motion as others.  The kinematics are in the scratch."""
    stops = model.stops
    for k in range(watch.values.shape[0]):
        s = watch.what[k, ONE] if watch.what[k, KIND] == STOP else -1
        if s >= 0 and stops.numbers[s, LATCH] != 0.0 and not is_latched(s, stops, conditions):
            free, rate = free_of_stop(s, model, conditions, scratch)
            if abs(free) <= TOUCHING and abs(rate) <= stops.numbers[s, SETTLE]:
                conditions.stops[s, HOLDS] = 1
                note(t, CROSSED, k, run, rows)


@shared
def is_decided(
    s: int, t: float, y: Floats, model: Model, conditions: Conditions, scratch: Scratch
) -> bool:
    """Whether joints alone determine the coordinate of stop s at a state: a demand to change it,
    with no other demand, contradicts them.  Leaves the kinematics in the scratch."""
    stops, rows = model.stops, scratch.rows
    first = rows.shape[0] - stops.what.shape[0]
    stand(y, model, scratch)
    if first == 0:
        return False
    conditions.control[TIME] = t
    scratch.wrench[:] = 0.0
    solve(model, conditions, scratch, 0.0, 0.0, 0.0, CORRECTION_PIVOT)  # nothing moves
    for i in range(rows.shape[0]):
        rows[i, LEFT] = 0.0
        if i >= first:
            for k in range(ROW_WIDTH):
                rows[i, k] = 0.0
    row_of_stop(first + s, s, model, conditions, scratch)
    rows[first + s, LEFT] = 1.0
    close_rows(
        model.tree, model.bodies, rows, scratch.innovations, scratch.spans, CORRECTION_PIVOT,
        scratch.work, scratch.general, scratch.report,
    )  # fmt: skip
    return scratch.report[CONTRADICTION] > CONTRADICTORY * scratch.report[TARGET]


@inner
def is_driven(model: Model, scratch: Scratch) -> bool:
    """Whether any joint has a prescribed motion, at the rows in the scratch."""
    moving = False
    for k in range(scratch.rows.shape[0] - model.stops.what.shape[0]):
        moving = moving or scratch.rows[k, RATE] != 0.0
    return moving


@inner
def is_contradicted(model: Model, conditions: Conditions, scratch: Scratch) -> bool:
    """Whether velocities after an impact, in the scratch, violate prescribed motions, or still lead
    into a stop."""
    stops, rows, loops, moving = model.stops, scratch.rows, model.tree.loops, False
    for k in range(rows.shape[0] - stops.what.shape[0]):
        if rows[k, RATE] != 0.0:
            slip, moving = rows[k, RATE], True
            slip += row_rate(
                k, JACOBIAN, loops[k, LOOP_BODY1], loops[k, LOOP_BODY2], rows, scratch.frames
            )
            if loops[k, LOOP_BODY3] >= 0:
                slip += row_rate(
                    k, SECOND, loops[k, LOOP_BODY3], loops[k, LOOP_BODY4], rows, scratch.frames
                )
            if abs(slip) > CONTRADICTORY * abs(rows[k, RATE]) + SLIPPING:
                return True
    if moving:
        for s in range(stops.what.shape[0]):
            if conditions.stops[s, HOLDS] != 0:
                _, rate = free_of_stop(s, model, conditions, scratch)
                if rate < -stops.numbers[s, SETTLE]:
                    return True
    return False


@inner
def stop_against_drive(run: Run, model: Model, conditions: Conditions, scratch: Scratch) -> int:
    """The number of a stop that holds against a prescribed motion, so that one of the two is
    violated at the state just computed; or FIT."""
    stops, held = model.stops, FIT
    if stops.what.shape[0] == 0 or run.clock[PROJECTING] == 0.0 or not is_driven(model, scratch):
        return FIT
    for s in range(stops.what.shape[0]):
        if conditions.stops[s, HOLDS] != 0:
            held = s
            free, _ = free_of_stop(s, model, conditions, scratch)
            if abs(free) > REFUSED_BEYOND:
                return s
    if held != FIT:
        for k in range(scratch.rows.shape[0] - stops.what.shape[0]):
            if scratch.rows[k, RATE] != 0.0 and abs(scratch.rows[k, PHI]) > REFUSED_BEYOND:
                return held
    return FIT


@inner
def note_released(
    t: float, noting: bool, run: Run, conditions: Conditions, watch: Watch, rows: Rows
) -> None:
    """Note which of the stops under test have released; afterwards none is under test."""
    for k in range(watch.values.shape[0]):
        s = watch.what[k, ONE] if watch.what[k, KIND] == STOP else -1
        if s >= 0 and conditions.stops[s, ASKED] != 0:
            gone = conditions.stops[s, HOLDS] == 0 and conditions.stops[s, BOUNCE] == 0.0
            if noting and gone:
                note(t, RELEASED, k, run, rows)
            conditions.stops[s, ASKED] = 0


@inner
def let_go_of_unpressed(
    t: float, least_value: float, noting: bool, run: Run, model: Model, conditions: Conditions,
    scratch: Scratch, watch: Watch, rows: Rows,
) -> None:  # fmt: skip
    """Release the stops that would have to pull, then those whose watched value is at most
    `least_value`, the least pressed first, until all that hold are pressed.  A free coordinate at
    its bound counts as having just left it.

    A stop that is neither pressed nor pulled goes on holding: if it were released, the next
    rounding error would make it touch again."""
    values = watch.values
    if some_pull(least_value, conditions, watch):
        hold_what_presses(False, t, run, model, conditions, scratch)
        note_released(t, noting, run, conditions, watch, rows)
        run.clock[RANK] = 0.0
        settle_end(t, run, model, conditions, scratch, watch)
    for _ in range(values.shape[0]):
        least, which = least_value, -1
        for k in range(values.shape[0]):
            holds = watch.what[k, KIND] == STOP and conditions.stops[watch.what[k, ONE], HOLDS] != 0
            if holds and values[k, NOW] <= least:
                least, which = values[k, NOW], k
        if which < 0:
            break
        conditions.stops[watch.what[which, ONE], HOLDS] = 0
        if noting:
            note(t, RELEASED, which, run, rows)
        run.clock[RANK] = 0.0
        settle_end(t, run, model, conditions, scratch, watch)
    for k in range(values.shape[0]):
        free = watch.what[k, KIND] == STOP and conditions.stops[watch.what[k, ONE], HOLDS] == 0
        if free and values[k, NOW] <= TOUCHING:
            beyond = values[k, NOW] < -TOUCHING  # what a latch may be
            if not beyond or model.stops.numbers[watch.what[k, ONE], LATCH] == 0.0:
                values[k, NOW] = max(values[k, NOW], JUST_CROSSED)


@inner
def some_pull(least_value: float, conditions: Conditions, watch: Watch) -> bool:
    """Whether some of several stops must be released because they would pull; they are decided
    together."""
    held, unpressed = 0, False
    for k in range(watch.values.shape[0]):
        if watch.what[k, KIND] == STOP and conditions.stops[watch.what[k, ONE], HOLDS] != 0:
            held += 1
            unpressed = unpressed or watch.values[k, NOW] <= least_value
    return held > 1 and unpressed
