"""Several journals of one study as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from quirkpy.explore.explorer import start_in
from quirkpy.explore.journal import Journal
from quirkpy.explore.scope.scope import Scope
from quirkpy.maths.warnings import warn
from quirkpy.parts.checks import how_many
from quirkpy.parts.files import check_writable
from quirkpy.parts.part import PartError

#: Notes of a journal that hold for all of its runs.
RULES = ("start", "reductions", "cones")


def unite(paths: Sequence[Any], out: Any, modules: Iterable[str] = ()) -> None:
    """Write all runs of several journals of one study into a new one, as
    `ReconfigurationGraph.merge` says."""
    place = check_writable(out, "merge")
    if len(paths) < 2:
        raise PartError("merge: give two journals or more.")
    if place.exists():
        raise PartError(f"merge: {str(place)!r} is there already; give another name.", code="file")
    with ExitStack() as stack:
        journals = [stack.enter_context(open_journal(path)) for path in paths]
        document = journals[0].study()
        study = Scope.read(document, modules)
        for journal in journals:
            journal.claim(study.digest, document)
            start_in(journal, study)
        _check_rules(journals)
        target = stack.enter_context(Journal(place))
        target.open_for(study.digest, document)
        with target.transaction():
            for journal in journals:
                copy(journal, target)
        damaged = sum(len(journal.damaged) for journal in journals)
    if damaged:
        warn(
            f"merge: {how_many(damaged, 'damaged run')} left out; explore flies what is missing "
            f"into {str(place)!r}."
        )


def open_journal(path: Any) -> Journal:
    """A journal to read from."""
    if not Path(path).is_file():
        raise PartError(f"merge: there is no journal {str(path)!r}.", code="file")
    return Journal(path, read_only=True)


def _check_rules(journals: Sequence[Journal]) -> None:
    """Refuse journals whose runs stand for different edges."""
    for word in RULES[1:]:
        if len({journal.meta(word) for journal in journals} - {None}) > 1:
            raise PartError(
                f"merge: {', '.join(journal.shown for journal in journals)} were explored with "
                f"different {word}; explore all of them with the same.",
                code="content",
            )


def copy(journal: Journal, target: Journal) -> None:
    """Copy what a journal has and the other has not: notes, runs, and flights of more samples."""
    for word in RULES:
        value = journal.meta(word)
        if value is not None and target.meta(word) is None:
            target.note(word, value)
    there = set(target)
    for node, choice in journal:
        record = None if (node, choice) in there else journal.read_run(node, choice)
        if record is not None:
            target.add(node, choice, record)
    flown = target.robustness()
    for (node, choice), found in journal.robustness().items():
        known = flown.get((node, choice))
        if known is None or known.samples < found.samples:
            target.add_robustness(node, choice, found)
