"""Outcomes of choices that follow from the rigid clusters which they form, without a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quirkpy.explore.alike.symmetry import EQUAL, Symmetry
from quirkpy.explore.model.assembly import assemble, holding, release_links
from quirkpy.explore.model.graph import Node, Outcome, node_record
from quirkpy.explore.run.records import Record, rejection
from quirkpy.explore.scope.choices import Choice, Link
from quirkpy.explore.scope.choosing import clusters
from quirkpy.explore.scope.options import Hinge, Option, hinge_of, mating_frame
from quirkpy.explore.scope.safety import (
    APART,
    Safety,
    Violation,
    forbids_parting,
    judge,
    smallest,
    sort_by_size,
)
from quirkpy.explore.scope.scope import Scope
from quirkpy.kernels.base.arrays import AXES, POSITION, SPIN, VELOCITY
from quirkpy.kernels.base.states import state_rows
from quirkpy.kernels.place.kinematics import sites_along
from quirkpy.kernels.users.packing import sites_of
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.move import stand
from quirkpy.parts.body import Site
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.rest.reason import Reason
from quirkpy.system.multibody import Multibody

#: What a choice becomes at some place: the option of every open pair, by label, and the potential.
Form = tuple[tuple[str, ...], str]


#: Why a shape stays in which nothing can move, as its certificate says it.
STANDS = Reason("stands")
#: Hinges shut every motion when each of as many singular values as that takes is above this share
#: of the largest.
CERTAIN_RANK = 1e-6


@dataclass(frozen=True, eq=False)
class Place:
    """A node in the form that reductions use: its open pairs with their turns, which of them are in
    range, which are closed exactly, and the options of each."""

    node: Node
    pairs: list[tuple[int, int]]
    near: list[bool]
    tight: list[bool]
    labels: list[list[str]]

    def choice(self, study: Scope, form: Form) -> Choice:
        """A form as a choice at this node."""
        names = (study.pairs[pair].name for pair, _ in self.pairs)
        return Choice(tuple(zip(names, form[0], strict=True)), form[1])


def place_of(study: Scope, node: Node) -> Place:
    """The `Place` of a node."""
    pairs = study.open_pairs(node)
    near = {pair for pair, _ in study.in_range(node.state)}
    gaps = [_gap(study, node.state, pair, roll) <= EQUAL for pair, roll in pairs]
    return Place(node, pairs, [pair in near for pair, _ in pairs], gaps, study.sets(node))


def _gap(study: Scope, state: State, pair: int, roll: int) -> float:
    """The distance between the frames of a pair [m] or [rad]."""
    p = study.pairs[pair]
    one, two = study.sensors[p.one].site, mating_frame(study.sensors[p.two], study.rolls(p)[roll])
    (here, mine), (there, other) = (frame_of(site, state, study.system) for site in (one, two))
    return float(max(np.linalg.norm(here - there), abs(mine - other).max()))


def frame_of(site: Site, state: State, system: System) -> tuple[Floats, Floats]:
    """Point and axes (as columns) in N of a site of a system in some state."""
    rows = {name: k for k, name in enumerate(state.bodies)}
    if system.tables.bends:
        there = state.on(system.selection).instant().at_sites(site)
        return there.position[0], there.axes[0]
    y = state_rows(state.r, state.q, state.v, state.omega)
    at = sites_along(y[None], np.arange(1), sites_of([site], rows, len(rows)))[0, 0]
    return at[POSITION:VELOCITY], at[AXES:SPIN].reshape(3, 3)


# --- what follows from it -------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Rules:
    """Which conclusions are valid in a study.

    closes: selections that differ only in how rigid clusters are locked together have the same
    motion; hinges: neither do hinges within a cluster matter; weighs: energies do not depend on
    which joints act; decides: a choice in which nothing can move has no further criteria to meet;
    sights: violated cones at each node, by number."""

    study: Scope
    closes: bool
    hinges: bool
    weighs: bool
    decides: bool
    floats: bool
    standing: Multibody
    grounded: bool
    sights: dict[int, Violation | None] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Scope, symmetry: Symmetry) -> Rules:
        """The rules that are valid for a study."""
        sprung = symmetry.sprung
        own = any(isinstance(part, BaseJoint) for part in study.system.parts)
        rules = study.safety
        blind = all(rule.traits.sees != "whole" for rule in rules)
        candidates = [force for chosen in study.forces.values() for force in chosen]
        return cls(
            study,
            closes=blind and _all_lock(study),
            hinges=not sprung,
            weighs=not sprung and not own,
            decides=blind and all(map(_acts_after_motion, rules)) and not sprung and not own,
            floats=symmetry.group == "rigid",
            standing=Multibody(*study.system.parts, *study.always, candidates=candidates),
            grounded="ground" in study.names,
        )

    def close_form(self, place: Place, form: Form) -> tuple[Form, tuple[Link, ...]]:
        """The form in which all pairs within rigid clusters are locked, and what these pairs were
        before."""
        study, labels = self.study, list(form[0])
        chosen = [
            study.option(study.pairs[pair], label)
            for (pair, _), label in zip(place.pairs, labels, strict=True)
        ]
        if not self.closes or not all(
            t for option, t in zip(chosen, place.tight, strict=True) if option.joins
        ):
            return form, ()
        of = self._clusters(place, chosen)
        extra = []
        for k, (pair, roll) in enumerate(place.pairs):
            lock = self._lock_within(place, k, chosen[k], of)
            if lock is not None:
                extra.append(Link(pair, roll, labels[k]))
                labels[k] = lock
        return (tuple(labels), form[1]), tuple(extra)

    def _lock_within(
        self, place: Place, k: int, option: Option, of: Mapping[str, Any]
    ) -> str | None:
        """The locking option of pair k of a place if it lies within one rigid cluster and locking
        it changes nothing; else None."""
        pair = place.pairs[k][0]
        one, two = self.study.ends(pair)
        holds = option.traits.holds
        inert = holds == "nothing" or (self.hinges and holds in ("hinge", "freedoms"))
        if not (of[one] == of[two] and inert and place.near[k] and place.tight[k]):
            return None
        options = self.study.options_of(self.study.pairs[pair])
        return next((o.label for o in options if o.traits.holds == "as one"), None)

    def _stands(self, place: Place, chosen: Sequence[Any], of: dict[str, str]) -> bool:
        """Whether all bodies form one rigid cluster, or hinges between clusters leave no freedom to
        first order.  With other joints, or hinges that hold only at higher order, no conclusion is
        drawn: False."""
        names = [name for name in dict.fromkeys(of.values()) if name != of.get("ground")]
        free = len(names) - (0 if self.grounded else 1)
        if free == 0:
            return True
        joined = [k for k, option in enumerate(chosen) if option.joins]
        sides = {k: [of[body] for body in self.study.ends(place.pairs[k][0])] for k in joined}
        across = [k for k in joined if sides[k][0] != sides[k][1]]
        if len(across) <= free or any(hinge_of(chosen[k]) is None for k in across):
            return False
        rows = np.zeros((len(across), 6, 6 * len(names)))
        for row, k in zip(rows, across, strict=True):
            shut = _twists(place, self.study, place.pairs[k][0], chosen[k])
            for sign, name in zip((1.0, -1.0), sides[k], strict=True):
                if name in names:
                    row[:, 6 * names.index(name) : 6 * names.index(name) + 6] = sign * shut
        sigma = np.linalg.svd(rows.reshape(-1, 6 * len(names)), compute_uv=False)
        return bool(len(sigma) >= 6 * free and sigma[6 * free - 1] > CERTAIN_RANK * sigma[0])

    def _clusters(self, place: Place, chosen: Sequence[Any]) -> dict[str, str]:
        locked = (k for k, option in enumerate(chosen) if option.traits.holds == "as one")
        return clusters(self.study.names, (self.study.ends(place.pairs[k][0]) for k in locked))

    def _in_sight(self, node: Node) -> Violation | None:
        """The violation at a node that follows from positions of bodies alone, if there is one."""
        if node.number not in self.sights:
            asked = [rule for rule in self.study.safety if rule.traits.sees == "poses"]
            found = judge(asked, stand(self.standing.at(node.state))).violation if asked else None
            self.sights[node.number] = found
        return self.sights[node.number]

    def energies(self, state: State) -> dict[str | None, float]:
        """The energy of every potential at a pose, and under None that of the forces which always
        act [J]; empty if energies depend on joints, or cannot be evaluated here."""
        if not self.weighs:
            return {}
        system = self.standing.at(state)
        tables, always = (
            system.tables,
            [part.name for part in system.parts if isinstance(part, Force)],
        )
        acting: dict[str | None, list[str]] = {None: always}
        acting |= {
            name: [force.name for force in forces] for name, forces in self.study.forces.items()
        }
        select = ((name, tables.select([], forces)) for name, forces in acting.items())
        return {
            name: float(system.initial.instant(chosen).loads.potential.sum())
            for name, chosen in select
        }

    def stored_energy(self, node: Node, energies: dict[str | None, float]) -> float:
        """The potential energy [J] of joints and potential at a node; before the first potential
        acts only that of the forces which always act."""
        if energies:
            return energies[None] + (0.0 if node.potential is None else energies[node.potential])
        return float(
            assemble(self.study, node.links, node.state, node.potential).energy().potential
        )

    def conclude(
        self, place: Place, form: Form, choice: Choice, energies: dict[str | None, float]
    ) -> Record | None:
        """The record of a choice that joins everything into one rigid body, or that lets pieces
        separate."""
        study = self.study
        if not self.decides:
            return None
        chosen = [
            study.option(study.pairs[pair], label)
            for (pair, _), label in zip(place.pairs, form[0], strict=True)
        ]
        joined = [k for k, option in enumerate(chosen) if option.joins]
        work = energies[form[1]] - (
            0.0 if place.node.potential is None else energies[place.node.potential]
        )
        of = self._clusters(place, chosen)
        fits = all(place.tight[k] for k in joined)
        if fits and (self.floats or self.grounded) and self._stands(place, chosen, of):
            violation = self._in_sight(place.node)
            if violation is not None:
                return Record((rejection(violation, work),), (None,))
            links = tuple(Link(*place.pairs[k], form[0][k]) for k in joined)
            energy = energies[form[1]] + energies[None]
            return self._standing(place.node, links, choice, work, energy)
        return self._separation(place, joined, work)

    def _standing(
        self, node: Node, links: tuple[Link, ...], choice: Choice, work: float, energy: float
    ) -> Record:
        """The record of a choice that makes all bodies one rigid body, which stays at rest, with
        the work of switching and the energy [J]."""
        study = self.study
        outcome = Outcome(
            "stayed", None, STANDS, switching=work, holding=holding(study, choice),
            start_energy=energy, end_energy=energy,
        )  # fmt: skip
        kept = release_links(study, node.state, links)
        there = Node(0, node.state, kept, "stable", STANDS, energy, (), choice.potential)
        return Record((outcome,), (node_record(there),))

    def _separation(self, place: Place, joined: Sequence[int], work: float) -> Record | None:
        """The record of a choice that lets bodies separate although safety forbids it, with the
        work of switching [J]; else None."""
        study = self.study
        if not any(map(forbids_parting, study.safety)):
            return None
        loose = loose_among(study, (place.pairs[k][0] for k in joined))
        if not loose:
            return None
        outcome = Outcome("rejected", None, APART, switching=work, t=0.0, parts=loose)
        return Record((outcome,), (None,))


def loose_among(study: Scope, pairs: Iterable[int]) -> tuple[str, ...]:
    """The bodies of the loose piece if some pairs are the only joints between bodies; empty if all
    bodies hang together."""
    held = clusters(study.names, (study.ends(pair) for pair in pairs))
    pieces = sort_by_size(
        tuple(n for n in study.names if held[n] == one) for one in dict.fromkeys(held.values())
    )
    return smallest(pieces) if len(pieces) > 1 else ()


def _twists(place: Place, study: Scope, pair: int, hinge: Hinge) -> Floats:
    """The Pfaffian constraint of a hinge: the matrix (6, 6) that maps a body's velocity (of the
    common centre) and angular velocity to what must agree for the two bodies of the hinge."""
    site, state = study.sensors[study.pairs[pair].one].site, place.node.state
    (point, axes), (at, axis, _) = frame_of(site, state, study.system), hinge.placed(site)
    middle, u = state.r.mean(axis=0), axes @ axis
    x, y, z = point + axes @ at - middle
    out = np.zeros((6, 6))
    out[:3, :3] = np.eye(3)
    out[:3, 3:] = -np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])  # w x p = -p x w
    out[3:, 3:] = np.eye(3) - np.outer(u, u)
    return out


def _acts_after_motion(rule: Safety) -> bool:
    """Whether a rule forbids nothing before a motion begins, except that bodies separate."""
    return forbids_parting(rule) or type(rule).before is Safety.before


def _all_lock(study: Scope) -> bool:
    """Whether every pair of sensors that accept each other has a locking option."""
    joined = {
        frozenset(p[:2]) for p in study.pairs if any(option.joins for option in study.options_of(p))
    }
    for j, two in enumerate(study.sensors):
        for i, one in enumerate(study.sensors[:j]):
            notices = one.kind in two.accepts and two.kind in one.accepts
            apart = one.site.body.name != two.site.body.name and not (
                one.site.body.fixed and two.site.body.fixed
            )
            if notices and apart and frozenset((i, j)) not in joined:
                return False
    return True
