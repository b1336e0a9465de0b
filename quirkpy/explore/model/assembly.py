"""Systems in which some pairs are held, and pairs that become held when in range."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from quirkpy.explore.scope.choices import Choice, Link
from quirkpy.explore.scope.scope import Scope
from quirkpy.mechanics.analysis import largest_gaps
from quirkpy.mechanics.meeting import MEETING_TOLERANCE
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.capture import Catch, clearances, hold_at_latches
from quirkpy.parts.force import Force
from quirkpy.parts.forces import JointStop
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.magnets import holding_power
from quirkpy.rest.equilibrium import Equilibrium, certify
from quirkpy.rest.vicinity import Vicinity
from quirkpy.system.multibody import Multibody

#: A function that gives the perturbed system of a sample for a nominal one.
Vary: TypeAlias = Callable[[Multibody], Multibody]


def as_written(system: Multibody) -> Multibody:
    """The nominal system itself."""
    return system


def assemble(
    study: Scope,
    links: Sequence[Link],
    state: State,
    potential: str | None,
    before: System | None = None,
) -> Multibody:
    """The system with some pairs held and a potential; joints that a system before has held already
    continue unchanged."""
    forces, kept = study.forces[potential] if potential is not None else (), {}
    if before is not None:
        kept = {part.name: part for part in before.parts if isinstance(part, BaseJoint | Force)}
    joints = [kept.get(part.name, part) for part in parts_of(study, links, state)]
    return Multibody(
        *study.system.parts, *study.always, *study.sensors, *forces, *joints, start=state
    )


def lock_in_range(
    study: Scope, state: State, held: tuple[Link, ...], met: Iterable[int] = (),
    vary: Vary = as_written,
) -> tuple[tuple[Link, ...], Catch]:  # fmt: skip
    """Further links: locks on the pairs in range, and on those found by an event, all at once; or
    one after the other, as far as they are compatible, where not all are. The state on all of them.
    vary: perturbs the systems made of them.

    Locking may bring further pairs into range.
    """
    new: list[Link] = []
    caught, tried = Catch(state, 0.0, np.zeros(2)), {link.pair for link in held}
    first = [firmest(study, *at) for at in study.in_range(state, met) if at[0] not in tried]
    together = [link for link in first if link is not None]
    fits = caught_by(study, [*held, *together], state, vary) if len(together) > 1 else None
    if fits is not None:
        new, caught = together, fits
        tried |= {link.pair for link in together}
    while True:
        near = [at for at in study.in_range(caught.state, () if new else met) if at[0] not in tried]
        if not near:
            return tuple(new), caught
        pair, roll = near[0]
        tried.add(pair)
        link = firmest(study, pair, roll)
        fits = None if link is None else caught_by(study, [*held, *new, link], caught.state, vary)
        if link is not None and fits is not None:
            new.append(link)
            caught = add_catch(caught, fits)


def add_catch(first: Catch, second: Catch) -> Catch:
    """Two successive catches as one: losses [J] add up."""
    moved = np.maximum(first.moved, second.moved)
    return Catch(second.state, first.loss + second.loss, moved)


def firmest(study: Scope, pair: int, roll: int) -> Link | None:
    """A pair held by the option with the fewest freedoms; None where no option joins it."""
    joining = [option for option in study.options_of(study.pairs[pair]) if option.joins]
    option = min(joining, key=lambda option: study.freedoms(pair, roll, option), default=None)
    return None if option is None else Link(pair, roll, option.label)


def caught_by(
    study: Scope, links: Sequence[Link], state: State, vary: Vary = as_written
) -> Catch | None:
    """The state on the joints of some links, or None where these are incompatible."""
    universe = Multibody(*study.system.parts, candidates=parts_of(study, links, state), start=state)
    return caught_in(vary(holding_system(study, universe, links)))


def parts_of(study: Scope, links: Iterable[Link], state: State | None = None) -> list[Any]:
    """The joints of some links, their stops and other parts, as they become active at a state."""
    out: list[Any] = []
    for link in links:
        option = study.option(study.pairs[link.pair], link.option)
        parts = study.joint_parts(link.pair, link.roll, option)
        out += parts if state is None else option.hold(parts, state)
    return out


def holding_system(study: Scope, universe: Multibody, links: Iterable[Link]) -> Multibody:
    """A selection of all possible parts: the joints of the system and those of some links, with
    their stops, and no other force."""
    parts = [*study.system.parts, *parts_of(study, links)]
    held = [part.name for part in parts if isinstance(part, BaseJoint | JointStop)]
    return universe.choosing(held, ())


def caught_in(system: Multibody) -> Catch | None:
    """The state of a system on its joints and within their stops, or None where these are
    incompatible."""
    caught = system.caught()
    return caught if misfit(system, caught.state) <= MEETING_TOLERANCE else None


def misfit(system: Multibody, state: State) -> float:
    """The largest gap between the ends of any joint, or violation of a stop [m], [rad]."""
    at = state.instant(system.selection)
    sizes = [gap.size for gap in largest_gaps(at).values()]
    return max([*sizes, *(-clearances(at)[0]).tolist()], default=0.0)


def release_links(study: Scope, state: State, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """The links that remain: those in range, and those that alone hold their bodies; a hinge that
    has opened is released if others hold the two bodies together."""
    near = {pair for pair, _ in study.in_range(state)}
    return tuple(
        link for link in links if link.pair in near or not _is_bridged(study, links, link, near)
    )


def _is_bridged(study: Scope, links: tuple[Link, ...], link: Link, near: set[int]) -> bool:
    """Whether locks in range connect one body of a link to the other."""
    ends = {other.pair: study.ends(other.pair) for other in links}
    reached, before = {ends[link.pair][0]}, 0
    held = [ends[other.pair] for other in links if other.pair in near and locks(study, other)]
    while len(reached) > before:
        before = len(reached)
        for a, b in held:
            if a in reached or b in reached:
                reached |= {a, b}
    return ends[link.pair][1] in reached


def locks(study: Scope, link: Link) -> bool:
    """Whether a link leaves its two bodies no freedom."""
    return (
        study.freedoms(link.pair, link.roll, study.option(study.pairs[link.pair], link.option)) == 0
    )


def resting(
    study: Scope, state: State, links: Sequence[Link], potential: str | None
) -> Equilibrium:
    """The certificate of a pose in which the spacecraft is at rest while links hold and a potential
    is active."""
    system = assemble(study, links, state, potential)
    there = hold_at_latches(system.clusters, system.initial)
    return replace(certify(Vicinity(system.clusters, there)), system=system)


def holding(study: Scope, choice: Choice) -> float:
    """The power [W] for holding a potential, as given by its forces."""
    held = study.potentials[choice.potential]
    return float(study.remember(("power", choice.potential), lambda: holding_power(held)))
