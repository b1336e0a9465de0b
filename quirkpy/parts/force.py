"""`Force`: the base of every force, built in or user-defined, and the elements of which the
built-in ones consist.

A built-in force is a tuple of elements, which the kernels evaluate (`kernels/act/loads.py`). A
user's force gives a load or a potential."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from quirkpy.parts.body import Body, Site
from quirkpy.parts.checks import text
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.motion import MotionView, Wrench
from quirkpy.parts.part import Part, checked
from quirkpy.parts.schedule import TimeFunction

ElementKind: TypeAlias = Literal[
    "uniform", "pair", "coordinate", "push", "callback", "stop",
    "dipoles", "image", "planet dipole", "hill", "planet", "charges", "bushing", "wheel", "law",
    "stretch", "joint law", "servo", "tape", "motor",
]  # fmt: skip
#: The position of a kind is its number in the tables; `KINDS` gives the traits of each.
ELEMENT_KINDS: tuple[ElementKind, ...] = get_args(ElementKind)


class Element(NamedTuple):
    """One elementary load; the meaning of `numbers` depends on the kind.

    - uniform: acceleration (3) [m/s2] of every moving body
    - pair: stiffness [N/m], rest length [m], damping [N s/m], tension only (0 or 1) and then how
      many stretches follow, between two sites; functions of time replace stiffness, rest length
    - stretch: none; from site to site the way of the rope before it goes on, which pulls there too
    - coordinate: stiffness, rest value, damping, friction, its rate, on a coordinate of a joint: [N
      m/rad], [rad], [N m s/rad], [N m] and [rad/s], or [N/m], [m], [N s/m], [N] and [m/s];
      functions of time replace stiffness, rest value
    - push: force (3) [N], torque (3) [N m], frame (0: N, 1: body), on site 1; schedules replace
      force, torque
    - callback: none; the force's own Python is called
    - stop: bound, side (1: the coordinate stays above, -1: below), restitution, settling rate, 1
      for a latch, on such a coordinate
    - dipoles: moments (3 and 3) [A m2] in the axes of sites 1 and 2; schedules replace them
    - image: cold (0 or 1), moments of the magnets of sites 2 and 3 along their z, frozen image of
      that of site 3: point (3) and moment (3) in the axes of the face, site 1
    - planet dipole: orbit (10), moment of the planet (3) in N, moment (3) in the axes of site 1; a
      schedule replaces it
    - hill: rate [rad/s] of the turning frame, for every moving body
    - planet: orbit (10), for every moving body
    - charges: charges (2) [C] of sites 1 and 2, 1 / Debye length [1/m]; schedules of numbers
      replace the charges
    - bushing: stiffness (21) and damping (21) in the axes of site 1, each: xx xy xz yy yz zz of the
      linear block, the mixed block row by row, the angular block
    - wheel: momentum (3) [N m s] in the axes of site 1; a schedule replaces it
    - law: the numbers of a `CompiledForce`, as its law takes them, between up to three sites
    - joint law: whether it has an energy (0 or 1), and the numbers of a `CompiledJointLaw`
    - servo: stiffness, target, damping, limit (0: none) on such a coordinate; a function of time
      replaces the target
    - tape: see `TapeSpring`: stiffness, straight angle, damping, the angle of the fall, peak and
      plateau of positive angles and of negative ones
    - motor: load [N m] or [N] along such a coordinate; a function of time replaces it

    An orbit says where the origin of N is from a planet: mu [m3/s2], semi-major axis [m],
    eccentricity, mean anomaly at t = 0, unit vectors (3 and 3) to the pericentre and across; or mu,
    0, 0, 0 and a point (3) at rest."""

    kind: ElementKind
    site1: Site | None = None
    site2: Site | None = None
    joint: BaseJoint | None = None
    numbers: tuple[float, ...] = ()
    schedules: tuple[TimeFunction | None, TimeFunction | None] = (None, None)
    coordinate: str | None = None  # of the joint; None: its only one
    site3: Site | None = None


# --- what is true of all elements of a kind ------------------------------------------------------
class KindTraits(NamedTuple):
    """Traits of all elements of a kind; omitted traits are unknown, and nothing is concluded from
    them.

    strength: the numbers to which load and energy are proportional; None: there are none.
    schedules: those that replace such numbers.
    acts_on: "sites", its own alone; "all" moving bodies; "unknown": any.
    adds_up: whether its loads on the members of a rigid cluster add up to those on the cluster as
    one body: "always"; "moving", not where members are attached to the ground; "never"; "unknown".
    felt: "relative", depends on the relative pose and motion of its sites alone; "field", on
    positions, directions or motion in N; "turning", on the rotation of N; "unknown".
    carried: whether its sites and numbers determine it, so that a permutation of bodies maps it
    onto another element; not where Python is called, or a joint is involved.
    swapped: how many of its first numbers per site are exchanged together with its first two sites,
    which leaves it unchanged; None: it changes.
    points: whether the axes of its sites are irrelevant."""

    strength: tuple[int, ...] | None = None
    schedules: tuple[int, ...] = ()
    acts_on: Literal["sites", "all", "unknown"] = "unknown"
    adds_up: Literal["always", "moving", "never", "unknown"] = "unknown"
    felt: Literal["relative", "field", "turning", "unknown"] = "unknown"
    carried: bool = False
    swapped: int | None = None
    points: bool = False


#: All kinds; the tests compare these traits with what the kernels do.
KINDS: dict[ElementKind, KindTraits] = {
    "uniform": KindTraits((0, 1, 2), (), "all", "always", "field", carried=True),
    "pair": KindTraits(
        (0, 2), (0,), "sites", "always", "relative", carried=True, swapped=0, points=True
    ),
    "coordinate": KindTraits((0, 2, 3), (0,), "sites", "always", "relative"),
    "push": KindTraits((0, 1, 2, 3, 4, 5), (0, 1), "sites", "always", "field", carried=True),
    "callback": KindTraits(adds_up="never"),  # it refers to bodies by name
    "stop": KindTraits(None, (), "sites", "always", "relative"),
    "dipoles": KindTraits((0, 1, 2), (0,), "sites", "always", "relative", carried=True, swapped=3),
    "image": KindTraits((1,), (), "sites", "always", "relative", carried=True),
    "planet dipole": KindTraits((10, 11, 12), (), "sites", "always", "field", carried=True),
    # linear in mass, so it adds up; the energy of members attached to the ground would be lost
    "hill": KindTraits(None, (), "all", "moving", "turning", carried=True),
    # of second order in the size of each body, which is not that of the cluster
    "planet": KindTraits(None, (), "all", "never", "field", carried=True),
    "charges": KindTraits(
        (0,), (0,), "sites", "always", "relative", carried=True, swapped=1, points=True
    ),
    "bushing": KindTraits(tuple(range(42)), (), "sites", "always", "relative", carried=True),
    "wheel": KindTraits((0, 1, 2), (0,), "sites", "always", "field", carried=True),
    "law": KindTraits(None, (), "sites", "always", "unknown"),
    "stretch": KindTraits((), (), "sites", "always", "relative", points=True),
    "joint law": KindTraits(None, (), "sites", "always", "relative"),
    "servo": KindTraits((0, 2, 3), (), "sites", "always", "relative"),
    "tape": KindTraits((0, 2, 4, 5, 6, 7), (), "sites", "always", "relative"),
    "motor": KindTraits((0,), (0,), "sites", "always", "relative"),
}


def kinds_where(true: Callable[[KindTraits], bool]) -> tuple[int, ...]:
    """The numbers of those kinds for which a predicate is true; raises an error if `KINDS` lacks a
    kind."""
    return tuple(k for k, kind in enumerate(ELEMENT_KINDS) if true(KINDS[kind]))


class ForceTraits(NamedTuple):
    """The traits that a class of forces declares in addition to its elements.

    on_joints: "alike", its load on a joint follows from its fields and the coordinates of that
    joint alone, the same for all joints; "unknown".
    energy: "none", it never stores any; "unknown"."""

    on_joints: Literal["alike", "unknown"] = "unknown"
    energy: Literal["none", "unknown"] = "unknown"


class Force(Part):
    """Base of all forces. A subclass defines `load`, or `potential`, and annotates its fields::

        class Wind(qp.Force):
            sail: qp.Body
            strength: float
            def load(self, at):
                return {self.sail: qp.Wrench(force=(self.strength * at.t, 0.0, 0.0))}

    A load may depend on time, poses and velocities. A potential U [J] may depend on time and poses:
    force and torque are its negative gradient, computed by differences of the pose (relative error
    about 1e-10 where U changes over 0.1 m or more) unless `load` is defined as well. A force with
    only a load has no potential energy: all of its power counts as work."""

    unknown_traits: ClassVar[ForceTraits] = ForceTraits()

    name: str = checked(text)

    @property
    def traits(self) -> ForceTraits:
        """The traits of this force; for a user's class all unknown, unless it declares them."""
        return self.unknown_traits

    def elements(self) -> tuple[Element, ...]:
        """The elementary loads of this force."""
        return (Element("callback"),)

    def elements_among(self, joints: Sequence[BaseJoint]) -> tuple[Element, ...]:
        """The elements of a force that acts on all existing joints, including those that may become
        active later."""
        return self.elements()

    def value_of(self, field: str) -> Any:
        """The value of a field; where it was left to a default that follows from other parts, what
        that is."""
        return getattr(self, field)

    def load(self, at: MotionView) -> Mapping[Body, Wrench]:
        """The wrench on each body that it acts on, reactions included."""
        raise self.refuse("load() is not defined; the force is the gradient of its potential().")

    def potential(self, at: MotionView) -> float:
        """Potential energy [J]."""
        return 0.0

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        if not any(cls.overrides(method) for method in ("elements", "load", "potential")):
            raise TypeError(
                f"{cls.__name__}: a force defines load(self, at) or potential(self, at)."
            )

    @classmethod
    def overrides(cls, method: Literal["elements", "load", "potential"]) -> bool:
        """Whether this class itself defines the method."""
        return getattr(cls, method) is not getattr(Force, method)

    def gives(self, method: Literal["elements", "load", "potential"]) -> bool:
        """Whether this force has the method; a class for which that depends on its fields overrides
        this."""
        return self.overrides(method)
