"""Reductions: exact results for choices that need no run of their own.

The outcome of a run depends on mass properties, shapes, joints, forces, and the pose up to motions
under which the forces are invariant.  So every choice at a node is mapped to a normal form, at the
first node whose pose is equivalent for the dynamics: rigid clusters are locked completely, and
among all choices that symmetries of the pose map onto each other the first in order is taken.  Only
this one is simulated, and its record is mapped back.  The result does not depend on the order in
which runs finish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np

from quirkpy.explore.alike.cones import NONE, Cones
from quirkpy.explore.alike.names import Names, in_order
from quirkpy.explore.alike.symmetry import EQUAL, Carrier, Exchange, Symmetry
from quirkpy.explore.model.assembly import firmest
from quirkpy.explore.model.graph import Node, Outcome, node_of
from quirkpy.explore.reduce.conclusions import Form, Place, Rules, loose_among, place_of
from quirkpy.explore.run.records import Record
from quirkpy.explore.run.runner import UNMET
from quirkpy.explore.scope.choices import Carried, Choice, Link, Reduction
from quirkpy.explore.scope.safety import APART, ENTERS
from quirkpy.explore.scope.scope import Scope
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError
from quirkpy.rest.reason import Reason, told


def select_reductions(value: Any) -> frozenset[Reduction]:
    """The reductions that a user asks for: all (True), none (False), or some by name."""
    every: tuple[Reduction, ...] = get_args(Reduction)
    if isinstance(value, bool):
        return frozenset(every if value else ())
    if (
        isinstance(value, str)
        or not isinstance(value, Iterable)
        or not set(value := tuple(value)) <= set(every)
    ):
        raise PartError(
            f"explore: reductions is {show(value)}, but must be True, False, or some of {every}."
        )
    return frozenset(value)


# --- what is carried ------------------------------------------------------------------------------
class Mover(NamedTuple):
    """A carrier between two places as a map of choices: of their open pairs, of the labels of their
    options, and of the names of parts."""

    carrier: Carrier
    at: tuple[int, ...]
    names: tuple[dict[str, str], ...]
    named: tuple[dict[str, str], ...]

    def __call__(self, form: Form) -> Form | None:
        """The image of a form; None if its potential has none."""
        potential = self.carrier.exchange.potentials.get(form[1])
        if potential is None:
            return None
        labels = list(form[0])
        for k, label in enumerate(form[0]):
            labels[self.at[k]] = self.names[k][label]
        return tuple(labels), potential

    def inverse(self, form: Form) -> Form:
        """The form whose image is this one."""
        labels = tuple(named[form[0][at]] for named, at in zip(self.named, self.at, strict=True))
        return labels, self.carrier.exchange.sources[form[1]]


class AnswerPlan(NamedTuple):
    """How the result for a form at a place is obtained: the form that is simulated; the mover from
    there to this form, if they differ; the pairs that were locked in addition: pair, turn and
    option; and the reductions that were used."""

    run: Form
    mover: Mover | None
    extra: tuple[Link, ...]
    by: tuple[Reduction, ...]


@dataclass(eq=False)
class Base:
    """The first node with a pose, and the potentials that it represents: the movers of the pose
    onto itself, a fingerprint, and the answer plans of its forms so far."""

    place: Place
    potentials: frozenset[str]
    own: tuple[Mover, ...]
    mark: Floats
    plans: dict[Form, AnswerPlan] = field(default_factory=dict)


class NodeBases(NamedTuple):
    """A node as a place; for every potential its base and the mover from there; and the energies of
    all potentials and, under None, of the forces that always act [J], where they depend on the pose
    alone."""

    place: Place
    bases: dict[str, tuple[Base, Mover | None]]
    energies: dict[str | None, float]


class Ticket(NamedTuple):
    """A choice at a node and the source of its result: either a run, by node and choice, with the
    function that maps its record (None: it is the record itself); or a record, if no run is
    needed."""

    at: Node
    asked: Choice
    node: Node
    choice: Choice
    carried: Carried | None = None
    carry: Callable[[Record], Record | None] | None = None
    record: Record | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The key of the run in the journal: node id and choice."""
        return self.node.id, self.choice.key

    @property
    def own_run(self) -> Ticket:
        """A ticket that is answered by its own run."""
        return Ticket(self.at, self.asked, self.at, self.asked)

    def answer(self, record: Record) -> Record | None:
        """The result for the choice from the record of the run; None if a name in the record has no
        image."""
        return record if self.carry is None else self.carry(record)


class Reductions:
    """Tickets for all choices at all nodes of an exploration, in any order of questions.

    nodes: those found so far, in order of discovery. everywhere: modules that differ only by cones
    share runs, and each run records all `images` of the cones; otherwise an exchange must map cones
    onto cones."""

    def __init__(
        self,
        study: Scope,
        which: frozenset[Reduction],
        nodes: Sequence[Node],
        everywhere: bool = True,
    ) -> None:
        self.study, self.which, self.nodes = study, which, nodes
        self.images = NONE
        self.bases: list[Base] = []
        self.seen: list[NodeBases] = []  # every node
        self.stored: dict[str, float] = {}
        if which:
            self.symmetry = Symmetry(study)
            self.names = Names(self.symmetry)
            self.rules = Rules.of(study, self.symmetry)
            self.cones = Cones(self.symmetry)
            if everywhere and self.cones.break_symmetry and which & {"symmetry", "cache"}:
                self.images = self.cones.images
            kinds = np.array(self.symmetry.kinds)
            self._alike = [kinds == kind for kind in np.unique(kinds)]

    def tickets(self, node: Node) -> list[Ticket]:
        """A ticket for each choice at a node, in order."""
        choices = self.study.choices(node)
        if not self.which:
            return [Ticket(node, choice, node, choice) for choice in choices]
        while len(self.seen) <= node.number:
            self._look_at(self.nodes[len(self.seen)])
        return [self._ticket(self.seen[node.number], choice) for choice in choices]

    # --- places -----------------------------------------------------------------------------------
    def _look_at(self, node: Node) -> None:
        """Find for every potential the first node whose pose is equivalent for the dynamics; it may
        be this node."""
        place, mark = place_of(self.study, node), self._fingerprint(node.state)
        found: dict[str, tuple[Base, Mover | None]] = {}
        for base, mover in self._carriers(place, mark) if "cache" in self.which else ():
            for potential, source in mover.carrier.exchange.sources.items():
                if source in base.potentials:
                    found.setdefault(potential, (base, mover))
            if len(found) == len(self.study.potentials):
                break
        left = frozenset(self.study.potentials) - found.keys()
        if left:
            own = tuple(self._movers(place, place)) if "symmetry" in self.which else ()
            self.bases.append(Base(place, left, own, mark))
            found |= dict.fromkeys(left, (self.bases[-1], None))
        self.seen.append(NodeBases(place, found, self.rules.energies(node.state)))

    def _carriers(self, place: Place, mark: Floats) -> Iterator[tuple[Base, Mover]]:
        """All carriers from known bases to a place, with their bases, in order."""
        near = 10.0 * EQUAL * len(place.node.state.bodies)
        for base in self.bases:
            if abs(mark - base.mark).max(initial=0.0) <= near:
                for mover in self._movers(base.place, place):
                    yield base, mover

    def _fingerprint(self, state: State) -> Floats:
        """Invariants of a pose under exchanges and rigid motions."""
        r = state.r if self.symmetry.group == "none" else state.r - state.r.mean(axis=0)
        return np.array([np.linalg.norm(r[mine], axis=1).sum() for mine in self._alike])

    def _movers(self, one: Place, two: Place) -> Iterator[Mover]:
        for carrier in self.symmetry.carriers(one.node.state, two.node.state):
            mover = self._mover(one, two, carrier)
            if mover is not None:
                yield mover

    def _mover(self, one: Place, two: Place, carrier: Carrier) -> Mover | None:
        """A carrier of poses as a map of choices; None if pairs in range or links do not agree."""
        if not self.images.cones and not self.cones.is_invariant(carrier.exchange):
            return None
        where = {pair: k for k, pair in enumerate(two.pairs)}
        at: list[int] = []
        names: list[dict[str, str]] = []
        for k, (pair, roll) in enumerate(one.pairs):
            to = where.get((self.symmetry.pair(carrier.exchange, pair), roll), -1)
            seen = {
                label: self.symmetry.label(carrier.exchange, pair, roll, label)
                for label in one.labels[k]
            }
            named = {label: other for label, other in seen.items() if other is not None}
            if to < 0 or one.near[k] != two.near[to] or set(named.values()) != set(two.labels[to]):
                return None
            at.append(to)
            names.append(named)
        back = tuple({other: label for label, other in named.items()} for named in names)
        whole = len(at) == len(two.pairs) and len(set(at)) == len(at)
        return Mover(carrier, tuple(at), tuple(names), back) if whole else None

    # --- tickets ----------------------------------------------------------------------------------
    def _ticket(self, seen: NodeBases, choice: Choice) -> Ticket:
        place, form = seen.place, (tuple(label for _, label in choice.joints), choice.potential)
        record = (
            self.rules.conclude(place, form, choice, seen.energies)
            if "rigid" in self.which and seen.energies
            else None
        )
        if record is not None:
            return Ticket(place.node, choice, place.node, choice, Carried(("rigid",)), None, record)
        base, mover = seen.bases[choice.potential]
        mine = form if mover is None else mover.inverse(form)
        plan = base.plans.get(mine)
        if plan is None:
            plan = base.plans[mine] = self._plan(base, mine)
        by: tuple[Reduction, ...] = plan.by if mover is None else ("cache", *plan.by)
        if not by:
            return Ticket(place.node, choice, place.node, choice)
        node, run = base.place.node, base.place.choice(self.study, plan.run)
        carry = partial(self._carry, plan, mover, node, place.node, choice)
        return Ticket(place.node, choice, node, run, Carried(by, node.key, run), carry)

    def _carry(
        self, plan: AnswerPlan, mover: Mover | None, base: Node, here: Node, choice: Choice,
        record: Record,
    ) -> Record | None:  # fmt: skip
        """The record of a run at a base mapped to a choice at another node; None if it does not
        apply there."""
        exchanges = [on.carrier.exchange for on in (plan.mover, mover) if on is not None]
        asked = () if record.way is None else record.way.entering(self.cones.map_images(*exchanges))
        there = self._at_base(record.for_cones(asked), plan)
        if there is not None and mover is not None:
            there = self._carry_record(there, mover)
            there = None if there is None else self._charge_switching(there, base, here)
        renames = any(exchange.renames for exchange in exchanges)
        return self._name_piece(there, choice) if there is not None and renames else there

    def _plan(self, base: Base, form: Form) -> AnswerPlan:
        """The normal form of a choice at its base."""
        closed, extra = (
            self.rules.close_form(base.place, form) if "clusters" in self.which else (form, ())
        )
        run, back = closed, None
        for there in base.own:
            other = there(closed)
            if (
                other is not None
                and other[1] in base.potentials
                and self._rank(base, other) < self._rank(base, run)
            ):
                here = next((mover for mover in base.own if mover(other) == closed), None)
                run, back = (run, back) if here is None else (other, here)
        by: tuple[Reduction, ...] = () if back is None else ("symmetry",)
        return AnswerPlan(run, back, extra, (*by, "clusters") if extra else by)

    def _rank(self, base: Base, form: Form) -> tuple[int, ...]:
        """The position of a form in the canonical order."""
        labels = (
            known.index(label) for known, label in zip(base.place.labels, form[0], strict=True)
        )
        return list(self.study.potentials).index(form[1]), *labels

    # --- records ----------------------------------------------------------------------------------
    def _at_base(self, record: Record, plan: AnswerPlan) -> Record | None:
        """The result of a run for another choice at the same node."""
        there = record if plan.mover is None else self._carry_record(record, plan.mover)
        return self._strip_locks(there, plan.extra) if plan.extra and there is not None else there

    def _carry_record(self, record: Record, mover: Mover) -> Record | None:
        """The image of a record; None if a reason names a part without an image."""
        exchange = mover.carrier.exchange
        why = [self.names.translate(exchange, o.reason) for o in record.outcomes]
        rests = [
            None if node is None else self.names.translate(exchange, told(node["reason"]))
            for node in record.reached
        ]
        known = [rest is not None for rest in rests] == [
            node is not None for node in record.reached
        ]
        if None in why or not known:
            return None
        told_of = zip(record.outcomes, why, strict=True)
        outcomes = tuple(
            self._carry_outcome(exchange, o, reason) for o, reason in told_of if reason is not None
        )
        reached = map(partial(self._carry_node, mover), record.reached, rests)
        return Record(outcomes, tuple(reached))

    def _carry_outcome(self, exchange: Exchange, o: Outcome, reason: Reason) -> Outcome:
        """The image of an outcome, with its parts, contacts and leavings."""
        bodies, pairs = self.study.system.bodies, self.names.of("pairs", exchange)
        named = [self.names.part(exchange, part) for part in o.parts]
        parts = tuple(named if o.reason == ENTERS else in_order(o.parts, named, bodies))
        met = sorted(
            ((t, pairs[pair]) for t, pair in o.contacts),
            key=lambda at: (at[0], self.study.numbers[at[1]]),
        )
        leavings = []
        for at in o.leavings:
            others = [self.names.part(exchange, body) for body in at.bodies]
            leavings.append(at._replace(bodies=tuple(in_order(at.bodies, others, bodies))))
        return o._replace(
            reason=reason, parts=parts, contacts=tuple(met), evaluations=0, leavings=tuple(leavings)
        )

    def _carry_node(
        self, mover: Mover, node: dict[str, Any] | None, reason: Reason | None
    ) -> dict[str, Any] | None:
        """The image of the record of a node: pose, links and potential; None if it has none."""
        if node is None:
            return None
        carrier = mover.carrier
        r, q = carrier.pose(np.array(node["r"], dtype=float), np.array(node["q"], dtype=float))
        links = [self._link(mover, Link(*link)) for link in node["links"]]
        there = node | {
            "r": r.tolist(), "q": q.tolist(), "links": [list(link) for link in links],
            "reason": reason, "potential": carrier.exchange.potentials[node["potential"]],
        }  # fmt: skip
        if "turns" not in node:
            return there
        old, new = (node_of(one, 0, self.study.system.bodies).state for one in (node, there))
        return there | {"turns": self.study.turns.carried(old, new)}

    def _name_piece(self, record: Record, choice: Choice) -> Record:
        """A record that names the loose piece which a run of this choice itself would name, where
        several pieces are equally small."""
        study = self.study
        joined = [study.numbers[name] for name, label in choice.joints
                  if study.option(study.pairs[study.numbers[name]], label).joins]  # fmt: skip

        def outcome(o: Outcome) -> Outcome:
            # What parts on its way names all that part so far at once
            if o.reason != APART or o.t != 0.0:
                return o
            return o._replace(
                parts=loose_among(
                    study, [*joined, *(study.numbers[name] for _, name in o.contacts)]
                )
            )

        return record._replace(outcomes=tuple(map(outcome, record.outcomes)))

    def _link(self, mover: Mover, link: Link) -> Link:
        exchange = mover.carrier.exchange
        label = self.symmetry.label(exchange, link.pair, link.roll, link.option)
        assert label is not None
        return Link(self.symmetry.pair(exchange, link.pair), link.roll, label)

    def _strip_locks(self, record: Record, extra: tuple[Link, ...]) -> Record:
        """A record without the locks within rigid clusters that the choice did not ask for: pairs
        that it leaves free lock only with the first contact."""
        free = [x for x in extra if not self.study.option(self.study.pairs[x.pair], x.option).joins]
        outcomes, reached = [], []
        for o, node in zip(record.outcomes, record.reached, strict=True):
            met = (
                [(o.contacts[0][0], self.study.pairs[x.pair].name) for x in free]
                if o.contacts
                else []
            )
            every = sorted([*o.contacts, *met], key=lambda at: (at[0], self.study.numbers[at[1]]))
            outcomes.append(o._replace(contacts=tuple(every), evaluations=0))
            reached.append(
                None
                if node is None
                else node | {"links": self._without(node["links"], extra, bool(met))}
            )
        return Record(tuple(outcomes), tuple(reached))

    def _without(self, links: list[Any], extra: tuple[Link, ...], met: bool) -> list[list[Any]]:
        asked = {link.pair: link for link in extra}
        out = []
        for link in (Link(*link) for link in links):
            now: Link | None = asked.get(link.pair, link)
            if (
                now is not None
                and not self.study.option(self.study.pairs[now.pair], now.option).joins
            ):
                now = firmest(self.study, now.pair, now.roll) if met else None
            out += [] if now is None else [list(now)]
        return out

    def _charge_switching(self, record: Record, base: Node, here: Node) -> Record:
        """A record with the energies of switching [J] from another node, whose joints and potential
        are released."""
        other = self._stored_energy(base) - self._stored_energy(here)
        outcomes = (
            o
            if o.kind == "failed" or o.reason == UNMET
            else o._replace(switching=o.switching + other)
            for o in record.outcomes
        )
        return record._replace(outcomes=tuple(outcomes))

    def _stored_energy(self, node: Node) -> float:
        """The potential energy of joints and potential at a node [J]."""
        if node.id not in self.stored:
            seen = self.seen[node.number]
            self.stored[node.id] = self.rules.stored_energy(node, seen.energies)
        return self.stored[node.id]
