"""What is computed once: `cached_property` without a lock, and `once`.

Before Python 3.12 that of `functools` holds one lock for all objects of a class while a value is
computed.  Where values ask each other across objects, two threads then wait for each other for
ever.  Here two threads that ask one object at once may both compute its value, which is the same to
the bit; both get the one that is kept."""

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
        """A property that is computed when it is first asked for, and kept in the object's
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
    """What a function makes of an object: made when it is first asked for, and kept by function.

    Of two threads that ask at once both get the one that is kept."""
    if make not in kept:
        kept.setdefault(make, make(of))
    found: Value = kept[make]
    return found
