"""Values that are computed once: `cached_property` without a lock, and `once`.

Before Python 3.12 that of `functools` holds one lock for all objects of a class while a value is
computed. Where values depend on each other across objects, two threads can then deadlock. Here two
threads that access one object at once may both compute its value, which is the same to the bit;
both get the one that is stored."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

Owner = TypeVar("Owner")
Value = TypeVar("Value")

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """A property that is computed at its first access, and stored in the object's
        `__dict__`."""

        def __init__(self, compute: Any) -> None:
            self.compute, self.__doc__ = compute, compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = self.compute(instance)
            return instance.__dict__.setdefault(self.name, value)


def once(
    kept: dict[Callable[[Owner], Any], Any], make: Callable[[Owner], Value], of: Owner
) -> Value:
    """The value of a function of an object: computed at the first call, and stored by function.

    Two threads that call it at once both get the value that is stored."""
    if make not in kept:
        kept.setdefault(make, make(of))
    found: Value = kept[make]
    return found
