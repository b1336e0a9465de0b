"""Fields that act on many bodies at once: planets, the frame of an orbit, charges. U: potential
energy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from quirkpy.maths.triples import cross, dot, scale, sub, unit
from quirkpy.maths.types import Floats, Vector
from quirkpy.maths.warnings import warn
from quirkpy.parts.body import Body, Site
from quirkpy.parts.checks import instance, number, optional, positive, show, text, vector
from quirkpy.parts.force import Element, Force
from quirkpy.parts.motion import MotionView, Wrench
from quirkpy.parts.part import Part, PartError, checked
from quirkpy.parts.schedule import TimeFunction

#: Rates of orbits [rad/s]: a warning is given above the first, beyond any orbit around a planet or
#: a moon; above the second, beyond scaled ones, an error.
FAST, FASTEST = 0.1, 10.0
DAY = 86_400.0  # [s]


def each(kind: type[Part]) -> Callable[[Any], Any]:
    """A check: one or more parts of a kind, as a tuple, with different names."""
    one = instance(kind)

    def check(value: Any) -> Any:
        some = (value,) if isinstance(value, kind) else value
        if not isinstance(some, Sequence) or isinstance(some, str) or not some:
            raise TypeError(f"is {show(value)}, but must be a {kind.__name__} or a list of some")
        names = [one(part).name for part in some]
        if len(set(names)) < len(names):
            raise ValueError(
                f"has two of the name {next(n for n in names if names.count(n) > 1)!r}; rename one"
            )
        return tuple(some)

    return check


class Orbit(Part):
    """A Kepler ellipse about a planet: the path of the origin of N, whose axes do not rotate.

    mu [m3/s2] of the planet; position [m] and velocity [m/s] of the origin relative to the planet
    at t = 0, along the axes of N.  ``Orbit.circular(mu, radius)`` starts on x and moves towards y.
    """

    mu: float = checked(positive)
    position: Vector = checked(vector)
    velocity: Vector = checked(vector)

    def validate(self) -> None:
        if math.hypot(*self.position) == 0.0:
            raise self.refuse(
                "position is (0, 0, 0), the planet's centre; give a point away from it."
            )
        if not any(cross(self.position, self.velocity)):
            raise self.refuse(
                "velocity points along position, so that it falls into the planet; give an ellipse."
            )
        if self._per_axis <= 0.0:
            raise self.refuse(
                f"its speed {math.hypot(*self.velocity):g} m/s is enough to escape; only ellipses "
                "are known."
            )

    @classmethod
    def circular(cls, mu: float, radius: float) -> Orbit:
        """The circle of a given radius [m] in the x y plane."""
        try:
            speed = math.sqrt(positive(mu) / positive(radius))
        except (TypeError, ValueError) as error:
            raise PartError(f"Orbit.circular: mu or radius {error}.") from None
        return cls(mu, (radius, 0.0, 0.0), (0.0, speed, 0.0))

    @property
    def _per_axis(self) -> float:
        """1 / semi-major axis, from the energy."""
        return 2.0 / math.hypot(*self.position) - dot(self.velocity, self.velocity) / self.mu

    @property
    def rate(self) -> float:
        """Mean motion n [rad/s]."""
        return math.sqrt(self.mu * self._per_axis**3)

    def numbers(self) -> tuple[float, ...]:
        """The orbit as ten numbers, in the order given by `Element`."""
        r, v, a = math.hypot(*self.position), self.velocity, 1.0 / self._per_axis
        # e cos E and e sin E at t = 0
        x, y = 1.0 - r / a, dot(self.position, v) / math.sqrt(self.mu * a)
        e, anomaly = math.hypot(x, y), math.atan2(y, x)
        ahead = unit(cross(cross(self.position, v), self.position))
        # angle from the pericentre to the position, in the plane of the orbit
        true = math.atan2(math.sqrt(1.0 - e * e) * math.sin(anomaly), math.cos(anomaly) - e)
        up, c, s = unit(self.position), math.cos(true), math.sin(true)
        first = sub(scale(c, up), scale(s, ahead))
        across = sub(scale(s, up), scale(-c, ahead))
        return (self.mu, a, e, anomaly - e * math.sin(anomaly), *first, *across)

    def at(self, t: float) -> tuple[Floats, Floats]:
        """Position [m] and velocity [m/s] (3,) of the origin from the planet at time t [s]."""
        mu, a, e, anomaly, *axes = self.numbers()
        mean = math.remainder(anomaly + self.rate * t, 2.0 * math.pi)
        out = mean + 0.85 * e * math.copysign(
            1.0, mean
        )  # from this start Newton's method converges for every e
        for _ in range(50):
            out -= (out - e * math.sin(out) - mean) / (1.0 - e * math.cos(out))
        first, across, b = np.array(axes[:3]), np.array(axes[3:]), math.sqrt(1.0 - e * e)
        speed = math.sqrt(mu / a) / (1.0 - e * math.cos(out))
        place = a * ((math.cos(out) - e) * first + b * math.sin(out) * across)
        return place, speed * (b * math.cos(out) * across - math.sin(out) * first)


def at_rest(mu: float, centre: Vector) -> tuple[float, ...]:
    """A planet at rest in N, as the numbers of elements."""
    return (mu, 0.0, 0.0, 0.0, *scale(-1.0, centre), 0.0, 0.0, 0.0)


class PointGravity(Force):
    """A planet at rest in N that acts on each moving body by gravity and gravity gradient.

    Force -mu m c/R^2 - (3 mu/(2 R^4)) [2 I + tr I - 5 c.I c] c, torque 3 mu/R^3 c x (I c); R [m]
    and c: length and direction from the planet's centre to the mass centre. U = -mu m/R - mu/(2
    R^3) (tr I - 3 c.I c): all to second order in the size of the body over R. mu [m3/s2], centre
    [m] in N. Bodies that locks hold together are not merged in runs. Near a satellite far from the
    planet `GravityGradient` or `HillFrame` lose fewer digits."""

    mu: float = checked(positive)
    centre: Vector = checked(vector, default=(0.0, 0.0, 0.0))
    name: str = checked(text, default="point gravity", kw_only=True)

    def elements(self) -> tuple[Element, ...]:
        return (Element("planet", numbers=at_rest(self.mu, self.centre)),)


class GravityGradient(Force):
    """Gravity of a planet where the origin of N falls along an `Orbit`: the acceleration of each
    body relative to the origin.

    Force m [g(R0 + r) - g(R0)] with g(x) = -mu x/|x|^3, computed without cancellation, and force
    and torque of the gravity gradient as in `PointGravity`. The axes of N do not rotate. All of its
    power counts as work, since a potential would depend on time. Not to be combined with
    `HillFrame`, which contains it."""

    orbit: Orbit = checked(instance(Orbit))
    name: str = checked(text, default="gravity gradient", kw_only=True)

    def elements(self) -> tuple[Element, ...]:
        return (Element("planet", numbers=self.orbit.numbers()),)


def rate_of_orbit(value: Any) -> float:
    """A rate of an orbit [rad/s]; an error if it is faster than any orbit around a planet."""
    rate = positive(value)
    if rate > FASTEST:
        period = 2.0 * math.pi / rate
        raise ValueError(
            f"is {rate:g}, which is a rate in radians per second, one turn in {period:.3g} s; "
            f"an orbit of {rate:g} s has the rate 2 pi / {rate:g} = {period:.3g}"
        )
    return rate


class HillFrame(Force):
    """N is the rotating frame of a circular orbit (Hill, Clohessy-Wiltshire): x up, y along the
    track, z normal.

    rate n [rad/s] of the orbit, sqrt(mu/R^3). Every mass element has the acceleration a = (2 n y' +
    3 n^2 x, -2 n x', -n^2 z); so a body rotates by I w' = 3 n^2 x^ x (I x^) + I (w x o) - (w + o) x
    I (w + o), where o = n z^ and w is relative to the frame, as all velocities, momenta and
    energies are. U = m n^2 (z^2 - 3 x^2)/2 + n^2 (3 x^.I x^ - z^.I z^)/2, and kinetic energy + U is
    the Jacobi integral. Not to be combined with `GravityGradient` or `PointGravity`."""

    rate: float = checked(rate_of_orbit)
    name: str = checked(text, default="hill frame", kw_only=True)

    def validate(self) -> None:
        if self.rate > FAST:
            turn = 2.0 * math.pi / self.rate
            warn(
                f"HillFrame {self.name!r}: rate of an orbit is {self.rate:g} rad/s, one turn in "
                f"{turn:.3g} s; around "
                f"the Earth 1e-3 is usual, and {self.rate:g} turns a day are "
                f"{2.0 * math.pi * self.rate / DAY:.3g}."
            )

    def elements(self) -> tuple[Element, ...]:
        return (Element("hill", numbers=(self.rate,)),)


def number_in_time(value: Any) -> Any:
    """A number or a schedule of numbers."""
    if isinstance(value, TimeFunction) and not value.scalar:
        raise TypeError("is a schedule of vectors, but must hold one number at each time")
    return value if isinstance(value, TimeFunction) else number(value)


class Charge(Part):
    """An electric charge [C] at a site, for `Coulomb`: a number, or a `Schedule` of numbers.

    While any charge of a pair is scheduled, the power of the pair counts as work.
    """

    name: str = checked(text)
    site: Site = checked(instance(Site))
    charge: float | TimeFunction = checked(number_in_time)

    def drive(self) -> tuple[float, TimeFunction | None]:
        """The charge [C], and the schedule that replaces it."""
        return (0.0, self.charge) if isinstance(self.charge, TimeFunction) else (self.charge, None)


class Coulomb(Force):
    """Charges on different bodies: force k q1 q2/d^2 exp(-d/l) (1 + d/l) apart.  U = k q1 q2
    exp(-d/l)/d.

    k = 8.9875517923e9 N m2/C2; debye_length l [m] of the surrounding plasma (default: none, a
    vacuum).
    """

    charges: Sequence[Charge] = checked(each(Charge))
    debye_length: float | None = checked(optional(positive), default=None, kw_only=True)
    name: str = checked(text, default="coulomb", kw_only=True)

    def elements(self) -> tuple[Element, ...]:
        screening = 0.0 if self.debye_length is None else 1.0 / self.debye_length
        out = []
        for one, two in pairs(self.charges):
            (q1, s1), (q2, s2) = one.drive(), two.drive()
            out.append(
                Element(
                    "charges", one.site, two.site, numbers=(q1, q2, screening), schedules=(s1, s2)
                )
            )
        return tuple(out)


def pairs(some: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pairs of sites on two different bodies."""
    return [(one, two) for one, two in combinations(some, 2) if one.site.body != two.site.body]


class Potential(Force):
    """Any potential energy: ``Potential("bowl", lambda at: 2.0 * at[body].position @
    at[body].position)``.

    function: of a `MotionView`, gives U [J] from time and poses; the load is its negative gradient,
    by differences, or is given by `wrenches`, a function of a `MotionView` that returns {body:
    qp.Wrench(...)}. Functions are called from Python at every evaluation and cannot be written to
    JSON."""

    function: Callable[[MotionView], float]
    wrenches: Callable[[MotionView], Mapping[Body, Wrench]] | None = checked(
        lambda f: f, default=None, kw_only=True
    )

    def validate(self) -> None:
        for word, value in (("function", self.function), ("wrenches", self.wrenches)):
            if not callable(value) and (word == "function" or value is not None):
                raise self.refuse(
                    f"{word} is {show(value)}, but must be a function of a MotionView."
                )

    def potential(self, at: MotionView) -> float:
        """The value of the function [J]."""
        return self.function(at)

    def load(self, at: MotionView) -> Mapping[Body, Wrench]:
        """The wrenches of `wrenches`; called only if that was given."""
        if self.wrenches is None:
            raise self.refuse("it was given no wrenches; its load is the gradient of its function.")
        return self.wrenches(at)

    def gives(self, method: Literal["elements", "load", "potential"]) -> bool:
        return self.wrenches is not None if method == "load" else self.overrides(method)
