"""`Part`: a frozen description that is checked when it is constructed.

A subclass only annotates its fields and says how each is checked; construction, comparison by
value, hashing, pickling, readable printing and the JSON round trip follow.

    class Magnet(Part):
        name: str = checked(text)
        moment: float = checked(positive)      # [A m2]
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal, TypeAlias, dataclass_transform

import numpy as np

from quirkpy.parts.checks import steady

#: Largest number of characters of a tuple in the printed form of a part.
LONGEST = 100


#: Kinds of refusals: what every `PartError` tells programs.
Code: TypeAlias = Literal[
    "value", "name", "together", "pose", "yours", "answer", "file", "content", "install",
    "machine", "rounding",
]  # fmt: skip


class PartError(ValueError):
    """A refusal: one sentence that names the part, the value and a remedy.

    code: its kind, a word that never changes: "value", a wrong value; "name", a name that is
    unknown or given twice; "together", things that do not go together; "pose", one in which this
    cannot begin; "yours", an error in a user's function or class; "answer", a question that has
    none; "file", a path that cannot be read or written; "content", what a file holds; "install", a
    missing package; "machine", workers, windows or memory; "rounding", numbers too far apart."""

    def __init__(self, sentence: str, code: Code = "value") -> None:
        super().__init__(sentence)
        self.code: Code = code


class UnknownName(PartError, KeyError):
    """A refusal of a name that nothing bears, for what is read by square brackets: Python expects a
    `KeyError` there, users a sentence with a code."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, code="name")

    __str__ = ValueError.__str__  # a KeyError would quote it


def check_argument(who: str, name: str, value: Any, check: Callable[[Any], Any]) -> Any:
    """An argument of a function, converted by its check; an error names both."""
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        raise PartError(f"{who}: {name} {error}.") from None


def sentence_of(error: BaseException) -> str:
    """The message of an error, on one line that can be part of a sentence."""
    line = " ".join(str(error).split()).rstrip(".")
    return (line if len(line) <= 200 else line[:197] + "...").rstrip(".") or type(error).__name__


def is_want_of_memory(error: BaseException | None) -> bool:
    """Whether memory, or room for another thread, ran out, according to an error or its causes."""
    while error is not None:
        if isinstance(error, MemoryError) or "can't start new thread" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def checked(
    check: Callable[[Any], Any],
    *,
    default: Any = dataclasses.MISSING,
    init: bool = True,
    kw_only: bool = False,
) -> Any:
    """A field whose value is converted by `check` (see checks.py) when the part is constructed."""
    return dataclasses.field(default=default, init=init, kw_only=kw_only, metadata={"check": check})


@dataclass_transform(frozen_default=True, field_specifiers=(checked,))
class Part:
    """Base of all parts written by users. Frozen, compared by value, without state and without
    indices.

    A subclass automatically becomes a frozen dataclass. It may override `validate` for rules that
    concern several fields, and raises `self.refuse("sentence")` there. A field without a check may
    hold any immutable value; lists and arrays are stored as tuples."""

    #: Name and check of each field, stored with the class: querying `dataclasses` takes longer than
    #: the checks.
    _checks: ClassVar[tuple[tuple[str, Callable[[Any], Any]], ...]]
    #: The traits of a class that declares none; None: its family has no traits. A subclass does not
    #: inherit the traits of its base, since its behaviour may differ.
    unknown_traits: ClassVar[Any] = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        dataclasses.dataclass(frozen=True, repr=False)(cls)
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        cls._checks = tuple((field.name, field.metadata.get("check", steady)) for field in fields)
        if cls.unknown_traits is not None and "traits" not in vars(cls):
            cls.traits = cls.unknown_traits  # type: ignore[attr-defined]

    def __post_init__(self) -> None:
        """Replace each field by its checked value; errors begin with the part's and the field's
        name."""
        stored = vars(self)
        name = ""
        try:
            for name, check in self._checks:
                stored[name] = check(getattr(self, name))
        except (TypeError, ValueError) as error:
            raise self.refuse(f"{name} {error}.") from None
        self.validate()

    def validate(self) -> None:
        """Rules that concern several fields; raises `self.refuse(...)`."""

    def refuse(self, sentence: str, code: Code = "value") -> PartError:
        """The error that names this part: ``raise self.refuse("mass is ...")``."""
        return PartError(f"{self._title()}: {sentence}", code)

    def _title(self) -> str:
        """Class and name, as they begin a message."""
        name = getattr(self, "name", None)
        return type(self).__name__ + (f" {name!r}" if isinstance(name, str) else "")

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without derived data."""
        return fields_of(self)

    def __repr__(self) -> str:
        shown: list[str] = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.init and not is_default(field, value):
                prefix = f"{field.name}=" if field.kw_only or shown else ""
                shown.append(prefix + _brief(value))
        return f"{type(self).__name__}({', '.join(shown)})"


def fields_of(part: Part) -> dict[str, Any]:
    """The fields of a part by name, in order."""
    return {name: getattr(part, name) for name, _ in part._checks}


def field_values(part: Part) -> list[Any]:
    """The values of the fields of a part, in order."""
    return [getattr(part, name) for name, _ in part._checks]


def parts_within(value: Any) -> Iterator[Part]:
    """A part and all parts in its fields, or those in a list or in the values of a dictionary."""
    if isinstance(value, Part):
        yield value
        value = field_values(value)
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return
    for item in value:
        yield from parts_within(item)


def is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    """Whether a field has its default value, the sign of zero included."""
    same = type(field.default) is type(value) and field.default == value
    return bool(same) and repr(field.default) == repr(value)


def _brief(value: Any) -> str:
    """A part inside another part is represented by its name."""
    name = getattr(value, "name", None)
    if isinstance(value, Part) and isinstance(name, str):
        owner = getattr(getattr(value, "body", None), "name", None)
        return f"<{owner} {name}>" if owner else f"<{name}>"
    if isinstance(value, tuple) and value and all(isinstance(v, float) for v in value):
        return "(" + ", ".join(f"{v:.12g}" for v in value) + ")"
    if isinstance(value, tuple):
        words = "(" + ", ".join(map(_brief, value)) + ")"
        return words if len(words) <= LONGEST else words[: LONGEST - 4] + "...)"
    return f"{value:.12g}" if isinstance(value, (float, np.floating)) else repr(value)
