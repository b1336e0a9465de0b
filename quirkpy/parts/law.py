"""`CompiledForce`: a user's force with a law compiled by numba, at the cost of a built-in one."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.triples import triple
from quirkpy.parts.body import Body, Site
from quirkpy.parts.checks import number, show
from quirkpy.parts.force import Element, Force
from quirkpy.parts.formulas import flat
from quirkpy.parts.motion import MotionView, PlaceMotion, Wrench

#: Largest numbers of bodies and sites, and of numbers, in an element.
MOST_PLACES, MOST_NUMBERS = 3, 42


class CompiledForce(Force):
    """Base of forces with a compiled law; a subclass annotates its fields, and defines `law` and
    optionally `energy`::

        class Pull(qp.CompiledForce):
            first: qp.Site
            second: qp.Site
            stiffness: float
            @staticmethod
            def law(first, second, stiffness):
                f = scale(stiffness, sub(second.position, first.position))
                return qp.Wrench(f), qp.Wrench(scale(-1.0, f))
            @staticmethod
            def energy(first, second, stiffness):
                d = sub(second.position, first.position)
                return 0.5 * stiffness * dot(d, d)

    Argument names: t [s], or a field. Bodies and sites are given as `PlaceMotion`, numbers and
    tuples of numbers unchanged. The law returns a `Wrench` for each body or site among its
    arguments (up to three), in their order, about the mass centre or the site's origin; so its own
    `point` stays None. Both are plain Python that numba can compile; sub, scale, dot and others are
    in `qp.triples`.

    energy [J]: the potential energy; the law at rest is its negative gradient, and the rest of the
    law's power counts as dissipated. Without it, all power of the law counts as work."""

    law: ClassVar[Callable[..., Any]]
    energy: ClassVar[Callable[..., Any] | None] = None

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if not callable(getattr(cls, "law", None)):
            raise TypeError(
                f"{cls.__name__}: a compiled force defines law, a function of t and of its fields."
            )
        fields = [field.name for field in dataclasses.fields(cls) if field.name != "name"]
        for word in ("law", "energy"):
            unknown = [name for name in cls.asked(word) if name not in fields]
            if unknown:
                raise TypeError(
                    f"{cls.__name__}: {word} asks for {unknown[0]!r}, which is neither t nor one "
                    "of its fields: "
                    f"{', '.join(fields)}."
                )

    @classmethod
    def asked(cls, word: str) -> tuple[str, ...]:
        """The fields that are arguments of its law, or of its energy."""
        function = getattr(cls, word, None)
        return (
            tuple(name for name in inspect.signature(function).parameters if name != "t")
            if function
            else ()
        )

    def validate(self) -> None:
        _ = self.arguments  # evaluated for its checks

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of law and energy: bodies and sites, numbers, tuples of numbers."""
        asked = dict.fromkeys((*self.asked("law"), *self.asked("energy")))
        out = {name: self._check_number(name, getattr(self, name)) for name in asked}
        places = [name for name in self.asked("law") if isinstance(out[name], (Body, Site))]
        if not places:
            raise self.refuse(
                "its law asks for no body and no site, so that there is nothing to act on; give "
                "one."
            )
        if sum(isinstance(value, (Body, Site)) for value in out.values()) > MOST_PLACES:
            raise self.refuse(
                f"it asks for more than {MOST_PLACES} bodies and sites; make several forces of it."
            )
        if len(flat(out)) > MOST_NUMBERS:
            raise self.refuse(
                f"it asks for more than {MOST_NUMBERS} numbers; make several forces of it."
            )
        return out

    def _check_number(self, name: str, value: Any) -> Any:
        if isinstance(value, (Body, Site)):
            return value
        try:
            return (
                tuple(number(one) for one in value) if isinstance(value, tuple) else number(value)
            )
        except (TypeError, ValueError):
            raise self.refuse(
                f"its law asks for {name}, which is {show(value)}, but must be a body, a site, a "
                "number or a tuple of "
                "numbers."
            ) from None

    def elements(self) -> tuple[Element, ...]:
        arguments = self.arguments
        places = [value for value in arguments.values() if isinstance(value, (Body, Site))]
        sites = [p if isinstance(p, Site) else p.site(self.name, x=(1.0, 0.0, 0.0)) for p in places]
        one, two, three = [*sites, None, None][:MOST_PLACES]
        return (Element("law", one, two, site3=three, numbers=flat(arguments)),)

    # --- the same in Python -----------------------------------------------------------------------
    def load(self, at: MotionView) -> Mapping[Body, Wrench]:
        """The law, uncompiled: used to compare it with its energy, and for error messages."""
        arguments, made = self.arguments, self._call("law", at)
        places = [
            arguments[name]
            for name in self.asked("law")
            if isinstance(arguments[name], (Body, Site))
        ]
        out: dict[Body, Wrench] = {}
        for place, one in zip(places, self._wrenches(made, len(places)), strict=True):
            body = place if isinstance(place, Body) else place.body
            arm = at[place].position - at[body].position
            before = out.get(body, Wrench())
            force, torque = np.asarray(one.force), np.asarray(one.torque) + np.cross(arm, one.force)
            out[body] = Wrench(before.force + force, before.torque + torque)
        return out

    def _wrenches(self, made: Any, count: int) -> Iterator[Wrench]:
        """The given number of wrenches returned by a law, with an error for one that has a
        point."""
        wrenches = (made,) if isinstance(made, Wrench) else made
        if not isinstance(wrenches, tuple) or len(wrenches) != count:
            raise self.refuse(
                f"law returned {show(made)}, but must return a qp.Wrench for each body and site.",
                code="yours",
            )
        for one in wrenches:
            if not isinstance(one, Wrench) or one.point is not None:
                raise self.refuse(
                    f"law returned {show(one)}, but must return wrenches without a point.",
                    code="yours",
                )
            yield one

    def potential(self, at: MotionView) -> float:
        """The value of `energy` [J], uncompiled."""
        return 0.0 if type(self).energy is None else float(self._call("energy", at))

    def _call(self, word: str, at: MotionView) -> Any:
        values = {"t": at.t, **self.arguments}
        function = getattr(type(self), word)
        return function(
            *(as_argument(values[name], at) for name in inspect.signature(function).parameters)
        )

    def gives(self, method: Literal["elements", "load", "potential"]) -> bool:
        return type(self).energy is not None if method == "potential" else True


def as_argument(value: Any, at: MotionView) -> Any:
    """A value in the form in which laws are given it."""
    if not isinstance(value, (Body, Site)):
        return value
    position, axes, velocity, spin = at[value]
    x, y, z = (triple(axis) for axis in axes.T)
    return PlaceMotion(triple(position), x, y, z, triple(velocity), triple(spin))
