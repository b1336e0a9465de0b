"""Plans, flight tables, shapes, choices, studies and runs as tables: for a terminal, and for a
notebook."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from quirkpy.explore.answers.plan import FlightTable, Plan
from quirkpy.explore.model.costs import supply_for
from quirkpy.explore.model.graph import Edge, Node, Outcome
from quirkpy.explore.scope.scope import Scope
from quirkpy.mechanics.system import System
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.body import Body
from quirkpy.parts.checks import how_many

#: Largest number of events of a run, and of lines for each kind of assumptions of a study, that are
#: listed.
MOST_EVENTS, MOST_ASSUMED = 100, 100
#: Energies below this [J/kg], and sums below this share of their terms, are rounding.
NO_JOULES, NO_SUM = 1e-24, 1e-14
#: The columns of a plan: the energy supplied is the sum of the three that follow it.
STEPS = (
    "step", "time [s]", "energy [J]", "switching", "driving", "holding", "dissipated", "selection",
)  # fmt: skip
#: The columns of a list of outcomes.
OUTCOMES = (
    "leads to", "time [s]", "waits [s]", "energy [J]", "dissipated [J]", "peak [m/s]",
    "clearance [m]", "reason",
)  # fmt: skip


class Listing(NamedTuple):
    """A title, the heads of columns and rows of cells; without heads, lines beneath the title."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def text(self) -> str:
        """The title, and aligned columns beneath: numbers to the right, words to the left."""
        if not self.rows:
            return self.title
        rows = [self.head, *self.rows] if self.head else list(self.rows)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        right = [all(map(is_number, column)) for column in zip(*self.rows, strict=True)]
        lines = (
            "  ".join(
                cell.rjust(width) if to_right else cell.ljust(width)
                for cell, width, to_right in zip(row, widths, right, strict=True)
            )
            for row in rows
        )
        return "\n".join([self.title, *(f"  {line}".rstrip() for line in lines)])

    def html(self) -> str:
        """Title and columns as a table of HTML."""
        head = f"<thead>{_row('th', self.head)}</thead>" if self.head else ""
        body = "".join(_row("td", row) for row in self.rows)
        table = f"<table>{head}<tbody>{body}</tbody></table>" if body else ""
        return f"<div><div>{html.escape(self.title)}</div>{table}</div>"


def _row(kind: str, cells: Sequence[str]) -> str:
    """A row of a table of HTML."""
    side = ["right" if is_number(cell) else "left" for cell in cells]
    return "".join([
        "<tr>",
        *(
            f'<{kind} style="text-align:{at}">{html.escape(cell)}</{kind}>'
            for cell, at in zip(cells, side, strict=True)
        ),
        "</tr>",
    ])  # fmt: skip


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, or a dash in the place of one."""
    try:
        return cell == "-" or bool(float(cell) or True)
    except ValueError:
        return False


def figure(value: float | None) -> str:
    """A number in a cell; a dash where it is not known."""
    return "-" if value is None else f"{value:.5g}"


def joules(system: System, *energies: float) -> str:
    """The sum of some energies in words [J]; what is but rounding is told as none."""
    mass = math.fsum(part.mass or 0.0 for part in system.parts if isinstance(part, Body))
    nothing = max(NO_JOULES * mass, NO_SUM * math.fsum(map(abs, energies)))
    total = math.fsum(energies)
    return f"{total if abs(total) > nothing else 0.0:.6g} J"


# --- answers of a graph ---------------------------------------------------------------------------
def of_plan(plan: Plan) -> Listing:
    """The steps of a plan: what each takes, and the selection to be made."""
    ends = itertools.pairwise(plan.nodes)
    rows = [
        (f"{one} -> {two}", figure(time), *map(figure, spent.figures), str(edge.selection))
        for (one, two), time, spent, edge in zip(
            ends, plan.times, plan.spent, plan.edges, strict=True
        )
    ]
    if len(rows) > 1:
        rows.append(("in all", figure(plan.time), *map(figure, plan.spending.figures), ""))
    return Listing(plan.headline, STEPS, rows)


def of_flight_table(table: FlightTable) -> Listing:
    """For each node the selection to be made next, and the node to which it leads."""
    rows = [
        (node, target, choice.potential, choice.held or "nothing held")
        for node, choice, target in table.rows
    ]
    return Listing(repr(table), ("at", "leads to", "potential", "joints"), rows)


def of_node(node: Node) -> Listing:
    """What is known of a shape."""
    held = () if node.study is None else node.joints
    facts = [
        ("verdict", f"{node.verdict}: {node.reason}"),
        ("energy", f"{node.energy:.6g} J under {node.potential or 'what acts at the start'}"),
        ("held", ", ".join(f"{pair} {option}" for pair, option in held) or "nothing"),
        ("slowest", ", ".join(f"{x:.5g}" for x in node.frequencies[:3]) + " rad/s"),
        ("id", node.id),
    ]
    return Listing(repr(node), (), [fact for fact in facts if fact[1] != " rad/s"])


def of_edge(edge: Edge) -> Listing:
    """What comes of a choice: a row for each outcome."""
    title = f"{edge.source} -> {edge.target or edge.kind}: {edge.selection}"
    return Listing(title, OUTCOMES, [_outcome(outcome) for outcome in edge.outcomes])


def _outcome(outcome: Outcome) -> tuple[str, ...]:
    parts = f" ({', '.join(outcome.parts)})" if outcome.parts else ""
    figures = (
        outcome.moving, outcome.waiting, supply_for(outcome), outcome.dissipated,
        outcome.peak_speed, outcome.clearance,
    )  # fmt: skip
    return (outcome.target or outcome.kind, *map(figure, figures), f"{outcome.reason}{parts}")


# --- what is asked, and what moved ----------------------------------------------------------------
def of_study(study: Scope) -> Listing:
    """What a study is made of, and all that it assumes."""
    rows = [
        (name if k == 0 else "", line)
        for name, lines in assumptions_of(study)
        for k, line in enumerate(lines)
    ]
    return Listing(repr(study), (), rows)


def assumptions_of(study: Scope) -> list[tuple[str, list[str]]]:
    """The assumptions of a study, each kind with its parts in their printed form."""
    parts = study.system.parts
    bodies = [repr(part) for part in parts if isinstance(part, Body)]
    others = [repr(part) for part in parts if not isinstance(part, Body)]
    options = [f"{' | '.join(k)}: {', '.join(map(repr, o))}" for k, o in study.options.items()]
    potentials = [
        f"{name}: {', '.join(map(repr, forces)) or 'no force'}"
        for name, forces in study.potentials.items()
    ]
    words = ("settle", "same", "on_contact", "nudge", "seed", "disturbance")
    found = [
        ("Bodies", bodies), ("What acts all the time", [*others, *map(repr, study.always)]),
        ("Options of pairs", [*options, *map(repr, study.choosing)]), ("Potentials", potentials),
        ("Safety", list(map(repr, study.safety))),
        ("How it is explored", [f"{word}: {getattr(study, word)!r}" for word in words]),
    ]  # fmt: skip
    return [
        (name, lines[:MOST_ASSUMED] + ["..."] * (len(lines) > MOST_ASSUMED))
        for name, lines in found
    ]


def of_run(run: Trajectory) -> Listing:
    """How a run ended, what it took, its ledger of energy, and its events."""
    counts = ", ".join(
        how_many(n, name[:-1], name) for name, n in run.counts._asdict().items() if n
    )
    ledger = ", ".join(
        f"{name} {joules(run.system, float(getattr(run, name)[-1]))}"
        for name in ("kinetic", "potential", "work", "dissipated")
    )
    facts = [
        ("from", f"{run.t[0]:.6g} s to {run.t[-1]:.6g} s in {len(run.t)} states"),
        ("ended", str(run.stop)), ("took", counts), ("energy", f"{ledger} at the end"),
        *((f"{event.t:.6g} s", event.name) for event in run.events[:MOST_EVENTS]),
    ]  # fmt: skip
    more = len(run.events) - MOST_EVENTS
    return Listing(repr(run), (), facts + [("", f"and {more} more events")] * (more > 0))
