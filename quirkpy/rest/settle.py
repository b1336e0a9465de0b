"""`settle`: simulate until the system is at rest, or is known never to be; then give that state and
its stability."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from quirkpy.kernels.step.batch import AT_REST
from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE, TOUCHING
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.rigid_motion import Whole
from quirkpy.mechanics.state import State, at_standstill
from quirkpy.mechanics.system import System
from quirkpy.motion.capture import clearances, hold_at_latches
from quirkpy.motion.course import Stop
from quirkpy.motion.move import move
from quirkpy.motion.settings import Settings, StiffMethod, check_settings
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import share, show, small_of_either_sense, whole
from quirkpy.parts.event import Event
from quirkpy.parts.part import PartError, check_argument
from quirkpy.rest.branch_points import stands
from quirkpy.rest.equilibrium import Equilibrium, Mode, Nudge, certify
from quirkpy.rest.newton import polish, rests, size_of
from quirkpy.rest.reason import Reason
from quirkpy.rest.rest_detector import Watcher, calm_from
from quirkpy.rest.vicinity import Vicinity
from quirkpy.rest.wells import release_stops

#: Largest number of saddles that are left in succession.
SADDLES = 8
#: A stop blocks a displacement that moves its coordinate beyond it by more than this share of the
#: displacement: less is rounding.
UNMOVED = 1e-6
#: The sense of a displacement is reversed where forces do this many times more work the other way.
STEEPER = 10.0
#: A motion is tried over this distance [m], [rad]; it is blocked by a stop that it passes by more
#: than this share of the square. A motion that loops reduce to below the last share has not moved.
TRIED, SHUT, BACK = 1e-3, 1e-2, 0.1
#: A run is stiff where rates of decay, or the rates of all motions, differ by this factor, and the
#: mean step is so long, in times of decay or in radians of the fastest motion, that only this
#: motion can have bounded it.
STIFF, BOUND_STEPS, BOUND_SWINGS = 1e3, 0.5, 0.1


def hold_by_all_stops(clusters: Clusters, start: Vicinity) -> Vicinity | None:
    """The vicinity of a start held by all its stops, where these leave no motion though to first
    order one would remain: in either sense the loop constraints move it into a stop, at second
    order in the displacement, or do not admit it. Otherwise None."""
    stops, loops = start.layout.stops, start.layout.tree.loops
    if len(loops) <= len(stops.what) or not start.freedoms or not len(stops.what):
        return None
    gaps = clearances(start.state.instant(clusters.selection))[0]
    latched = [label for label in start.state.held if label in start.layout.latches]
    held = tuple(
        label
        for label, gap in zip(start.layout.labels, gaps, strict=True)
        if gap <= TOUCHING or label in latched
    )
    around = Vicinity(clusters, start.state.changed(held=held))
    if around.freedoms:
        return None

    def change(rows: Floats) -> Floats:
        return clearances(start.state_of(rows).instant(clusters.selection))[0] - gaps

    rates = np.array([change(rows) for rows in start.displace_bodies(TRIED * start.basis)])
    along, sizes, _ = np.linalg.svd(
        rates
    )  # where loops are singular, motions of the whole are not separated from others
    if (sizes[1:] > BACK * sizes[0]).any():
        return None
    step = np.tensordot(along[:, 0], start.basis, 1) * (TRIED / size_of(start, along[:, 0]))
    ways = np.stack([step, -step])
    for rows, away in zip(
        start.answers(start.displace_bodies(ways)).rows, start.displace_bodies(ways), strict=True
    ):
        went = change(rows)
        free = (gaps + went >= -SHUT * TRIED**2).all()
        if free and abs(went).max() > BACK * abs(change(away)).max():
            return None
    return around


# --- the face -------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Rule:
    """How a system is settled; see `Multibody.settle`. if_stiff, if_swinging: advice for systems
    that are stiff because of dampers, or of springs."""

    nudge: float = 1e-6
    seed: int = 0
    rest: float = 1e-3
    duration: float = 1e9
    settings: Settings = field(default_factory=Settings)
    stop: Sequence[Event] = ()
    progress: Any = None
    if_stiff: str = "give method='auto' or 'radau', or ask equilibria()"
    if_swinging: str = "ask equilibria(), or give method='auto' or 'radau'"


def check_rule(rule: Rule, evaluations: object) -> None:
    """Check the arguments of `settle`, also where no simulation will be needed."""
    check_settings(rule.duration, rule.settings)
    if not isinstance(rule.stop, Sequence):
        raise PartError(
            f"settle: stop is {show(rule.stop)}, but must be a list of events, such as "
            f"[{show(rule.stop)}]."
        )
    checks = (
        ("nudge", rule.nudge, small_of_either_sense),
        ("rest", rule.rest, share),
        ("seed", rule.seed, whole),
    )
    for name, value, check in checks:
        check_argument("settle", name, value, check)
    if not (type(evaluations) is int and evaluations > 0):
        raise PartError(
            f"settle: evaluations is {show(evaluations)}, but must be a whole number above zero."
        )


def settle(system: System, rule: Rule) -> Equilibrium:
    """The equilibrium at which a system comes to rest, as `Multibody.settle` says."""
    return dataclasses.replace(settle_from(system, rule), system=system)


def settle_from(system: System, rule: Rule, saddles: int = 0) -> Equilibrium:
    """Settle without naming the system in errors; saddles: how many have been left so far."""
    start = beginning(system)
    stood = standing(start)
    if stood is None:
        return run_to_rest(system, start.whole, rule, saddles)
    return from_rest(system, *stood, rule, saddles)


def beginning(system: System) -> Vicinity:
    """The states around the start of a system, held by the latches at which it is, and by the
    stops on which it presses alone."""
    return release_stops(system.clusters, hold_at_latches(system.clusters, system.initial))


def standing(start: Vicinity) -> tuple[Vicinity, Equilibrium] | None:
    """The equilibrium in which a start rests already, with the states around it; None where it
    moves, or has schedules before it."""
    if abs(start.whole.relative_velocities(start.rows)).max(initial=0.0) > AT_REST:
        return None
    calm = start.state.t >= calm_from(start.clusters.selection) or not start.freedoms
    if calm and rests(start):
        polished = polish(start)
        return polished.around, certify(polished.around, polished.moved)
    if not len(start.layout.tree.loops):
        return None
    shut = start if stands(start) else hold_by_all_stops(start.clusters, start)
    return None if shut is None else (shut, certify(shut))


def from_rest(
    system: System, around: Vicinity, found: Equilibrium, rule: Rule, saddles: int = 0
) -> Equilibrium:
    """A start at rest: it stays if it is stable, and is displaced if it is not."""
    if found.verdict != "unstable" or rule.nudge == 0.0:
        return found
    size = float(np.random.default_rng(rule.seed).choice([-1.0, 1.0])) * rule.nudge
    nudge, state = displace_from(around, found, size)
    given = nudge._replace(seed=rule.seed)
    if state is None:
        reason = Reason("one way shut", why=[found.reason])
        return dataclasses.replace(found, nudge=given._replace(blocked=True), reason=reason)
    return dataclasses.replace(
        run_to_rest(system.at(state), around.whole, rule, saddles), nudge=given
    )


def displace_from(around: Vicinity, found: Equilibrium, size: float) -> tuple[Nudge, State | None]:
    """An unstable equilibrium displaced along its most unstable mode, by so much [m or rad] in the
    sense of the sign, or the other one where it is left one way only; None where a stop blocks
    that."""
    worst = max(found.unstable, key=lambda m: m.eigenvalue.real)
    size = ways_out(around, worst, size)[0]
    return Nudge(size, 0, worst.moving), nudge_along(around, worst, size)


def ways_out(around: Vicinity, mode: Mode, size: float) -> tuple[float, ...]:
    """The displacements [m], [rad] along a mode by which an equilibrium may be left, that of `size`
    first: both senses, or, where stiffness jumps and the energy falls one way only, that one."""
    there, back = (work_along(around, mode, way) for way in (size, -size))
    if back > STEEPER * max(there, 0.0):
        return (-size,)
    return (size,) if there > STEEPER * max(back, 0.0) else (size, -size)


def work_along(around: Vicinity, worst: Mode, size: float) -> float:
    """The work of the forces along the path to a state displaced along a mode, no body by more than
    `size` [m], [rad]: positive where they accelerate that motion."""
    xi = around.along(np.real(worst.shape), np.real(worst.bending))
    step = size / size_of(around, xi) * xi
    pull = around.reduce(around.answers(around.states_at(step[None])).felt)[0]
    return float((pull - around.pull) @ step)


def nudge_along(around: Vicinity, worst: Mode, size: float) -> State | None:
    """The state displaced along a mode, no body by more than `size` [m], [rad]; None where a stop
    blocks it."""
    xi = around.along(np.real(worst.shape), np.real(worst.bending))
    rows = around.answers(around.states_at(size / size_of(around, xi) * xi[None])).rows[0]
    state, stops = around.state_of(rows), around.layout.stops
    which, side = stops.what[:, STOP_COORDINATE], stops.numbers[:, SIDE]
    before = around.at.coordinates(which)[:, 0]
    after = state.instant(around.clusters.selection).coordinates(which)[:, 0]
    least = -UNMOVED * abs(size)
    beyond, closing = (
        side * (after - stops.numbers[:, BOUND]) < least,
        side * (after - before) < least,
    )
    return None if (beyond & closing & around.layout.bounding).any() else state


def run_to_rest(system: System, whole: Whole, rule: Rule, saddles: int = 0) -> Equilibrium:
    """Simulate until the system is at rest, or is known never to be."""
    watcher = Watcher(system, whole, rule.rest, rule.settings.atol)
    run = move(system, rule.duration, rule.settings, rule.stop, rule.progress, watcher)
    if watcher.found is not None:
        found = dataclasses.replace(watcher.found, run=run)
        if found.verdict != "unstable" or rule.nudge == 0.0:
            return found
        if saddles == SADDLES:  # at rest on a saddle again, after others
            reason = Reason("saddles", (), [saddles], [found.reason])
            return dataclasses.replace(found, reason=reason)
        onward = settle_from(system.at(found.state), rule, saddles + 1)
        return dataclasses.replace(onward, run=onward.run or run)
    if run.stop is Stop.EVENT:
        return Equilibrium(run.final, "stopped", Reason("event", [run.events[-1].name]), run=run)
    ended = Reason(f"run {run.stop.name}")
    reason = watcher.never or Reason("cut short", (), [watcher.share], [ended])
    return Equilibrium(run.final, "never settles", stiffness(reason, system, run, rule), run=run)


def stiffness(why: Reason, system: System, run: Trajectory, rule: Rule) -> Reason:
    """Why a run has not settled; where its steps were bounded by a motion that decays long before
    the slowest one, or oscillates much faster, with advice."""
    method = rule.settings.method
    if method in get_args(StiffMethod) or len(run.t) < 2 or not run.counts.steps:
        return why
    s = run.final
    still = at_standstill(s).changed(held=())
    try:
        around = Vicinity(system.clusters, still)
        K, D, f = around.stiffness.values, around.damping.values, around.freedoms
        values = np.linalg.eigvals(np.block([[np.zeros((f, f)), np.eye(f)], [-K, -D]]))
    except (PartError, np.linalg.LinAlgError):  # for instance where branches of motion meet
        return why
    rates, sizes, step = -values.real, abs(values), (run.t[-1] - run.t[0]) / run.counts.steps
    fast, slow = rates.max(initial=0.0), rates[rates > 0.0].min(initial=math.inf)
    if fast * step >= BOUND_STEPS and fast > STIFF * slow:
        return Reason("stiff", (method, rule.if_stiff), (1.0 / fast, 1.0 / slow), [why])
    swings, slowest = sizes.max(initial=0.0), sizes[rates > 0.0].min(initial=math.inf)
    if why.kind == "cut short" and swings * step >= BOUND_SWINGS and swings > STIFF * slowest:
        figures = swings, 1.0 / slow
        return Reason("stiff by springs", (method, rule.if_swinging), figures, [why])
    return why
