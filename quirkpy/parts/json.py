"""Parts as JSON: floats are restored bit for bit, and shared parts are written once.

A document is {"quirkpy": SCHEMA, "parts": {key: {"type": ..., field: value ...}}, "root": value}.
Inside values a part that has a name is written as {"part": key}; parts are listed so that each
refers only to earlier ones."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
from abc import ABC
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from quirkpy.maths import quat
from quirkpy.parts import (
    actuators,
    beam,
    body,
    bushing,
    couplings,
    event,
    fields,
    forces,
    joint_laws,
    joints,
    latch,
    magnets,
    modal_body,
    pinning,
    primitives,
    schedule,
    sensor,
    shapes,
    strings,
    switch,
)
from quirkpy.parts.checks import show
from quirkpy.parts.files import DOT
from quirkpy.parts.part import Part, PartError, is_default, sentence_of

#: Increased when documents change such that an older reader would misread them.
SCHEMA = 1


def final_classes(*modules: ModuleType) -> dict[str, type[Part]]:
    """The public classes of parts that some modules define and from which none derives, by name."""
    own = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Part)
        if value.__module__ == module.__name__
    ]
    bases = {base for cls in own for base in cls.__mro__[1:]}
    bases |= {cls for cls in own if ABC in cls.__bases__}
    return {c.__name__: c for c in own if c not in bases and not c.__name__.startswith("_")}


#: Every class that a document may name without modules chosen by the reader.  From bodies those
#: that bend derive, but there are rigid ones too.
PART_TYPES = final_classes(
    shapes, beam, modal_body, joints, couplings, forces, latch, joint_laws, actuators, bushing,
    fields, magnets, pinning, strings, schedule, sensor, event, switch, primitives,
) | final_classes(body)  # fmt: skip

#: Largest number of characters of a document, and largest depth of nested values: some hundred
#: times those of any real one.
LONGEST_TEXT, DEEPEST = 1 << 28, 100
#: Largest number of characters of a message about values of any length.
LONGEST_SENTENCE = 390
#: Errors raised when parts are made of incompatible values.
UNREADABLE = (
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)


def _refuse_constant(word: str) -> float:
    raise ValueError(f"it has {word}, which is no number there")


def plain_values(text: Any, who: str) -> Any:
    """A JSON text as plain values; an error if it is too long or nested too deeply to be a
    document."""
    if isinstance(text, str | bytes | bytearray) and len(text) > LONGEST_TEXT:
        raise PartError(
            f"{who}: the text has {len(text)} characters, but may have {LONGEST_TEXT} at most.",
            code="content",
        )
    too_deep = (
        f"{who}: values lie within each other more than {DEEPEST} deep, but those of a document "
        "do not."
    )
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (TypeError, ValueError) as error:
        raise PartError(f"{who}: this is not JSON: {sentence_of(error)}.", code="content") from None
    except RecursionError:
        raise PartError(too_deep, code="content") from None
    if not _is_shallow(data):
        raise PartError(too_deep, code="content")
    return data


class Writer:
    """Collects named parts; `extra` turns other objects into plain values first, `types` gives the
    names of classes; others are written with their module."""

    def __init__(
        self, extra: Mapping[type, Any] | None = None, types: Mapping[str, type[Part]] = PART_TYPES
    ) -> None:
        self.extra = extra or {}
        self.names = {cls: name for name, cls in types.items()}
        self.parts: dict[str, Any] = {}
        self.keys: dict[Part, str] = {}

    def document(self, root: Any) -> str:
        """The whole document as text."""
        value = self.value(root)
        return json.dumps(
            {"quirkpy": SCHEMA, "parts": self.parts, "root": value}, indent=1, allow_nan=False
        )

    def value(self, value: Any, owner: str = "to_json") -> Any:
        """One value as plain JSON."""
        if isinstance(value, float) and not math.isfinite(value):
            raise PartError(
                f"{owner}: {value} cannot be written to JSON, which knows finite numbers only."
            )
        if value is None or isinstance(value, (bool, int, str, float)):
            return value
        if isinstance(value, quat.Quaternion):
            return {"quaternion": quat.to_array(value).tolist()}
        if isinstance(value, (tuple, list)):
            return [self.value(item, owner) for item in value]
        if isinstance(value, (np.ndarray, np.generic)):
            return self.value(value.tolist(), owner)
        if isinstance(value, Part):
            named = isinstance(getattr(value, "name", None), str)
            return {"part": self.key(value)} if named else self.fields(value)
        if type(value) in self.extra:
            return self.extra[type(value)](self, value)
        raise _refusal(owner, value)

    def key(self, part: Part) -> str:
        """The key of a named part; equal parts share one."""
        if part not in self.keys:
            fields = self.fields(part)  # first: writes the parts that it refers to
            name = key = str(getattr(part, "name", ""))
            count = 1
            while key in self.parts:
                count += 1
                key = f"{name}#{count}"
            self.keys[part], self.parts[key] = key, fields
        return self.keys[part]

    def fields(self, part: Part) -> dict[str, Any]:
        """Type and fields of a part, defaults left out."""
        cls = type(part)
        if "<locals>" in cls.__qualname__:
            raise part.refuse(
                "its class is defined inside a function, where from_json cannot find it; move it "
                "out.",
                code="yours",
            )
        if any(field.name == "type" for field in dataclasses.fields(part)):  # type: ignore[arg-type]
            raise part.refuse(
                "it has a field called type, which means the class in JSON; call the field "
                "otherwise.",
                code="yours",
            )
        out: dict[str, Any] = {"type": self.names.get(cls, f"{cls.__module__}:{cls.__qualname__}")}
        for field in dataclasses.fields(part):  # type: ignore[arg-type]
            value = getattr(part, field.name)
            if field.init and not is_default(field, value):
                out[field.name] = self.value(
                    value, f"{cls.__name__} {getattr(part, 'name', '')!r}, {field.name}"
                )
        return out


class Reader:
    """Makes parts from a document; `extra` restores objects from dictionaries of other types."""

    def __init__(
        self, text: str | bytes, modules: Iterable[str] = (),
        extra: Mapping[str, Any] | None = None, types: Mapping[str, type[Part]] = PART_TYPES,
    ) -> None:  # fmt: skip
        self.types, self.data = types, plain_values(text, "from_json")
        if not isinstance(self.data, dict) or "quirkpy" not in self.data:
            raise PartError(
                "from_json: the text is JSON, but nothing that to_json wrote: it has no schema "
                "under the key 'quirkpy'.",
                code="content",
            )
        schema = self.data["quirkpy"]
        if schema != SCHEMA:
            raise PartError(
                f"from_json: the document has schema {show(schema)}, but this version reads "
                f"{SCHEMA}.",
                code="content",
            )
        self.modules, self.extra = tuple(modules), extra or {}
        self.parts: dict[str, Any] = {}

    def root(self) -> Any:
        """The object that the document was written from."""
        try:
            # Results of absurdly large numbers are refused, without a warning
            with np.errstate(all="ignore"):
                for key, fields in self.data["parts"].items():
                    self.parts[key] = self.value(fields)
                return self.value(self.data["root"])
        except PartError as error:
            if len(str(error)) < LONGEST_SENTENCE:
                raise
            raise PartError(
                f"{str(error)[: LONGEST_SENTENCE - 20]} (and so on).", code="content"
            ) from error
        except UNREADABLE as error:
            raise PartError(
                f"from_json: the document is damaged or was changed by hand: {sentence_of(error)}.",
                code="content",
            ) from error

    def value(self, value: Any) -> Any:
        """One JSON value as the object that it represents."""
        if isinstance(value, list):
            return tuple(self.value(item) for item in value)
        if not isinstance(value, dict):
            return value
        if value.keys() == {"quaternion"}:
            return quat.from_array(np.array(value["quaternion"], dtype=float))
        if value.keys() == {"part"}:
            return self.parts[value["part"]]
        fields = {name: self.value(item) for name, item in value.items() if name != "type"}
        if value["type"] in self.extra:
            return self.extra[value["type"]](fields)
        return self.type_of(value["type"])(**fields)

    def type_of(self, name: str) -> type[Part]:
        """A built-in class by its name; a user's only from a module that the caller names."""
        if name in self.types:
            return self.types[name]
        module, _, qualname = name.partition(":")
        if module not in self.modules:
            raise PartError(
                f"from_json: the document uses the class {name!r}; if you trust it, name its "
                "module: "
                f"from_json(text, modules=[{module!r}]), or on the command line its file: --study "
                f"{module.replace(DOT, '.').removesuffix('.py')}.py.",
                code="content",
            )
        found = _import_module(module, name)
        for attribute in qualname.split("."):
            found = getattr(found, attribute, None)
        if not (isinstance(found, type) and issubclass(found, Part)):
            raise PartError(f"from_json: {name!r} is not a class of parts.", code="content")
        return found


def _refusal(owner: str, value: Any) -> PartError:
    """Why a value cannot be written to JSON."""
    if callable(value):
        return PartError(
            f"{owner}: {show(value)} is a Python function, which JSON cannot hold; use a "
            "qp.Schedule."
        )
    return PartError(
        f"{owner}: {show(value)} is a {type(value).__name__}, which cannot be written to JSON."
    )


def _is_shallow(data: Any) -> bool:
    """Whether plain values are nested no deeper than `DEEPEST`."""
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        lists = (
            one.values() if isinstance(one, dict) else one
            for one in level
            if isinstance(one, dict | list)
        )
        level = [item for items in lists for item in items]
        if not level:
            return True
    return False


def _import_module(module: str, name: str) -> Any:
    """The module of a class named in a document; an error where it cannot be imported."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PartError(
            f"from_json: the module of {name!r} cannot be imported: {error}.", code="content"
        ) from error
