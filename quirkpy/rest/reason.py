"""`Reason`: why something rests, moves or is forbidden, as data with a text made from them.

A reason is a string, so that it can be printed, compared and sorted like any text, and it carries
the data from which the text was made. With other names for bodies or forces the text is made anew
from the data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any, Literal, NamedTuple, TypeAlias

from quirkpy.motion.course import Stop

#: What the parts of a reason are: names of bodies, of forces, or of stops with their sides; or
#: words that are never renamed.
Of: TypeAlias = Literal["bodies", "forces", "stops", "words"]
#: A function that replaces names by others; it gives None where these are not known.
Renaming: TypeAlias = Callable[[Of, tuple[str, ...]], "Sequence[str] | None"]
#: The kind of a reason of which only the text is known.
TOLD = "told"


class Wording(NamedTuple):
    """The wording of a kind of reason: {parts} is the list of its parts, or `none` if there are
    none; {words[0]} one of them; {0} ... its numbers; {why} the reasons within."""

    said: str
    of: Of = "bodies"
    none: str = "nothing"


MEET = "branches of motion meet here"
STIFFNESS = "(a stiffness of {0:.3g} 1/s2, known to {1:.2g})"
#: The wording of every kind of reason.
WORDINGS: dict[str, Wording] = {kind: Wording(said) for kind, said in {
    # certificates
    "neutral": "all that can move is neutral",
    "stands": "nothing in it can move",
    "minimum": "a minimum of energy, and every motion around it dies out",
    "undamped": "a minimum of energy; nothing damps the motion of {parts}",
    "hidden rate": "a minimum of energy; whether the motion of {parts} dies out cannot be told "
                   "(a rate of {0:.3g} 1/s, known to {1:.2g})",
    "dies out": "every motion around it dies out",
    "falls": "{parts} leaves it",
    "level": "to second order nothing holds {parts} " + STIFFNESS,
    "turns": "turning alone holds {parts} on a maximum of energy; any damping lets it go",
    "lasts": "the motion of {parts} neither grows nor dies out "
             "(a rate of {0:.3g} 1/s, known to {1:.2g})",
    # certificates where stiffness jumps, or stops are touched
    "no potential": "{why}, and its loads have no potential",
    "too many ways": "{why}, in more ways than are told apart",
    "minimum beside": "a minimum of energy along all allowed motions; {why}",
    "falls beside": "{parts} leaves it; {why}",
    "level beside": "{why}: to second order nothing holds {parts} " + STIFFNESS,
    "turns beside": "{why}: turning may hold {parts} " + STIFFNESS,
    # certificates where branches of motion meet
    "meet": MEET,
    "meet, falls": MEET + ", and {parts} leaves it along one of them",
    "meet, level": MEET + ", which second order does not judge",
    "meet, rises": MEET + ", and energy rises on all",
    # displacements of unstable equilibria
    "one way shut": "{why}, but a stop is in the way of the sense that was tried",
    "all ways shut": "{why}, and stops are in the way of all of it",
    "saddles": "{why}, as from {0:.0f} saddles on the way to it",
    # motions that never settle
    "lossless": "nothing takes its energy",
    "steady": "it keeps moving as it did, stretch after stretch",
    "fed": "it keeps moving: what is put in each cycle, dampers take out",
    "cut short": "{why} before it came to rest; its speeds were down to {0:.2g} of the fastest",
    # readings of sensors
    "met": "sensors met, which ends a motion",
    "no lock": "sensors meet, and none can lock",
    "rattle": "sensors meet again and again",
    # forbidden states
    "unmet": "the joints chosen cannot all be met at this pose",
    "apart": "comes apart",
    "enters": "enters a cone that must stay clear",
    "blocked": "is blocked",
    "jams": "jams",
    "near": "comes nearer than {0:g} m",
    "speed": "speed above {0:g}",
    "turning": "turning above {0:g}",
    "load": "load above {0:g}",
}.items()} | {
    "jumps": Wording("the stiffness of {parts} jumps here", "forces", "its forces"),
    "touches": Wording("it touches {parts}", "stops"),
    "event": Wording("an event ended the motion: {parts}", "words"),
    "stiff": Wording(
        "{why}; it is stiff: one motion dies out in {0:.2g} s, which bounds the steps of "
        "{words[0]!r}, another in {1:.2g} s; {words[1]}", "words",
    ),
    "stiff by springs": Wording(
        "{why}; it is stiff: one motion swings at {0:.2g} rad/s, which bounds the steps of "
        "{words[0]!r}, while another dies out in {1:.2g} s; {words[1]}", "words",
    ),
} | {f"run {stop.name}": Wording(str(stop)) for stop in Stop}  # fmt: skip


class Reason(str):
    """A text with its data: its kind, one of `WORDINGS`; the parts that it names; its numbers; and
    the reasons within it. A reason of kind `TOLD` has only the text."""

    __slots__ = ("kind", "numbers", "parts", "why")
    kind: str
    parts: tuple[str, ...]
    numbers: tuple[float, ...]
    why: tuple[Reason, ...]

    def __new__(
        cls,
        kind: str,
        parts: Sequence[str] = (),
        numbers: Sequence[float] = (),
        why: Sequence[Reason] = (),
    ) -> Reason:
        said, _, none = WORDINGS[kind]
        figures = tuple(float(x) + 0.0 for x in numbers)  # -0.0 becomes 0.0
        listed, within = ", ".join(parts) or none, " and ".join(why)
        text = said.format(*figures, parts=listed, words=tuple(parts), why=within)
        return cls._of(text, kind, tuple(parts), figures, tuple(why))

    @classmethod
    def _of(
        cls,
        text: str,
        kind: str,
        parts: tuple[str, ...] = (),
        numbers: tuple[float, ...] = (),
        why: tuple[Reason, ...] = (),
    ) -> Reason:
        made = str.__new__(cls, text)
        for name, value in (("kind", kind), ("parts", parts), ("numbers", numbers), ("why", why)):
            object.__setattr__(made, name, value)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a reason does not change; make another to say {name}={value!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        if self.kind == TOLD:
            return told, (str(self),)
        return shared, (self.kind, self.parts, self.numbers, self.why)

    def rename(self, other: Renaming) -> Reason | None:
        """The reason with other names; None where the new names are not known."""
        if self.kind == TOLD:
            return None
        within = [reason.rename(other) for reason in self.why]
        of, why = WORDINGS[self.kind].of, tuple(reason for reason in within if reason is not None)
        parts = self.parts if of == "words" or not self.parts else other(of, self.parts)
        if parts is None or None in within:
            return None
        return shared(self.kind, tuple(parts), self.numbers, why)

    def data(self) -> list[Any] | None:
        """The data of the reason as plain values; None where there is only the text."""
        if PLAIN.get(self) is not None or self.kind == TOLD:
            return None
        within = [why.data() or str(why) for why in self.why]
        return [self.kind, list(self.parts), list(self.numbers), within]


@lru_cache(maxsize=4096)
def _intern(kind: str, parts: tuple[str, ...], numbers: tuple[float, ...]) -> Reason:
    """One object for all equal reasons: many outcomes share a few."""
    return Reason(kind, parts, numbers)


def shared(
    kind: str,
    parts: tuple[str, ...] = (),
    numbers: tuple[float, ...] = (),
    why: tuple[Reason, ...] = (),
) -> Reason:
    """A reason; reasons that contain others are not shared, even if their texts are equal."""
    return Reason(kind, parts, numbers, why) if why else _intern(kind, parts, numbers)


#: The reasons that name nothing, by their texts.
PLAIN = {
    wording.said: Reason(kind) for kind, wording in WORDINGS.items() if "{" not in wording.said
}


@lru_cache(maxsize=4096)
def _reason_of_text(text: str) -> Reason:
    return PLAIN.get(text) or Reason._of(str(text), TOLD)


def told(text: str) -> Reason:
    """A text as a reason: itself, if it is one; the reason without names that has this text;
    otherwise one of kind `TOLD`."""
    if not isinstance(text, str):
        raise TypeError(f"a reason is a text, not {text!r}")
    return text if isinstance(text, Reason) else _reason_of_text(text)


def reason_of(text: str, data: Any) -> Reason:
    """The reason that a text and `Reason.data` describe; raises ValueError, TypeError or
    LookupError where they contradict each other."""
    found = told(text) if data is None else _decode(data)
    if found != text or json.dumps(found.data()) != json.dumps(data):
        raise ValueError("its reason is worded otherwise")
    return found


def _decode(data: Any) -> Reason:
    """A reason made of plain values."""
    kind, parts, numbers, why = data
    if not all(type(part) is str for part in parts) or not all(type(x) is float for x in numbers):
        raise TypeError("what its reason names is none")
    within = tuple(told(one) if isinstance(one, str) else _decode(one) for one in why)
    return shared(kind, tuple(parts), tuple(numbers), within)


# --- texts of earlier versions --------------------------------------------------------------------
#: A number as wordings write it.
NUMBER = r"-?\d[\d.]*(?:e[-+]\d+)?|nan|-?inf"


def parse_reason(text: str, known: Callable[[Of], Collection[str]]) -> Reason | None:
    """The unique reason with a given text, of which no data are known, among known names; None
    where there is none or more than one."""
    found = [_parse_as(kind, text, known) for kind in WORDINGS]
    made = [reason for reason in found if reason is not None]
    return made[0] if len(made) == 1 else None


def _parse_as(kind: str, text: str, known: Callable[[Of], Collection[str]]) -> Reason | None:
    """The unique reason of a kind with a given text, among known names; None where there is none or
    more than one."""
    said, of, none = WORDINGS[kind]
    match = None if of == "words" else _pattern(said).fullmatch(text)
    if match is None:
        return None
    found = match.groupdict()
    listed, within = found.pop("parts", none), found.pop("why", None)
    parts = () if listed == none else tuple(listed.split(", "))
    names = known(of) if "{parts}" in said else ()
    if not set(parts) <= set(names) or any(", " in name or name == none for name in names):
        return None
    why = [] if within is None else _parse_within(within, known)
    made = None if None in why else Reason(
        kind, parts, [float(x) for x in found.values()], [one for one in why if one is not None]
    )  # fmt: skip
    return made if made == text else None


def _parse_within(text: str, known: Callable[[Of], Collection[str]]) -> list[Reason | None]:
    """The reasons, one or several, that a text nested in another expresses."""
    whole = parse_reason(text, known)
    return [whole] if whole is not None else [
        parse_reason(one, known) if one != text else None for one in text.split(" and ")
    ]  # fmt: skip


@lru_cache
def _pattern(said: str) -> re.Pattern[str]:
    """The regular expression of all texts that a wording can produce."""
    out = ""
    for literal, name, *_ in Formatter().parse(said):
        out += re.escape(literal)
        if name is not None:
            group = f"x{name}" if name.isdigit() else name
            out += f"(?P<{group}>{NUMBER if name.isdigit() else '.+'})"
    return re.compile(out)
