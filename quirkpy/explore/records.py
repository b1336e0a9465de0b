"""`Record`: what a run left, which journals keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from quirkpy.explore.cones import Images
from quirkpy.explore.graph import Outcome
from quirkpy.explore.safety import Violation
from quirkpy.explore.ways import Way

#: An outcome, and the record of the node that it reached, or None.
Told: TypeAlias = "tuple[Outcome, dict[str, Any] | None]"


class Record(NamedTuple):
    """What a run left: outcomes, and for each the record of the node that it reached, or None; and all that may become
    of it, where others ask to whom cones stand elsewhere."""

    outcomes: tuple[Outcome, ...]
    reached: tuple[dict[str, Any] | None, ...]
    way: Way[Told] | None = None

    def asked(self, cones: Sequence[int]) -> Record:
        """What it is to those to whom these images are the cones that must stay clear."""
        return self if self.way is None else seen(self.way.ends(cones))


def seen(ends: Sequence[Told]) -> Record:
    """The record of all that a run has come to; if one of its motions has failed, of that alone."""
    wrong = next((end for end in ends if end[0].kind == "failed"), None)
    outcomes, reached = zip(*(ends if wrong is None else [wrong]), strict=True)
    return Record(outcomes, reached)


def recorded(way: Way[Told], images: Images) -> Record:
    """The record of all that may become of a run."""
    return seen(way.ends(images.own))._replace(way=way if images.cones else None)


def failed(error: Exception) -> Outcome:
    """The outcome of a run that raises, with its message."""
    return Outcome("failed", None, f"{type(error).__name__}: {error}")


def rejected(violation: Violation, switching: float) -> Outcome:
    """The outcome of a choice that is rejected as it stands."""
    kind, reason, t, parts = violation.kind, violation.reason, violation.t, violation.parts
    return Outcome(kind, None, reason, switching=switching, t=t, parts=parts)
