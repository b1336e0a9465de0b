"""`PickedChoices`: a study flown choice by choice, in the order of whoever picks them."""

from __future__ import annotations

from collections.abc import Mapping

from quirkpy.explore.explorer import Walk
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.journal import Journal
from quirkpy.explore.model.graph import Node, node_record
from quirkpy.explore.reduce.reductions import Ticket
from quirkpy.explore.run.runner import start_record
from quirkpy.explore.run.workers import DESK, run_batch
from quirkpy.explore.scope.choices import Choice
from quirkpy.explore.scope.scope import Scope
from quirkpy.parts.part import PartError


class PickedChoices:
    """Choices of a study flown one by one, from its start or from a graph that is known already.

    No older noun would do: an exploration takes all choices in canonical order and keeps a journal,
    of which choices picked by hand have none."""

    def __init__(self, study: Scope, begun: ReconfigurationGraph | None = None) -> None:
        self.study = study
        known = [] if begun is None else list(begun.nodes.values())
        records = [node_record(node) for node in known] or [start_record(study)]
        self.names = {node.key: node.name for node in known if node.name}
        journal = Journal(None)
        journal.open_for(study.digest, study.document())
        self.walk = Walk(study, journal, records[0], frozenset(), False, None, None, lambda _: None)
        for record in records[1:]:
            self.walk.known.place(record)
        self.walk.edges += [] if begun is None else begun.edges

    @property
    def graph(self) -> ReconfigurationGraph:
        """All that is known now."""
        graph = ReconfigurationGraph.of(self.walk.graph())
        for key, name in self.names.items():
            graph.name(key, name)
        return graph

    def offers(self, node: Node) -> dict[str, list[str]]:
        """The options of each pair in range at a node, by name; the first are those held there."""
        held = {link.pair: link.option for link in node.links}
        return {
            self.study.pairs[pair].name: sorted(labels, key=lambda one: one != held.get(pair))
            for (pair, _), labels in zip(
                self.study.open_pairs(node), self.study.sets(node), strict=True
            )
        }

    def fly(self, key: str, options: Mapping[str, str], potential: str) -> int:
        """Fly a choice at a node; returns the number of its edge in `graph`, a known one if it was
        flown before."""
        node = self.walk.known.nodes[self.graph[key].number]
        chosen = Choice(
            tuple((pair, options.get(pair, "")) for pair in self.offers(node)), potential
        )
        if chosen not in self.study.choices(node):
            raise PartError(
                f"{chosen.key!r} is no choice at {node.key}; take an option for each pair in "
                "range, as far as the rules of the study allow it.",
                code="name",
            )
        if self._edge_of(node, chosen) is None:
            self._run(Ticket(node, chosen, node, chosen))
        found = self._edge_of(node, chosen)
        assert found is not None
        return found

    def _edge_of(self, node: Node, chosen: Choice) -> int | None:
        """The number of the edge of a choice, if it was flown."""
        for number, edge in enumerate(self.walk.edges):
            if edge.source == node.key and edge.selection == chosen:
                return number
        return None

    def _run(self, ticket: Ticket) -> None:
        DESK.studies[self.study.digest] = self.study
        batch = run_batch(self.study.digest, None, [(ticket.node, ticket.choice)])
        self.walk.take(ticket, batch.records[0])
