"""One run of the exploration: a choice at a node, simulated until the whole system is at rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from quirkpy.explore.alike.cones import NONE, Images, Lookout
from quirkpy.explore.model.assembly import (
    Vary,
    as_written,
    assemble,
    caught_in,
    firmest,
    holding,
    holding_system,
    lock_in_range,
    locks,
    misfit,
    parts_of,
    release_links,
)
from quirkpy.explore.model.graph import Kind, Node, Outcome, node_record, shape_of
from quirkpy.explore.model.leaving import Leaving, leaving_of
from quirkpy.explore.model.ways import Entered, Parting, Way
from quirkpy.explore.run.records import (
    Record,
    Told,
    failure,
    record_of_ends,
    record_of_way,
    rejection,
)
from quirkpy.explore.scope.choices import Choice, Link
from quirkpy.explore.scope.peaks import peak
from quirkpy.explore.scope.safety import Limit, NoCollision, Violation, judge
from quirkpy.explore.scope.scope import Scope
from quirkpy.kernels.step.integrator import START_TOLERANCE
from quirkpy.mechanics.state import State, at_standstill
from quirkpy.mechanics.system import System
from quirkpy.motion.capture import Catch
from quirkpy.motion.course import Stop
from quirkpy.motion.move import stand
from quirkpy.motion.settings import Settings
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.event import Event, SensorsMeet
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import PartError
from quirkpy.parts.pinning import FluxPinning
from quirkpy.rest.branch_points import stands
from quirkpy.rest.equilibrium import Equilibrium, Mode, certify
from quirkpy.rest.reason import Reason, told
from quirkpy.rest.settle import Rule, nudge_along, run_to_rest, settle, ways_out
from quirkpy.rest.vicinity import Vicinity
from quirkpy.system.multibody import Multibody

T = TypeVar("T")
#: The reason for joints that do not fit.
UNMET = Reason("unmet")
#: Largest number of contacts in one run, and of meetings of sensors without a joint: more are an
#: endless rattle.
CONTACTS, MEETINGS, RATTLE = 50, 200, Reason("rattle")


#: Displacement from the first unstable equilibrium [m or rad], and its direction.
Left: TypeAlias = "tuple[float, int] | None"


class Ended(NamedTuple):
    """The end of one motion: the equilibrium found, the links that hold then, its stretches,
    contacts, the energy lost to joints at the end of each stretch [J], the unstable equilibria that
    it left, and when pairs were released as others hold their bodies together."""

    found: Equilibrium
    links: tuple[Link, ...]
    runs: tuple[Trajectory, ...]
    contacts: tuple[tuple[float, str], ...]
    losses: tuple[float, ...]
    violation: Violation | None = None
    clearance: float | None = None
    leavings: tuple[Leaving, ...] = ()
    opened: tuple[tuple[float, str], ...] = ()


# --- the start ------------------------------------------------------------------------------------
def start_record(study: Scope) -> dict[str, Any]:
    """The first node of a study: everything in range held as firmly as options allow, settled."""
    links, caught = lock_in_range(study, study.system.initial, ())
    system = assemble(study, links, caught.state, None)
    found = refuse_interruption(settle(system, rule_of(study, study.nudge)))
    if found.verdict in ("never settles", "stopped"):
        raise PartError(
            f"Study: the start does not come to rest ({found.reason}); begin at rest, or add "
            "damping.",
            code="pose",
        )
    return centre(study, record_of(study, found, links, None))


def centre(study: Scope, record: dict[str, Any]) -> dict[str, Any]:
    """The record of a node with its mass centre in the origin of N, if forces are invariant under
    translations: the accuracy of a run depends on its distance from there."""
    if study.shapes.group == "none":
        return record
    tables = study.system.tables
    r = np.array(record["r"], dtype=float)
    return record | {"r": (r - tables.body_mass @ r / tables.body_mass.sum()).tolist()}


def refuse_interruption(found: Equilibrium) -> Equilibrium:
    """The result, unless Ctrl-C cut it short: that ends the exploration, and is not an outcome."""
    if found.run is not None and found.run.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    return found


def rule_of(study: Scope, nudge: float, stop: Sequence[Event] = ()) -> Rule:
    """The settings of `settle` for runs of a study."""
    r = study.settle
    settings = Settings(rtol=r.rtol, atol=r.atol, max_steps=int(r.evaluations) // 12)
    more = f"or give the study settle=SettleRule(evaluations=...) above {r.evaluations:g}"
    return Rule(
        nudge=nudge, seed=study.seed, rest=r.rest, duration=r.duration, settings=settings,
        stop=tuple(stop), progress=False, if_stiff=f"damp it less, {more}",
        if_swinging=f"make its springs softer, {more}",
    )  # fmt: skip


def record_of(
    study: Scope, found: Equilibrium, links: tuple[Link, ...], potential: str | None
) -> dict[str, Any]:
    """The journal's record of a node that was reached."""
    s = found.state
    kept = release_links(study, s, links)
    frequencies = tuple(mode.frequency for mode in found.modes)
    node = Node(
        0,
        shape_of(study, s),
        kept,
        found.verdict,
        found.reason,
        found.energy,
        frequencies,
        potential,
    )
    return node_record(node)


# --- one choice -----------------------------------------------------------------------------------
class Begun(NamedTuple):
    """The result of a choice before any motion: links, the system, the work of switching [J] and
    the potential energy after it [J], and a run of zero length for the criteria of safety."""

    links: list[Link]
    system: Multibody
    switching: float
    energy: float
    run: Trajectory


def begin(study: Scope, node: Node, choice: Choice, universe: Multibody) -> Begun | Outcome:
    """Make a choice at a node; returns the outcome where that is impossible."""
    links = chosen_links(study, node, choice)
    system = chosen_system(study, universe, choice, links)
    never = next((v for v in (rule.before(system) for rule in study.safety) if v is not None), None)
    before = held_energy(study, universe, node.links, node.potential, node.state)
    if never is not None:
        return rejection(
            never, held_energy(study, universe, links, choice.potential, node.state) - before
        )
    caught = fit_pose(holding_system(study, universe, links))
    if caught is None:
        return Outcome("rejected", None, UNMET, t=0.0)
    system = system.at(caught.state) if caught.moved.any() else system
    energy = held_energy(study, universe, links, choice.potential, caught.state)
    run = stand(system)
    held = run.final.held  # the stops on which the start presses
    start = system.at(system.initial.changed(held=held)) if held else system
    return Begun(links, start, energy - before, energy, run)


def run_choice(
    study: Scope, node: Node, choice: Choice, universe: Multibody | None = None,
    images: Images = NONE,
) -> Record:  # fmt: skip
    """All possible outcomes of a choice at a node; images: of the cones, where other edges need
    them."""
    begun = begin(study, node, choice, study.universe(node) if universe is None else universe)
    if isinstance(begun, Outcome):
        return record_of_way(Way((begun, None)), images)
    lookout = Lookout(images)
    rules = [
        rule for rule in lookout.rules(study.safety) if not isinstance(rule, NoCollision)
    ]  # as it was reached
    early = judge(rules, begun.run).violation
    entered = lookout.find_entries(begun.run, early).items()
    met: tuple[Entered[Told], ...] = tuple(
        Entered(k, 0, v.t, (rejection(v, begun.switching), None)) for k, v in entered
    )
    if early is not None:
        return record_of_way(Way((rejection(early, begun.switching), None), met), images)

    def record(motion: tuple[Ended | Exception, Left]) -> Told:
        ended, nudge = motion
        if isinstance(ended, Exception):
            return failure(ended), None
        return record_motion(study, node, choice, begun, ended, nudge)

    way = ways(study, begun.system, begun.links, choice, lookout)
    if not images.cones:
        return record_of_ends([record(motion) for motion in way.ends()])
    every = way.map(record)
    return record_of_way(replace(every, entered=(*met, *every.entered)), images)


def record_motion(
    study: Scope, node: Node, choice: Choice, begun: Begun, ended: Ended, nudge: Left
) -> Told:
    """The outcome of a motion, and the record of the node that it reached, or None."""
    kind, reason, target = classify(study, node, ended)
    outcome = measure(study, ended, kind, reason, begun, holding(study, choice), nudge)
    if not target:
        return outcome, None
    record = record_of(study, ended.found, ended.links, choice.potential)
    return outcome._replace(end_energy=energy_at_end(study, ended, record, choice)), centre(
        study, record
    )


def fit_pose(system: Multibody) -> Catch | None:
    """The pose of a node projected onto the joints of a choice; unchanged where these have held it
    before."""
    if misfit(system, system.initial) <= START_TOLERANCE:
        return Catch(system.initial, 0.0, np.zeros(2))
    return caught_in(system)


def chosen_links(study: Scope, node: Node, choice: Choice) -> list[Link]:
    """The links that hold under a choice."""
    rolls = dict(study.open_pairs(node))
    out = []
    for name, label in choice.joints:
        pair = study.numbers[name]
        if study.option(study.pairs[pair], label).joins:
            out.append(Link(pair, rolls[pair], label))
    return out


def chosen_system(
    study: Scope, universe: Multibody, choice: Choice, links: list[Link]
) -> Multibody:
    """The possible parts at a node, with the selection of a choice."""
    parts = [*study.system.parts, *parts_of(study, links)]
    held = [part.name for part in parts if isinstance(part, BaseJoint | Force)]
    always = [part.name for part in universe.parts if isinstance(part, Force)]
    forces = [force.name for force in study.forces[choice.potential]]
    return universe.choosing(held, [*always, *forces])


def held_energy(
    study: Scope, system: System, links: Iterable[Link], potential: str | None, state: State
) -> float:
    """The potential energy [J] of a system at a state while some links hold and a potential is
    active, in addition to permanent forces; before the first potential (None) without any. The
    images of a flux pin are not included: they are made by cooling, not by a current."""
    tables, chosen = system.tables, () if potential is None else study.forces[potential]
    parts = [*study.system.parts, *study.always, *chosen]
    parts += [part for part in parts_of(study, links) if not isinstance(part, FluxPinning)]
    named = [part.name for part in parts if isinstance(part, BaseJoint | Force)]
    joints, forces = (
        [name for name in named if name in index]
        for index in (tables.joint_index, tables.force_index)
    )
    return math.fsum(state.instant(tables.select(joints, forces)).loads.potential)


def motions(
    study: Scope, system: Multibody, links: list[Link], choice: Choice
) -> list[tuple[Ended, Left]]:
    """The motions of a choice: one; or, where it begins or ends at an unstable equilibrium, one in
    each sense of each unstable direction that no stop blocks: 2 k runs for k directions. With each:
    the displacement from the first such equilibrium."""
    ends = ways(study, system, links, choice, Lookout(NONE)).ends()
    return [(ended, nudge) for ended, nudge in ends if isinstance(ended, Ended)]


#: Motions, each with the displacement from its first unstable equilibrium; or the error raised,
#: where other edges need the part before it.
Ways: TypeAlias = "Way[tuple[Ended | Exception, Left]]"


def ways(
    study: Scope, system: Multibody, links: list[Link], choice: Choice, lookout: Lookout
) -> Ways:
    """The motions of a choice as a tree."""

    def fly() -> Ended:
        found = refuse_interruption(settle(system, rule_of(study, 0.0, (SensorsMeet(),))))
        return follow(study, links, choice, found, 0.0, lookout=lookout)

    return way_of(study, choice, fly, None, [], lookout)


def way_of(
    study: Scope, choice: Choice, fly: Callable[[], Ended], nudge: Left, saddles: list[Parting],
    lookout: Lookout, above: tuple[int, ...] = (),
) -> Ways:  # fmt: skip
    """A motion, and its continuations from a saddle, unless one like it has been left before;
    saddles: those that were left, above: those on the way to this motion."""
    ended = attempt(fly, lookout)
    met = tuple(replace(met, value=(met.value, nudge)) for met in lookout.met)
    end: Ways = Way((ended, nudge), met)
    if (
        isinstance(ended, Exception)
        or ended.found.verdict != "unstable"
        or ended.violation is not None
    ):
        return end
    if study.nudge == 0.0 or lookout.over:
        return end
    there = ended.found.state
    like = tuple(
        k for k, s in enumerate(saddles) if study.distance(there, s.state) <= study.shapes.tolerance
    )
    if any(
        k in above or (saddles[k].sure and saddles[k].clear >= lookout.clear.keys()) for k in like
    ):
        return end
    here, sure = len(saddles), not like and all(saddles[k].sure for k in above)
    saddles.append(Parting(there, frozenset(lookout.clear), sure))
    onward = attempt(
        lambda: list(leave(study, choice, ended, nudge, saddles, lookout, (*above, here))), lookout
    )
    return replace(
        end, saddle=here, like=like,
        onward=(Way((onward, nudge)),) if isinstance(onward, Exception) else tuple(onward),
    )  # fmt: skip


def attempt(make: Callable[[], T], lookout: Lookout) -> T | Exception:
    """The result of an attempt; or the error that it raises, where other edges may need the part
    before."""
    try:
        return make()
    except Exception as error:
        if not lookout.images.cones:
            raise
        return error


def leave(
    study: Scope, choice: Choice, ended: Ended, nudge: Left, saddles: list[Parting],
    lookout: Lookout, above: tuple[int, ...],
) -> Iterator[Ways]:  # fmt: skip
    """The motions that continue from a saddle."""
    found = ended.found
    assert found.system is not None
    system, rule = found.system, rule_of(study, 0.0, (SensorsMeet(),))
    around = Vicinity(system.clusters, found.state)
    modes = directions(found)
    senses = [
        (size, k) for k, mode in enumerate(modes) for size in ways_out(around, mode, study.nudge)
    ]
    starts = [nudge_along(around, modes[k], size) for size, k in senses]

    def fly(state: State, mode: Mode, there: Lookout) -> Ended:
        begun = system.at(state)
        onward = replace(refuse_interruption(run_to_rest(begun, around.whole, rule)), system=begun)
        assert onward.run is not None
        before = ended._replace(leavings=(*ended.leavings, leaving_of(around, mode, onward.run)))
        return follow(study, ended.links, choice, onward, 0.0, before=before, lookout=there)

    for given, state in zip(senses, starts, strict=True):
        if state is not None:
            there, mode = lookout.onward(), modes[given[1]]
            yield way_of(
                study,
                choice,
                partial(fly, state, mode, there),
                nudge or given,
                saddles,
                there,
                above,
            )
    if all(state is None for state in starts):
        reason = Reason("all ways shut", why=[found.reason])
        yield Way((ended._replace(found=replace(found, reason=reason)), nudge))


def directions(found: Equilibrium) -> list[Mode]:
    """The directions of real growth rates, and one of each complex pair."""
    return [mode for mode in found.unstable if mode.eigenvalue.imag >= 0.0]


def follow(
    study: Scope, links: Sequence[Link], choice: Choice, found: Equilibrium, nudge: float,
    vary: Vary = as_written, before: Ended | None = None,
    lookout: Lookout | None = None, play: float = 0.0,
) -> Ended:  # fmt: skip
    """Simulate a motion: where sensors meet they lock, and it continues; nudge: the displacement
    from saddles on its way; vary: perturbs the systems made on the way; before: the end from which
    it continues; lookout: for cones that do not end it; play [m]: of joints, an allowed overlap of
    bodies."""
    lookout = Lookout(NONE) if lookout is None else lookout
    ended = Ended(found, tuple(links), (), (), ()) if before is None else before
    gaps = [] if ended.clearance is None else [ended.clearance]
    while True:
        if found.run is not None:
            violation, clearance = judge(lookout.rules(study.safety), found.run, play)
            entered, begun = lookout.find_entries(found.run, violation), float(found.run.t[0])
            if violation is not None:
                violation = violation._replace(t=begun + violation.t)
            gaps += [] if clearance is None else [clearance]
            runs, losses = (*ended.runs, found.run), (*ended.losses, 0.0)
            least = min(gaps, default=None)
            ended = ended._replace(
                found=found, runs=runs, losses=losses, violation=violation, clearance=least
            )
            for k, v in entered.items():
                there = ended._replace(violation=v._replace(t=begun + v.t))
                lookout.met.append(Entered(k, len(runs), v.t, there))
        if lookout.over or ended.violation is not None or found.verdict != "stopped":
            return ended._replace(found=found)
        closed = met_pairs(study, found)  # hinges that closed become locks
        held = tuple(link for link in ended.links if link.pair not in closed or locks(study, link))
        new, caught = lock_in_range(study, found.state, held, closed, vary)
        met = tuple((found.state.t, study.pairs[link.pair].name) for link in new)
        if new:
            links = release_links(study, caught.state, (*held, *new))
            gone = [link for link in (*held, *new) if link not in links]
            opened = tuple((found.state.t, study.pairs[link.pair].name) for link in gone)
            ended = ended._replace(
                links=links,
                contacts=(*ended.contacts, *met),
                opened=(*ended.opened, *opened),
            )
        onward = vary(assemble(study, ended.links, caught.state, choice.potential, found.system))
        if new:
            assert found.system is not None
            taken = (
                found.system.energy(found.state) - onward.energy()
            )  # with the energy lost as the pose snaps
            ended = ended._replace(losses=(*ended.losses[:-1], taken))
        holdable = any(firmest(study, pair, 0) is not None for pair in closed)
        if study.on_contact == "stop" and holdable:
            here, reason = onward.energy().potential, Reason("met")
            return ended._replace(
                found=replace(found, state=caught.state, energy=here, reason=reason)
            )
        if (holdable and not new) or len(ended.contacts) > CONTACTS or len(ended.runs) > MEETINGS:
            reason = Reason("no lock") if holdable and not new else RATTLE
            return ended._replace(found=replace(found, verdict="never settles", reason=reason))
        found = rigid(onward) or refuse_interruption(
            settle(onward, rule_of(study, nudge, (SensorsMeet(),)))
        )


def rigid(system: Multibody) -> Equilibrium | None:
    """The certificate of a system that only has rigid motions of the whole; otherwise None."""
    around = Vicinity(system.clusters, at_standstill(system.initial).changed(held=()))
    return replace(certify(around), system=system) if stands(around) else None


def met_pairs(study: Scope, found: Equilibrium) -> set[int]:
    """The pairs whose meeting has ended a motion, including hinges that closed."""
    assert found.run is not None
    names = {frozenset(event.sensors) for event in found.run.events if event.t == found.run.t[-1]}
    ends = (
        (k, (study.sensors[pair.one].name, study.sensors[pair.two].name))
        for k, pair in enumerate(study.pairs)
    )
    return {k for k, both in ends if frozenset(both) in names}


# --- judging and measuring ------------------------------------------------------------------------
def classify(study: Scope, node: Node, ended: Ended) -> tuple[Kind, Reason, bool]:
    """Kind and reason of an outcome, and whether it ends in a node."""
    if ended.violation is not None:
        return ended.violation.kind, told(ended.violation.reason), False
    if ended.found.verdict == "never settles":
        return "never settles", ended.found.reason, False
    if not ended.runs:
        return "stayed", ended.found.reason, True
    return "moved", ended.found.reason, True


def energy_at_end(study: Scope, ended: Ended, record: dict[str, Any], choice: Choice) -> float:
    """The potential energy [J] of the active parts where a motion has reached a node with some
    record."""
    found, links = ended.found, [Link(*link) for link in record["links"]]
    assert found.system is not None
    return held_energy(study, found.system, links, choice.potential, found.state)


def measure(
    study: Scope, ended: Ended, kind: Kind, reason: Reason, begun: Begun, power: float, nudge: Left
) -> Outcome:
    """The figures of a motion."""
    runs, violation = ended.runs, ended.violation
    speeds = [peak(run, "speed") for run in runs]
    wanted = any(isinstance(rule, Limit) and rule.what == "load" for rule in study.safety)
    loads = [peak(run, "load") for run in runs] if wanted else []
    return Outcome(
        kind,
        None,
        reason,
        duration=float(runs[-1].t[-1]) if runs else 0.0,
        switching=begun.switching,
        holding=power,
        dissipated=math.fsum(float(run.dissipated[-1]) for run in runs),
        put_in=math.fsum(float(run.work[-1]) for run in runs),
        lost=math.fsum([*ended.losses, *(float(run.lost[-1] + run.projected[-1]) for run in runs)]),
        peak_speed=max(speeds, default=0.0),
        peak_load=max(loads, default=None) if wanted else None,
        clearance=ended.clearance,
        contacts=ended.contacts,
        t=None if violation is None else violation.t,
        parts=() if violation is None else violation.parts,
        nudge=nudge,
        evaluations=sum(run.counts.evaluations for run in runs),
        start_energy=begun.energy,
        leavings=ended.leavings,
    )
