"""What ropes do in a run: one phase of each within a step, and the next from where that ends."""

from __future__ import annotations

from quirkpy.kernels.act.ropes import DRAWN, TAUT, keep_stretch, phase_at, way_of
from quirkpy.kernels.base.compiled import inner, shared
from quirkpy.kernels.base.conditions import Conditions
from quirkpy.kernels.step.events import JUST_CROSSED
from quirkpy.kernels.step.impacts import (
    CROSSED,
    NOTE_LOST,
    REGAINED,
    RELEASED,
    YIELDED,
    Rows,
    note,
    settle_end,
)
from quirkpy.kernels.step.steps import BEGIN, END, NOTED, Run, T
from quirkpy.kernels.step.watch import KEPT, KIND, NOW, ONE, ROOT, ROPE, Watch
from quirkpy.kernels.tree.evaluation import elements_at, stand
from quirkpy.kernels.tree.model import Model, Scratch


@inner
def phase_of_rope(
    t: float, k: int, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch
) -> int:
    """What the rope of watched function k does at the kinematics in the scratch, by its length."""
    return phase_at(
        t, watch.what[k, ONE], elements_at(model, conditions), model.schedules, model.sites,
        scratch.frames,
    )  # fmt: skip


@inner
def draws_back(e: int, phase: int, model: Model, conditions: Conditions, scratch: Scratch) -> bool:
    """Whether what is loaded to its limit is not loaded further."""
    _, rate = way_of(e, elements_at(model, conditions), model.sites, scratch.frames)
    return rate <= 0.0 if phase == DRAWN else rate >= 0.0


@inner
def regain(
    t: float, k: int, phase: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch,
    watch: Watch, rows: Rows,
) -> None:  # fmt: skip
    """Let what has yielded be elastic from its present length on, and note its rest length; in a
    flight of what was recorded rest lengths are known."""
    e, rest = watch.what[k, ONE], 0.0
    if watch.numbers[k, KEPT] > 0.0:
        rest = keep_stretch(
            t, phase, e, elements_at(model, conditions), model.schedules, model.sites,
            scratch.frames,
        )  # fmt: skip
    note(t, REGAINED, k, run, rows)
    rows.notes[run.counts[NOTED] - 1, NOTE_LOST] = rest


@shared
def begin_ropes(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch, rows: Rows
) -> None:
    """Let every rope do what its length says at the state in BEGIN."""
    stand(run.states[BEGIN], model, scratch)
    for k in range(watch.values.shape[0]):
        if watch.what[k, KIND] == ROPE:
            e, t = watch.what[k, ONE], run.clock[T]
            phase = phase_of_rope(t, k, model, conditions, scratch, watch)
            if phase >= DRAWN and draws_back(e, phase, model, conditions, scratch):
                regain(t, k, phase, run, model, conditions, scratch, watch, rows)
                phase = TAUT
            conditions.phases[e] = phase


@inner
def turn_rope(
    t: float, k: int, run: Run, model: Model, conditions: Conditions, scratch: Scratch,
    watch: Watch, rows: Rows,
) -> None:  # fmt: skip
    """Let the rope of watched function k do what its length says, and note where it begins to pull
    or ends, to yield or ends."""
    e = watch.what[k, ONE]
    before, after = conditions.phases[e], phase_of_rope(t, k, model, conditions, scratch, watch)
    if after >= DRAWN and draws_back(e, after, model, conditions, scratch):
        regain(t, k, after, run, model, conditions, scratch, watch, rows)
        after = TAUT
    elif (before >= DRAWN) != (after >= DRAWN):
        note(t, YIELDED if after >= DRAWN else REGAINED, k, run, rows)
    elif (before == TAUT) != (after == TAUT):
        note(t, CROSSED if after == TAUT else RELEASED, k, run, rows)
    conditions.phases[e] = after


@shared
def turn_ropes(
    t: float, first: float, run: Run, model: Model, conditions: Conditions, scratch: Scratch,
    watch: Watch, rows: Rows,
) -> bool:  # fmt: skip
    """Let ropes whose phase is over at the END of the step, at the first event or by an impact, do
    what comes then; returns whether there are any."""
    values, over = watch.values, False
    stand(run.states[END], model, scratch)
    for k in range(values.shape[0]):
        if watch.what[k, KIND] == ROPE and (values[k, ROOT] == first or values[k, NOW] <= 0.0):
            turn_rope(t, k, run, model, conditions, scratch, watch, rows)
            values[k, ROOT], over = first, True
    if over:
        settle_end(t, run, model, conditions, scratch, watch)
        for k in range(values.shape[0]):
            if watch.what[k, KIND] == ROPE and values[k, ROOT] == first:
                values[k, NOW] = max(values[k, NOW], JUST_CROSSED)
    return over


@shared
def switch_ropes(
    run: Run, model: Model, conditions: Conditions, scratch: Scratch, watch: Watch, rows: Rows
) -> None:
    """Let ropes do what their lengths say at the state in BEGIN, where a rest length has jumped."""
    t = run.clock[T]
    stand(run.states[BEGIN], model, scratch)
    for k in range(watch.values.shape[0]):
        if watch.what[k, KIND] == ROPE:
            turn_rope(t, k, run, model, conditions, scratch, watch, rows)
