"""What stands in for VPython where there is no browser: things that remember what they were
given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

made: list[Any] = []


class vector(tuple):
    """Three numbers."""

    def __new__(cls, x: float, y: float, z: float) -> vector:
        assert all(type(c) is float for c in (x, y, z)), "VPython sends plain numbers"
        return super().__new__(cls, (x, y, z))


class Thing(SimpleNamespace):
    """A thing of some kind with all that was said of it."""

    def __init__(self, **said: Any) -> None:
        super().__init__(visible=True, points=[])
        vars(self).update(said)
        made.append(self)

    def plot(self, points: Any) -> None:
        self.points += points


class box(Thing):
    pass


class sphere(Thing):
    pass


class cylinder(Thing):
    pass


class arrow(Thing):
    pass


class curve(Thing):
    pass


class button(Thing):
    pass


class slider(Thing):
    pass


class wtext(Thing):
    pass


class graph(Thing):
    pass


class gcurve(Thing):
    pass


class Scene(SimpleNamespace):
    def append_to_caption(self, words: str) -> None:
        self.caption = getattr(self, "caption", "") + words


scene = Scene()
calls: list[int] = []


def rate(pictures: int) -> None:
    calls.append(pictures)
