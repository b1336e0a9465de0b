"""Laws of one coordinate of a joint: a user's, in Python (`JointLaw`) or compiled
(`CompiledJointLaw`); servos, motors and tape springs."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from quirkpy.maths.cached import cached_property
from quirkpy.maths.tapes import bend_tape
from quirkpy.maths.warnings import doubt_degrees
from quirkpy.parts.body import Body
from quirkpy.parts.checks import angle_up_to, not_negative, number, optional, positive, real
from quirkpy.parts.force import Element, Force
from quirkpy.parts.forces import OnCoordinate, in_time, number_in_time, split_functions
from quirkpy.parts.formulas import (
    SAME_RATE,
    STEP,
    check_formulas,
    evaluate_formula,
    flat,
    least_disagreement,
    numbers_of,
)
from quirkpy.parts.joint import BaseJoint, Coordinate
from quirkpy.parts.motion import MotionView, Wrench
from quirkpy.parts.part import check_argument, checked
from quirkpy.parts.schedule import TimeFunction

#: The formulas of a law, and their arguments other than fields.
WORDS, VARIABLES = ("load", "energy"), ("t", "x", "rate")
#: Places at which a load is compared with its energy [rad or m].
COMPARED_PLACES = -1.3, -0.4, 0.02, 0.3, 0.9
#: Largest number of numbers of a law in an element.
MOST_LAW_NUMBERS = 41


class JointLaw(OnCoordinate, ABC):
    """Base of laws of a coordinate of a joint; a subclass annotates its fields, and defines `load`
    and optionally `energy`::

        class Detent(qp.JointLaw):
            torque: float
            notches: float
            @staticmethod
            def load(t, x, rate, torque, notches):
                return -torque * math.sin(notches * x)
            @staticmethod
            def energy(x, torque, notches):
                return torque * (1.0 - math.cos(notches * x)) / notches

    ``Detent("detent", hinge, torque=0.02, notches=12.0)`` acts on the second body of the hinge,
    with its reaction on the first, while the joint is active. Argument names: t [s], the coordinate
    x [rad] or [m], its rate, or a field that is a number or a tuple of numbers. load: torque [N m]
    or force [N]; energy [J]: the load at rest is its negative slope (they are compared when the
    part is constructed); the rest of the load's power counts as dissipated, and explicit changes of
    the energy with time count as work. Without energy all power counts as work.

    It is called from Python in every evaluation; derived from `CompiledJointLaw` the same lines
    cost as much as a built-in law."""

    load: ClassVar[Callable[..., Any]]
    energy: ClassVar[Callable[..., Any] | None] = None

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        ours = cls.__module__ == __name__
        if not ours and getattr(cls, "load", None) is Force.load:
            raise TypeError(
                f"{cls.__name__}: a law of a joint defines load, a function of t, x, rate and its "
                "fields."
            )
        if not ours:
            check_formulas(cls, WORDS, VARIABLES)

    def validate(self) -> None:
        super().validate()
        if type(self) in (JointLaw, CompiledJointLaw):
            raise self.refuse("it is a base; derive a class of your own that defines load.")
        if len(flat(self.arguments)) > MOST_LAW_NUMBERS:
            raise self.refuse(
                f"it asks for more than {MOST_LAW_NUMBERS} numbers; make several laws of it."
            )
        if type(self).energy is not None:
            self._compare()

    def _compare(self) -> None:
        """Refuse a load that differs from the negative slope of the energy at all places tested;
        where either fails they are not compared."""
        try:
            off, x, stated, slope = least_disagreement(
                lambda x: -self.evaluate("energy", 0.0, x),
                lambda x: self.evaluate("load", 0.0, x),
                COMPARED_PLACES,
            )
        except Exception:  # they may be undefined at such places
            return
        if off > SAME_RATE:
            raise self.refuse(
                f"its load and its energy disagree: at rest at x = {x:g} the load is {stated:.6g}, "
                f"minus the slope of the energy {slope:.6g}; correct one, or leave energy out.",
                code="yours",
            )

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The fields that are arguments of its formulas."""
        return numbers_of(self, WORDS, VARIABLES)

    def evaluate(self, word: str, t: float, x: float, rate: float = 0.0) -> float:
        """Load or energy in Python."""
        return evaluate_formula(self, word, {"t": t, "x": x, "rate": rate, **self.arguments})

    def elements(self) -> tuple[Element, ...]:
        return (self.element("callback", ()),)

    def gives(self, method: Literal["elements", "load", "potential"]) -> bool:
        return type(self).energy is not None if method == "potential" else True

    # --- at one instant ---------------------------------------------------------------------------
    def _place(self, at: MotionView) -> tuple[float, float]:
        return at.coordinate(self.joint, self._coordinate().name)

    def wrenches(self, at: MotionView) -> Mapping[Body, Wrench]:
        """Wrench of the law on each of the two bodies of the joint."""
        x, rate = self._place(at)
        push = self.evaluate("load", at.t, x, rate)
        return wrenches_along(at, self.joint, self._coordinate(), push)

    def potential(self, at: MotionView) -> float:
        """The value of `energy` [J]."""
        if type(self).energy is None:
            return 0.0
        return self.evaluate("energy", at.t, self._place(at)[0])

    def powers(self, at: MotionView) -> tuple[float, float]:
        """Power that the law delivers, and that it dissipates [W], apart from changes of its
        energy."""
        x, rate = self._place(at)
        push = self.evaluate("load", at.t, x, rate)
        if type(self).energy is None:
            return push * rate, 0.0
        energies = (self.evaluate("energy", at.t + k * STEP, x) for k in (2, 1, -1, -2))
        two, one, minus, less = energies
        change = (8.0 * (one - minus) - (two - less)) / (12.0 * STEP)
        return change, (self.evaluate("load", at.t, x) - push) * rate


def wrenches_along(
    at: MotionView, joint: BaseJoint, c: Coordinate, push: float
) -> dict[Body, Wrench]:
    """A load along a coordinate: on the second body of the joint, with its reaction on the
    first."""
    near, far = joint.sites
    one, two = at[near], at[far]
    if c.kind == "length":
        d = two.position - one.position
        length = float(np.linalg.norm(d))
        f = push * d / length if length > 0.0 else 0.0 * d
        return {near.body: Wrench(-f, point=one.position), far.body: Wrench(f, point=two.position)}
    along = push * (one if c.site == 1 else two).axes[:, "xyz".index(c.axis)]
    if c.kind == "angle":
        return {near.body: Wrench(torque=-along), far.body: Wrench(torque=along)}
    back = Wrench(-along, point=two.position)
    return {near.body: back, far.body: Wrench(along, point=two.position)}


class CompiledJointLaw(JointLaw, ABC):
    """Base of laws of a coordinate that numba compiles, written as a `JointLaw` is; it costs as
    much as a built-in law."""

    def elements(self) -> tuple[Element, ...]:
        known = float(type(self).energy is not None)
        return (self.element("joint law", (known, *flat(self.arguments))),)


class Servo(OnCoordinate):
    """A motor that holds a coordinate x at its target, or moves it along: load -k e - c de/dt, e =
    x - target.

    target [rad] or [m]: a number, or a `TimeFunction` such as a `Schedule`; stiffness k [N m/rad]
    or [N/m], damping c [N m s/rad] or [N s/m]; limit [N m] or [N]: bound of the load (default:
    none), approached smoothly from four fifths of it on. U = k e^2 / 2; the load times the rate of
    the target counts as work, and the power of the damping as dissipated. With a limit all power
    counts as work. It is active while its joint is."""

    target: float | TimeFunction = checked(in_time, kw_only=True)
    stiffness: float = checked(not_negative, kw_only=True)
    damping: float = checked(not_negative, default=0.0, kw_only=True)
    limit: float | None = checked(optional(positive), default=None, kw_only=True)

    def validate(self) -> None:
        super().validate()
        self._doubt("target", self.target)

    def elements(self) -> tuple[Element, ...]:
        (target,), (function,) = split_functions(self.target)
        numbers = (self.stiffness, target, self.damping, self.limit or 0.0)
        return (self.element("servo", numbers, (function, None)),)


class Motor(OnCoordinate):
    """A load along a coordinate of a joint, on its second body with the reaction on its first:
    ``Motor("elbow", hinge, torque=0.2)``.

    torque [N m] along an angle, force [N] along a travel or a length: a number, or a `TimeFunction`
    such as a `Schedule`; a `Controller` may command it. It has no potential: all of its power
    counts as work. It is active while its joint is."""

    torque: float | TimeFunction = checked(number_in_time, default=0.0, kw_only=True)
    force: float | TimeFunction = checked(number_in_time, default=0.0, kw_only=True)

    def validate(self) -> None:
        super().validate()
        turns = self._coordinate().kind == "angle"
        if (self.force if turns else self.torque) != 0.0:
            wrong, right = ("force", "torque") if turns else ("torque", "force")
            raise self.refuse(
                f"its coordinate is {'an angle' if turns else 'no angle'}, along which {wrong} "
                f"means nothing; give {right}."
            )

    def elements(self) -> tuple[Element, ...]:
        load = self.torque if self._coordinate().kind == "angle" else self.force
        numbers, functions = split_functions(load)
        return (self.element("motor", numbers, (*functions, None)),)


def _on_both_sides(value: Any) -> Any:
    """A positive number, or one for positive angles and one for negative ones."""
    array = np.broadcast_to(real(value), (2,)) if real(value).ndim < 1 else real(value)
    if array.shape != (2,):
        raise ValueError(
            f"has shape {array.shape}, but must be one number, or two: for positive angles, for "
            "negative ones"
        )
    return tuple(positive(one) for one in array.tolist())


class TapeSpring(OnCoordinate):
    """A strip of a measuring tape across a hinge, as a moment law: linear up to a peak, then a
    steep fall to a plateau of constant moment; the moment acts towards the straight angle.

    a = angle - straight, with a plateau and a peak for each sense of a: stiffness k [N m/rad], the
    slope at a = 0; peak [N m] and plateau [N m]: numbers, or two each, for positive angles and for
    negative ones; snap [rad]: the range of angle over which the moment falls from peak to plateau;
    straight [rad]; damping c [N m s/rad]. The moment has two continuous derivatives: the corner at
    the peak is rounded over a fifth of the linear part on either side, and the fall is smooth. U:
    the work from the straight angle on. The law is elastic: loading and unloading follow the same
    curve.

    Where peak = plateau there is no snap, as in bending with equal sense. `steady_moments` gives
    the plateaus of a strip."""

    stiffness: float = checked(positive, kw_only=True)
    peak: float | tuple[float, float] = checked(_on_both_sides, kw_only=True)
    plateau: float | tuple[float, float] = checked(_on_both_sides, kw_only=True)
    snap: float = checked(positive, default=0.1, kw_only=True)
    straight: float = checked(number, default=0.0, kw_only=True)
    damping: float = checked(not_negative, default=0.0, kw_only=True)

    def _coordinate(self) -> Coordinate:
        return self.joint.named_coordinate(self.coordinate, self, "angle")

    def validate(self) -> None:
        super().validate()
        self._doubt("straight", self.straight)
        self._doubt("snap", self.snap)
        for peak, plateau in zip(self.peak, self.plateau, strict=True):  # type: ignore[arg-type]
            if plateau > peak:
                raise self.refuse(
                    f"its plateau of {plateau:g} N m lies above its peak of {peak:g} N m; a tape "
                    "spring snaps down, so give a smaller one."
                )

    def elements(self) -> tuple[Element, ...]:
        peaks, plateaus = self.peak, self.plateau
        pairs = (peaks[0], plateaus[0], peaks[1], plateaus[1])  # type: ignore[index]
        numbers = (self.stiffness, self.straight, self.damping, self.snap, *pairs)
        return (self.element("tape", numbers),)

    @staticmethod
    def steady_moments(
        young: float, poisson: float, thickness: float, subtended: float
    ) -> tuple[float, float]:
        """Plateaus [N m] of a strip bent with opposite sense and with equal sense: (1 + poisson) D
        subtended and (1 - poisson) D subtended, D = E t^3 / (12 (1 - poisson^2)).

        In a fold a strip that is curved across, by 1 / R, is flat across and curved along, by 1 /
        r, in the same or the opposite sense. A fold of angle a has the length r a and the width R
        subtended, and so, as a plate with changes of two curvatures, the energy D / 2 (1 / r^2 + 1
        / R^2 +- 2 poisson / (r R)) r a R subtended. It is least where r = R, and then increases by
        D (1 +- poisson) subtended per angle: the constant moment of further folding, + for opposite
        sense. The free edges of real strips are neglected; measured radii exceed R by up to 15 %.

        young: E [Pa]; poisson; thickness t [m]; subtended: the angle of the cross-section
        [rad]."""
        opened = angle_up_to(2.0 * math.pi, "2 pi")
        check_argument("TapeSpring.steady_moments", "subtended", subtended, opened)
        D = young * thickness**3 / (12.0 * (1.0 - poisson**2))
        return (1.0 + poisson) * D * subtended, (1.0 - poisson) * D * subtended

    def moment(self, angle: float) -> float:
        """Moment on the second body of the hinge at rest [N m], at an angle [rad]."""
        doubt_degrees(f"{self._title()}: angle", angle)
        away = angle - self.straight
        return -math.copysign(self._bent(away)[0], away)

    def energy(self, angle: float) -> float:
        """The stored energy [J], at an angle [rad]."""
        doubt_degrees(f"{self._title()}: angle", angle)
        return self._bent(angle - self.straight)[1]

    def _bent(self, away: float) -> tuple[float, float]:
        """Magnitude of the moment [N m] and energy [J], at a distance from the straight angle."""
        side = 0 if away >= 0.0 else 1
        k, peak, plateau = self.stiffness, self.peak[side], self.plateau[side]  # type: ignore[index]
        return bend_tape(abs(away), k, peak, plateau, self.snap)
