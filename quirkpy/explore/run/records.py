"""`Record`: the result of a run, for journals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np

from quirkpy.explore.alike.cones import Images
from quirkpy.explore.model.graph import Kind, Outcome
from quirkpy.explore.model.ways import Way
from quirkpy.explore.scope.safety import Violation
from quirkpy.maths import quat
from quirkpy.parts.part import PartError
from quirkpy.rest.reason import Reason, told

#: Largest deviation of the length of the quaternion of a recorded pose from one [1].
LENGTH_TOLERANCE = 1e-6
#: An outcome, and the record of the node that it reached, or None.
Told: TypeAlias = "tuple[Outcome, dict[str, Any] | None]"
#: Differences below this [m], or below this share of the larger value, do not distinguish two ends
#: of motions.
SAME_FIGURE = 1e-6
#: Figures by which motions with equal ends are ordered.
FIGURES = ("t", "moving", "waiting", "peak_speed", "dissipated", "put_in", "lost")


class Record(NamedTuple):
    """The result of a run: outcomes, and for each the record of the node that it reached, or None;
    and the complete tree, for edges with other positions of cones."""

    outcomes: tuple[Outcome, ...]
    reached: tuple[dict[str, Any] | None, ...]
    way: Way[Told] | None = None

    def for_cones(self, cones: Sequence[int]) -> Record:
        """The record for edges in which these images are the cones that must stay clear."""
        return self if self.way is None else record_of_ends(self.way.ends(cones))


def record_of_ends(ends: Sequence[Told]) -> Record:
    """The record of all outcomes of a run; if one of its motions has failed, of that alone."""
    wrong = next((end for end in ends if end[0].kind == "failed"), None)
    outcomes, reached = zip(*(ends if wrong is None else [wrong]), strict=True)
    return Record(outcomes, reached)


def canonical(ends: Sequence[Told]) -> list[int]:
    """The canonical order of the outcomes of an edge, by number. It does not depend on the order in
    which unstable equilibria were left, as eigenvectors have no sign of their own. Exact values
    count first, then poses, then figures."""
    if len(ends) == 1:
        return [0]
    exact, numbers = [_exact_part(*end) for end in ends], [_numbers(*end) for end in ends]
    ranks: list[tuple[int, ...]] = [()] * len(ends)
    for k in range(len(ends)):
        alike = [j for j in range(len(ends)) if exact[j] == exact[k]]
        if alike[0] == k:
            columns = [_rank([numbers[j][i] for j in alike]) for i in range(len(numbers[k]))]
            for j, row in zip(alike, zip(*columns, strict=True), strict=True):
                ranks[j] = row
    return sorted(range(len(ends)), key=lambda k: (exact[k], ranks[k]))


def _rank(values: Sequence[float]) -> list[int]:
    """The rank of each of some numbers; numbers share a rank if no gap between them is wider than
    `ALIKE`."""
    order, out, place = sorted(range(len(values)), key=values.__getitem__), [0] * len(values), 0
    for before, k in itertools.pairwise(order):
        one, two = values[before], values[k]
        place += two - one > SAME_FIGURE * max(1.0, abs(one), abs(two))
        out[k] = place
    return out


def _exact_part(o: Outcome, reached: dict[str, Any] | None) -> tuple[Any, ...]:
    """The values without rounding; kinds in their listed order. The reason of a motion that never
    settles contains numbers, and is left out."""
    reason = "" if o.kind == "never settles" else o.reason
    links = [] if reached is None else sorted(tuple(link) for link in reached["links"])
    met = sorted(name for _, name in o.contacts)
    return (
        get_args(Kind).index(o.kind),
        reached is None,
        links,
        met,
        sorted(o.parts),
        reason,
        o.t is None,
    )


def _numbers(o: Outcome, reached: dict[str, Any] | None) -> list[float]:
    """Positions and orientations of the bodies at the end of a motion, and its figures."""
    figures = [float(getattr(o, name) or 0.0) for name in FIGURES]
    if reached is None:
        return figures
    turns = (x for q in reached["q"] for x in quat.rotation_matrix(*q))
    return [*np.ravel(reached["r"]).tolist(), *turns, *figures]


def record_of_way(way: Way[Told], images: Images) -> Record:
    """The record of all possible outcomes of a run."""
    return record_of_ends(way.ends(images.own))._replace(way=way if images.cones else None)


class Unfinished(PartError):
    """A run that failed for lack of resources: it says nothing about the choice, and is not
    recorded in journals."""


def failure(error: Exception) -> Outcome:
    """The outcome of a run that raises, with its message; raises `Unfinished` where resources were
    lacking."""
    stop_short(error)
    return Outcome("failed", None, told(f"{type(error).__name__}: {error}"))


def stop_short(error: BaseException) -> None:
    """Raise `Unfinished` if memory, files or other resources were exhausted, also if the error was
    wrapped since."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, Unfinished):
            raise cause
        if isinstance(cause, OSError | MemoryError):
            said = " ".join(f"{type(cause).__name__}: {cause}".split()).rstrip(": .")
            raise Unfinished(
                f"a run could not be finished ({said}), which says nothing about its choice; what "
                "is finished is kept, and the same call goes on from there.",
                code="machine",
            ) from error
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def rejection(violation: Violation, switching: float) -> Outcome:
    """The outcome of a choice that is rejected before any motion."""
    kind, reason, t, parts = (
        violation.kind,
        told(violation.reason),
        violation.t,
        violation.parts,
    )
    return Outcome(kind, None, reason, switching=switching, t=t, parts=parts)


# --- what a record must be ------------------------------------------------------------------------
#: The plain values of a node in journals.
NODE: dict[str, Any] = {
    "r": list[tuple[float, float, float]], "q": list[tuple[float, float, float, float]],
    "links": list[tuple[int, int, str]], "verdict": str, "reason": str, "energy": float,
    "frequencies": list[float], "potential": str | None,
}  # fmt: skip


def fits(hint: Any) -> Callable[[Any], bool]:
    """A check whether a value has a type: strings, numbers, lists and tuples (which may be lists),
    and unions of them."""
    kind, inner = get_origin(hint), get_args(hint)
    if hint is float:
        return lambda value: type(value) in (float, int)
    if hint in (str, Reason):
        return lambda value: isinstance(value, hint)
    if hint in (int, bool, NoneType):
        return lambda value: type(value) is hint
    if kind is Literal:
        return lambda value: value.__hash__ is not None and value in inner
    if kind in (Union, UnionType):
        none, options = NoneType in inner, [fits(one) for one in inner if one is not NoneType]
        return lambda value: none if value is None else any(option(value) for option in options)
    if kind is list or (kind is tuple and inner[-1] is ...):
        each = fits(inner[0])
        return lambda value: isinstance(value, list | tuple) and all(map(each, value))
    if kind is tuple:
        checks = [fits(one) for one in inner]
        return lambda value: (
            isinstance(value, list | tuple)
            and len(value) == len(checks)
            and all(check(item) for check, item in zip(checks, value, strict=True))
        )
    return lambda _: True


def check_outcome(outcome: Outcome) -> None:
    """Refuse a value that is not a valid outcome."""
    for name, check, value in zip(Outcome._fields, outcome_checks(), outcome, strict=True):
        if not check(value):
            raise TypeError(f"its {name} is none")


@cache
def outcome_checks() -> tuple[Callable[[Any], bool], ...]:
    """A check of each field of an outcome."""
    hints = get_type_hints(Outcome)
    return tuple(fits(hints[name]) for name in Outcome._fields)


NODE_CHECKS = {name: fits(hint) for name, hint in NODE.items()}


def check_reached(node: Any) -> None:
    """Refuse a value that is not a valid record of a node."""
    if node.keys() - {"further", "turns"} != NODE_CHECKS.keys():
        raise TypeError("its fields are others")
    for name, check in NODE_CHECKS.items():
        if not check(node[name]):
            raise TypeError(f"its {name} is none")
    if not fits(list[float])(node.get("further", [])):
        raise TypeError("its tail is none")
    turns = node.get("turns", {})
    if not (isinstance(turns, dict) and all(type(turn) is int for turn in turns.values())):
        raise TypeError("its whole turns are none")
    if len(node["r"]) != len(node["q"]) or not all(
        map(math.isfinite, (x for row in node["r"] for x in row))
    ):
        raise ValueError("its places are none")
    if any(abs(math.hypot(*row) - 1.0) > LENGTH_TOLERANCE for row in node["q"]):
        raise ValueError("its turns are none")
