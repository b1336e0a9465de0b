"""`FrozenRecord`: base of frozen dataclasses of arrays, read-only after pickling too."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


class FrozenRecord:
    """Locks every array among the fields of a frozen dataclass."""

    def __post_init__(self) -> None:
        for value in vars(
            self
        ).values():  # nothing but the fields, as long as nothing has been derived from them
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._fields()

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))  # type: ignore[arg-type]
