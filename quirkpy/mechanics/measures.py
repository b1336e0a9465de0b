"""Measurable quantities of a system by name: the one list used by runs, tables, events and linear
models.

A name is that of the whole system ("centre_of_mass"), or of a part and its quantity ("hinge.angle",
"arm.position"), optionally followed by a component ("arm.position.z")."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from quirkpy.kernels.act.measures import (
    COORDINATE_NUMBER,
    ELEMENT_LENGTH,
    ELEMENT_PULL,
    ELEMENT_PUSH,
    SITE_NUMBER,
    STATE_NUMBER,
    Measures,
    measures_along,
)
from quirkpy.kernels.act.wrenches import INTO, LOST, OUT, PROJECTED
from quirkpy.kernels.base.arrays import POSITION, SPIN, VELOCITY, Joints, Sites
from quirkpy.kernels.base.states import (
    BODY_COLUMNS,
    NO_TAIL,
    attitudes_of,
    ledger_of,
    positions_of,
    spins_of,
    velocities_of,
    with_ledger,
    zero_vectors,
)
from quirkpy.kernels.place.kinematics import ground_frames, sites_along
from quirkpy.kernels.users.packing import pack, sites_and_modes, sites_known, sites_of
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.bending import modes_of
from quirkpy.mechanics.courses import (
    centres_along,
    coordinates_along,
    inertias_along,
    instants,
    kinetic_along,
    loads_along,
    momenta_along,
    potential_along,
    with_tails,
)
from quirkpy.mechanics.holding import Holders
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.sensing import read_sensor
from quirkpy.parts.beam import Beam
from quirkpy.parts.body import Site
from quirkpy.parts.part import PartError, parts_within
from quirkpy.tables.tables import CALLBACK, PAIR, STOP, STRETCH, Selection, Tables

XYZ = "x", "y", "z"
WXYZ = "w", "x", "y", "z"
WRENCH_PARTS = tuple(f"{what}.{axis}" for what in ("force", "torque") for axis in XYZ)
INERTIA_PARTS = tuple(a + b for a in XYZ for b in XYZ)
#: Number of similar names offered for an unknown one.
OFFERED = 3


#: One number: the kind, row and column of `kernels/act/measures.py`; or a site in place of the row.
Line: TypeAlias = tuple[int, int | Site, int]


class Portion:
    """Rows of a motion under one selection: t [s] (k,), states (k, nb + 1, STATE_WIDTH), angles
    [rad] (k, nc), which stops hold (k, ns) and their labels, tails of the states (k, tail)."""

    def __init__(
        self, selection: Selection, t: Floats, states: Floats, angles: Floats,
        held: Bools | None = None, labels: tuple[str, ...] = (), tails: Floats = NO_TAIL,
    ) -> None:  # fmt: skip
        self.selection, self.t, self.angles = selection, np.ascontiguousarray(t), angles
        self.states = np.ascontiguousarray(states)
        self.held = np.zeros((len(t), 0), dtype=bool) if held is None else held
        self.labels, self.tails = labels, tails

    @cached_property
    def whole(self) -> Floats:
        """The states as kernels take them, with their tails (k, ., STATE_WIDTH)."""
        return with_tails(self.selection.tables, self.states, self.tails)

    def instants(self) -> Iterator[Instant]:
        """Each row as an `Instant`, for evaluations in Python."""
        return instants(self.selection, self.t, self.states, self.angles, self.tails)

    @cached_property
    def holders(self) -> Holders:
        """The loads of joints and stops along it."""
        return Holders(
            self.selection, self.t, self.states, self.angles, self.held, self.labels, self.tails
        )


class Measure(NamedTuple):
    """A measurable quantity: its unit; a function for its values at each row of a motion (k, ...);
    names of its components, none for a plain number; their shape; a line for each component that
    compiled code can evaluate at one state; whether it depends on the active parts; and whether it
    responds to loads immediately, as reactions do."""

    unit: str
    along: Callable[[Portion], Floats]
    parts: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    lines: tuple[Line, ...] = ()
    acts: bool = False
    at_once: bool = False

    def component(self, part: str) -> Measure:
        """One component of it."""
        k = self.parts.index(part)
        return Measure(
            self.unit, lambda at: self.along(at).reshape(len(at.t), -1)[:, k],
            lines=self.lines[k : k + 1], acts=self.acts, at_once=self.at_once,
        )  # fmt: skip


_made: WeakKeyDictionary[Tables, dict[str, Measure]] = WeakKeyDictionary()


def measures_in(tables: Tables) -> dict[str, Measure]:
    """All measurable quantities of a system, by name, made once."""
    made = _made.get(tables)
    if made is None:
        made = _made[tables] = dict(
            (*_of_whole(), *_of_bodies(tables), *_of_joints(tables), *_of_forces(tables),
             *_of_sensors(tables), *_of_sites(tables))
        )  # fmt: skip
    return made


def measure_of(who: str, tables: Tables, name: object) -> Measure:
    """The measure with a given name; an error with similar names where there is none."""
    known = measures_in(tables)
    if isinstance(name, str):
        if name in known:
            return known[name]
        for whole in known:
            part = name[len(whole) + 1 :]
            if name.startswith(f"{whole}.") and part in known[whole].parts:
                return known[whole].component(part)
    raise PartError(f"{who}: {unknown_measure(tables, name)}", code="name")


def has_part_acting(selection: Selection, name: str) -> bool:
    """Whether a name measures a quantity of an active force."""
    names = selection.tables.force_names
    return any(name.startswith(f"{names[f]}.") for f in selection.forces)


def unknown_measure(tables: Tables, name: object) -> str:
    """The end of an error message for a name that is no measure."""
    known = measures_in(tables)
    names = [*known, *(f"{whole}.{part}" for whole, m in known.items() for part in m.parts)]
    near = difflib.get_close_matches(str(name), names, OFFERED, 0.5)
    told = f"the nearest are {', '.join(map(repr, near))}"
    way = f"{told}." if near else "system.measures lists them."
    return f"nothing that can be measured is called {name!r}; {way}"


# --- of the whole ---------------------------------------------------------------------------------
def _of_whole() -> Iterator[tuple[str, Measure]]:
    yield "kinetic", Measure("J", kinetic_of)
    yield "potential", Measure("J", potential_of, acts=True)
    yield "energy", Measure("J", _energy, acts=True)
    for name, column in LEDGER.items():
        yield name, Measure("J", partial(_ledger, column))
    yield "centre_of_mass", Measure("m", _centre, XYZ, (3,))
    yield "inertia", Measure("kg m2", _inertia, INERTIA_PARTS, (3, 3))
    yield "momentum", Measure("kg m/s", lambda at: _momenta(at)[0], XYZ, (3,))
    yield "angular_momentum", Measure("kg m2/s", lambda at: _momenta(at)[1], XYZ, (3,))


#: Columns of the ledger of energy, by name.
LEDGER = {"work": INTO, "dissipated": OUT, "lost": LOST, "projected": PROJECTED}


def _ledger(column: int, at: Portion) -> Floats:
    return ledger_of(at.states)[:, column]


def _every(at: Portion) -> Ints:
    return np.arange(at.selection.tables.n_bodies)


def potential_of(at: Portion) -> Floats:
    """Potential energy of all forces that have one, and of strain [J] at each row (k,)."""
    return potential_along(at.selection, at.t, at.states, at.angles, at.tails)


def _energy(at: Portion) -> Floats:
    return kinetic_of(at) + potential_of(at)


def kinetic_of(at: Portion) -> Floats:
    """Kinetic energy relative to N [J] at each row (k,)."""
    return kinetic_along(at.selection, at.states, at.tails)


def _centre(at: Portion) -> Floats:
    return centres_along(at.selection, _every(at), at.states, at.tails)


def _inertia(at: Portion) -> Floats:
    return inertias_along(at.selection, _every(at), at.states, at.tails)


def _momenta(at: Portion) -> tuple[Floats, Floats]:
    return momenta_along(at.selection, _every(at), at.states, at.tails)


# --- of bodies and sites --------------------------------------------------------------------------
def _of_bodies(tables: Tables) -> Iterator[tuple[str, Measure]]:
    kinds = (
        ("position", "m", positions_of, XYZ),
        ("orientation", "1", attitudes_of, WXYZ),
        ("velocity", "m/s", velocities_of, XYZ),
        ("angular_velocity", "rad/s", spins_of, XYZ),
    )
    for k, body in enumerate(tables.body_names):
        for what, unit, view, parts in kinds:
            first = BODY_COLUMNS[what]
            lines: tuple[Line, ...] = tuple((STATE_NUMBER, k, first + n) for n in range(len(parts)))
            along = partial(_of_body, k, view)
            yield f"{body}.{what}", Measure(unit, along, parts, (len(parts),), lines)
        yield from _of_bending(k, body, tables)


def _of_bending(k: int, name: str, tables: Tables) -> Iterator[tuple[str, Measure]]:
    """What a body that bends has further: modes and their rates, and the tip of a beam."""
    model = tables.bodies[k].modal
    if model is None or not model.count:
        return
    parts = tuple(map(str, range(model.count)))
    for n, what in enumerate(("modes", "mode_rates")):
        unit = ("m kg^0.5", "m kg^0.5/s")[n]
        yield f"{name}.{what}", Measure(unit, partial(_amounts, k, n), parts, (model.count,))
    if isinstance(tables.bodies[k], Beam):
        yield f"{name}.tip", Measure("m", partial(_amounts, k, 2), XYZ, (3,))


def _amounts(k: int, which: int, at: Portion) -> Floats:
    return np.asarray(modes_of(at.selection.tables, k, at.tails)[which])


def _of_body(k: int, view: Callable[[Floats], Floats], at: Portion) -> Floats:
    return view(at.states[:, k])


def _of_sites(tables: Tables) -> Iterator[tuple[str, Measure]]:
    """Sites at which parts act, by body and name; of several with equal names the first."""
    found: dict[str, Site] = {}
    for part in (*tables.joints, *tables.forces, *tables.sensors):
        for site in parts_within(part):
            if isinstance(site, Site) and site.body.name in tables.body_index:
                found.setdefault(f"{site.body.name}.{site.name}", site)
    kinds = (
        ("position", "m", slice(POSITION, VELOCITY), 0),
        ("velocity", "m/s", slice(VELOCITY, VELOCITY + 3), 3),
        ("angular_velocity", "rad/s", slice(SPIN, SPIN + 3), 6),
    )
    names = [site.name for site in found.values()]
    for title, site in found.items():
        for what, unit, columns, first in kinds:
            lines: tuple[Line, ...] = tuple((SITE_NUMBER, site, first + n) for n in range(3))
            made = Measure(unit, partial(_of_site, site, columns), XYZ, (3,), lines)
            yield f"{title}.{what}", made
            if names.count(site.name) == 1 and not _is_taken(tables, site.name):
                yield f"{site.name}.{what}", made


def _is_taken(tables: Tables, name: str) -> bool:
    """Whether another part has this name."""
    others = (tables.body_index, tables.joint_index, tables.force_index)
    return any(name in some for some in others) or any(s.name == name for s in tables.sensors)


def _of_site(site: Site, columns: slice, at: Portion) -> Floats:
    t = at.selection.tables
    sites, modes = sites_and_modes([site], t)
    which, n = np.zeros(1, dtype=np.int64), t.n_bodies
    return sites_along(at.whole, which, sites, modes, n)[:, 0, columns]


# --- of joints ------------------------------------------------------------------------------------
def _of_joints(tables: Tables) -> Iterator[tuple[str, Measure]]:
    for j, joint in enumerate(tables.joints):
        first, names = int(tables.joint_coordinate[j]), [c.name for c in joint.coordinates]
        for k, c in enumerate(joint.coordinates):
            unit = "rad" if c.kind == "angle" else "m"
            rate = f"{joint.name}.{c.name}.rate" if len(names) > 1 else f"{joint.name}.rate"
            yield f"{joint.name}.{c.name}", _of_coordinate(unit, first + k, 0)
            yield rate, _of_coordinate(f"{unit}/s", first + k, 1)
        if len(names) > 1:
            which = np.arange(first, first + len(names))
            along = partial(_coordinates, which)
            yield f"{joint.name}.rate", Measure("1/s", along, tuple(names), (len(names),))
        for what, columns in (("reaction", slice(0, 6)), ("load", slice(6, 12))):
            along = partial(_load_of_joint, joint.name, columns)
            yield (
                f"{joint.name}.{what}",
                Measure("N, N m", along, WRENCH_PARTS, (6,), acts=True, at_once=True),
            )
        yield f"{joint.name}.gap", Measure("1", partial(_gap, joint.name), acts=True)
        if joint.elements():
            yield f"{joint.name}.press", _of_press(joint.name)


def _of_coordinate(unit: str, c: int, column: int) -> Measure:
    which = np.array([c])

    def along(at: Portion) -> Floats:
        made = coordinates_along(at.selection.tables, which, at.whole, at.angles)
        return made[:, 0, column]

    return Measure(unit, along, lines=((COORDINATE_NUMBER, c, column),))


def _coordinates(which: Ints, at: Portion) -> Floats:
    """Rates of several coordinates."""
    return coordinates_along(at.selection.tables, which, at.whole, at.angles)[:, :, 1]


def _load_of_joint(name: str, columns: slice, at: Portion) -> Floats:
    return at.holders.load(name)[:, columns]


def _gap(name: str, at: Portion) -> Floats:
    return at.holders.gap(name)


def _of_press(name: str) -> Measure:
    def along(at: Portion) -> Floats:
        return at.holders.press(name)

    return Measure("N", along, acts=True, at_once=True)


# --- of forces ------------------------------------------------------------------------------------
def _of_forces(tables: Tables) -> Iterator[tuple[str, Measure]]:
    for f, force in enumerate(tables.forces):
        mine = range(int(tables.force_element[f]), int(tables.force_element[f + 1]))
        kinds = {int(tables.element_kind[e]) for e in mine}
        if kinds == {STOP}:
            yield f"{force.name}.press", _of_press(force.name)
            continue
        yield f"{force.name}.energy", Measure("J", partial(_energy_of_force, f), acts=True)
        if (kinds == {PAIR} and len(mine) == 1) or kinds == {PAIR, STRETCH}:
            e = mine[0]
            yield f"{force.name}.length", _of_element("m", (ELEMENT_LENGTH, e, 0), f)
            yield f"{force.name}.length.rate", _of_element("m/s", (ELEMENT_LENGTH, e, 1), f)
            yield f"{force.name}.tension", _of_element("N", (ELEMENT_PULL, e, 0), f, acts=True)
        if len(mine) == 1 and tables.element_coordinate[mine[0]] >= 0 and CALLBACK not in kinds:
            line = (ELEMENT_PUSH, mine[0], 0)
            yield f"{force.name}.load", _of_element("N", line, f, acts=True)
        else:
            yield f"{force.name}.load", _of_load(tables, f, list(mine))


def _of_load(tables: Tables, f: int, mine: list[int]) -> Measure:
    """The load of a force on its body, on the second of two, or on all."""
    ends = [tables.element_site1[mine], tables.element_site2[mine], tables.element_site3[mine]]
    on = {int(tables.site_body[s]) for some in ends for s in some if s >= 0}
    on.discard(tables.n_bodies)
    if len(on) == 1 or (len(mine) == 1 and tables.element_site2[mine[0]] >= 0 and on):
        last = tables.element_site2[mine[0]] if len(on) > 1 else -1
        body = int(tables.site_body[last]) if last >= 0 else on.pop()
        if body < tables.n_bodies:
            along = partial(_load_on, f, body)
            return Measure("N, N m", along, WRENCH_PARTS, (6,), acts=True)
    names = tables.body_names
    parts = tuple(f"{name}.{part}" for name in names for part in WRENCH_PARTS)
    return Measure("N, N m", partial(force_loads, f), parts, (len(names), 6), acts=True)


def _elements(f: int, selection: Selection) -> Ints:
    """The active elements of a force."""
    return selection.elements[selection.tables.element_force[selection.elements] == f]


def _own(f: int, at: Portion) -> tuple[Floats, Floats]:
    return loads_along(at.selection, _elements(f, at.selection), at.t, at.whole, at.angles)


def force_loads(f: int, at: Portion) -> Floats:
    """Force and torque of force f on each moving body, about its mass centre in N (k, nb, 6)."""
    return _own(f, at)[0]


def _load_on(f: int, body: int, at: Portion) -> Floats:
    return force_loads(f, at)[:, body]


def _energy_of_force(f: int, at: Portion) -> Floats:
    return _own(f, at)[1]


def _of_element(unit: str, line: Line, f: int, acts: bool = False) -> Measure:
    def along(at: Portion) -> Floats:
        if acts and not len(_elements(f, at.selection)):
            return np.zeros(len(at.t))
        return compiled_along(at, [line])[:, 0]

    return Measure(unit, along, lines=(line,), acts=acts)


# --- of sensors -----------------------------------------------------------------------------------
def _of_sensors(tables: Tables) -> Iterator[tuple[str, Measure]]:
    for k, sensor in enumerate(tables.sensors):
        for what, unit in (("signal", "1"), ("distance", "m"), ("misalignment", "rad")):
            yield f"{sensor.name}.{what}", Measure(unit, partial(_of_sensor, k, what))


def _of_sensor(k: int, what: str, at: Portion) -> Floats:
    return np.array([float(getattr(read_sensor(row, k), what)) for row in at.instants()])


# --- compiled -------------------------------------------------------------------------------------
#: A constant for runs that use no sites of their own, as every run creates measures.
NO_SITES = sites_of([], {}, 0)


def kernel_measures(tables: Tables, lines: list[Line]) -> Measures:
    """Lines as arrays for the kernels."""
    what, sites = [], list[Site]()
    for kind, row, column in lines:
        if isinstance(row, Site):
            sites.append(row)
            row = len(sites) - 1
        what.append((kind, row, column))
    places = sites_known(sites, tables) if sites else NO_SITES
    rows = tables.n_bodies + len(pack(tables).modes.stations) + 1
    return _measures(np.array(what, dtype=np.int64).reshape(-1, 3), places, rows)


def _measures(what: Ints, places: Sites, bodies: int) -> Measures:
    """Measures with working memory of their own."""
    sites = Sites(np.asarray(places.body), np.asarray(places.place, dtype=float))
    one = np.zeros(1, dtype=np.int64)
    return Measures(what, sites, one, zero_vectors(bodies), np.zeros(1), np.zeros(2))


#: For runs without measures; shared, since it is never written to.
NO_MEASURES = _measures(np.zeros((0, 3), dtype=np.int64), NO_SITES, 0)


def compiled_along(at: Portion, lines: list[Line]) -> Floats:
    """The values of lines at each row of a motion (k, n)."""
    packed, out = pack(at.selection.tables), np.zeros((len(at.t), len(lines)))
    joints = Joints(packed.ends, packed.coordinates, np.zeros(at.angles.shape[1]))
    measures_along(
        at.t, at.whole, packed.modes, at.angles, kernel_measures(at.selection.tables, lines),
        packed.elements, joints, packed.schedules, packed.bodies, packed.sites,
        ground_frames(at.selection.tables.n_bodies + len(packed.modes.stations)), out,
    )  # fmt: skip
    return out


def value_at(measure: Measure, at: Any) -> Floats:
    """The value of a measure at a single `Instant`."""
    states = with_ledger(at.state)[None]
    held, tails = np.ones((1, len(at.held)), dtype=bool), at.further[None]
    one = Portion(at.selection, np.array([at.t]), states, at.near[None], held, at.held, tails)
    return np.asarray(measure.along(one)[0])
