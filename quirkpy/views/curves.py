"""A run as curves: arrays with names and units, for any painter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from quirkpy.explore.answers.replay import Replay
from quirkpy.kernels.base.states import angular_of, linear_of, quantities_of, zero_vectors
from quirkpy.maths.types import Floats
from quirkpy.maths.warnings import deg
from quirkpy.mechanics.impulses import shocks
from quirkpy.motion.joined import JoinedTrajectory
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import show
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.magnets import holding_power
from quirkpy.parts.part import PartError

Chart: TypeAlias = Literal[
    "joints",
    "energy",
    "power",
    "states",
    "momenta",
    "drift",
    "reactions",
    "impulses",
    "phase",
    "commands",
]
#: Bounds of the number of rows of a page: a run that stored fewer is sampled, one that stored more
#: is thinned.
FEWEST, MOST = 400, 4000
#: Largest number of bodies or joints with a column of their own, and of curves in one panel.
COLUMNS, LINES = 6, 8
#: The name of a switch is shown if this share of the time of the run is free for it.
ROOM_FOR_NAME = 0.08
#: In curves and tables of forces a number smaller than this share of the largest one is rounding,
#: and not shown [1].
SHOWN_ROUNDING = 1e-12
RAISED = str.maketrans(
    "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)
#: Units of fields that may be commanded.
UNITS = {"force": "N", "thrust": "N", "torque": "N m", "momentum": "N m s"}
#: Units of angles and of their rates, with a prefix.
RADIANS = re.compile(r"\[(\D?)rad\b")
PREFIXES = (
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "\u00b5"),
    (1e-9, "n"),
    (1e-12, "p"),
)


class Line(NamedTuple):
    """A curve: its name, and a value at each x of its panel (k,); nan where there is none."""

    name: str
    values: Floats


class Panel(NamedTuple):
    """Curves over one axis.

    x (k,), its label and that of the values, with units; moments: events to be marked; kind: a
    "line", a "log" scale, "bars" from zero, or an "orbit" with a coordinate on both axes."""

    title: str
    x_label: str
    y_label: str
    x: Floats
    lines: tuple[Line, ...]
    moments: tuple[tuple[float, str], ...] = ()
    kind: Literal["line", "log", "bars", "orbit"] = "line"


class Sheet(NamedTuple):
    """Panels in rows of a given length."""

    panels: tuple[Panel, ...]
    columns: int


def sheet_of(
    run: Trajectory, what: Sequence[Chart] = (), of: Sequence[str] | None = None,
    degrees: bool = False,
) -> Sheet:  # fmt: skip
    """All panels of some charts, one below the other; by default joints, if there are any, and
    energy. degrees: angles and their rates in degrees."""
    if isinstance(of, str):
        raise PartError(f"plot: of is {of!r}, but must be a list of names, such as [{of!r}].")
    for word in what:
        if word not in CHARTS:
            raise PartError(f"plot: {show(word)} is none of {', '.join(map(repr, CHARTS))}.")
    usual: tuple[Chart, ...] = ("joints", "energy") if coordinates_of(run) else ("energy",)
    chosen = tuple(what) or usual
    made = [CHARTS[word](run if word == "drift" else readable(run), of) for word in chosen]
    columns = {sheet.columns for sheet in made}
    if len(columns) > 1:
        raise PartError(
            f"plot: {', '.join(chosen)} do not fit on one page; ask for one of them at a time.",
            code="answer",
        )
    panels = (panel for sheet in made for panel in sheet.panels)
    return Sheet(tuple(map(in_degrees, panels) if degrees else panels), columns.pop())


# --- rows and units -------------------------------------------------------------------------------
def readable(run: Trajectory) -> Trajectory:
    """The run with FEWEST to about MOST states."""
    span = float(run.t[-1] - run.t[0])
    dense = run.sampled(span / FEWEST) if span > 0.0 and len(run.t) < MOST else run
    return dense.over(thin)


def thin(run: Trajectory) -> Trajectory:
    """At most MOST of its states, evenly spaced, with both ends."""
    if len(run.t) <= MOST:
        return run
    rows = np.unique(np.linspace(0, len(run.t) - 1, MOST).round().astype(int))
    c = run.course
    held = c.held[rows] if c.stops else c.held
    course = c._replace(
        t=c.t[rows], states=c.states[rows], angles=c.angles[rows], drift=c.drift[rows], held=held,
        tail=c.tail[rows] if c.tail.size else c.tail,
    )  # fmt: skip
    return Trajectory(run.system, run.start, run.settings, course)


def prefix_unit(unit: str, *values: Floats) -> tuple[float, str]:
    """The divisor of values, and their unit after division, such that the largest lies between 1
    and 1000."""
    largest = max(
        (float(np.nanmax(abs(v))) for v in values if len(v) and not np.isnan(v).all()), default=0.0
    )
    factor, prefix = next(((f, p) for f, p in PREFIXES if largest >= 0.9999 * f), (1.0, ""))
    return factor, prefix + unit


def in_degrees(panel: Panel) -> Panel:
    """A panel whose angles are in degrees; others as they are."""
    (by_x, x_label), (by_y, y_label) = map(degrees_in, (panel.x_label, panel.y_label))
    lines = tuple(Line(line.name, by_y * line.values) for line in panel.lines)
    return panel._replace(x=by_x * panel.x, x_label=x_label, y_label=y_label, lines=lines)


def degrees_in(label: str) -> tuple[float, str]:
    """The factor from the unit of a label to degrees, and the label with these; 1 and the label
    where its unit has no angle."""
    found = RADIANS.search(label)
    if found is None:
        return 1.0, label
    factor = next(f for f, prefix in PREFIXES if prefix == found[1])
    return factor / deg, label.replace(found[0], "[deg")


def panel(
    title: str, quantity: str, unit: str, t: Floats, lines: Sequence[Line], run: Trajectory
) -> Panel:
    """Values over time, in a suitable unit."""
    factor, named = prefix_unit(unit, *(line.values for line in lines))
    scaled = tuple(Line(line.name, line.values / factor) for line in lines)
    return Panel(title, "time [s]", f"{quantity} [{named}]", t, scaled, moments_of(run))


def moments_of(run: Trajectory) -> tuple[tuple[float, str], ...]:
    """For a replay the times of selections; otherwise located events that are far enough apart."""
    if isinstance(run, Replay):
        found = [(leg.t, f"{leg.edge.source} \u2192 {leg.edge.target}") for leg in run.legs]
    else:
        found = [(event.t, event.name) for event in run.events]
    apart: list[tuple[float, str]] = []
    span = float(run.t[-1] - run.t[0])
    for t, name in found:
        if not apart or t - apart[-1][0] > ROOM_FOR_NAME * span:
            apart.append((t, name))
    return tuple(apart)


def of_axes(name: str, values: Floats, axes: str = "xyz") -> list[Line]:
    """A curve for each column (k, n)."""
    return [Line(f"{name} {axis}".strip(), values[:, i]) for i, axis in enumerate(axes)]


def some(
    kind: str, known: Sequence[str], of: Sequence[str] | None, most: int = COLUMNS
) -> list[str]:
    """The requested names; by default all, if there is room."""
    if of is None:
        if len(known) > most:
            raise PartError(
                f"plot: {len(known)} {kind} are too many for one page; name up to {most} of them "
                "with of=.",
                code="answer",
            )
        return list(known)
    unknown = [name for name in of if name not in known]
    if unknown:
        raise PartError(
            f"plot: of has {unknown[0]!r}, but the {kind} here are: {', '.join(known) or 'none'}.",
            code="name",
        )
    return list(of)


def each(run: Trajectory) -> Iterator[tuple[slice, Trajectory]]:
    """The pieces of a run with their rows in it; for a plain run the run itself."""
    return (
        run.stretches()
        if isinstance(run, JoinedTrajectory)
        else iter([(slice(0, len(run.t)), run)])
    )


# --- charts ---------------------------------------------------------------------------------------
def energy(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """The ledger: energies, work and losses."""
    lines = [
        Line("kinetic", run.kinetic),
        Line("potential", run.potential),
        Line("kinetic + potential", run.energy),
        Line("dissipated", run.dissipated),
    ]
    more = [Line("put in by loads", run.work), Line("taken by joints", run.lost)]
    if isinstance(run, JoinedTrajectory):
        more.insert(1, Line("put in by switching", run.switched))
    lines += [line for line in more if line.values.any()]
    return Sheet((panel("Energy", "energy", "J", run.t, lines, run),), 1)


def power(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """The power supplied by the spacecraft, and that dissipated by dampers; for a run with switches
    also the work of each, and the energy consumed as joints and latches switch."""
    lines = [Line("supplied", supply(run)), Line("taken by dampers", rate(run.t, run.dissipated))]
    panels = [panel("Power", "power", "W", run.t, lines, run)]
    if isinstance(run, JoinedTrajectory) and run.changes:
        panels += changing(run)
    if isinstance(run, JoinedTrajectory):
        work, at = (
            run.switchings[run.beginnings],
            run.t[[rows.start for rows, _ in run.stretches()]],
        )
        at = at[run.beginnings]
        panels.append(
            panel("Switching", "work", "J", at, [Line("of switching", work)], run)._replace(
                kind="bars"
            )
        )
    return Sheet(tuple(panels), 1)


def supply(run: Trajectory) -> Floats:
    """The power of the loads, and that for holding coils, at each row [W] (k,)."""
    if isinstance(run, Replay):
        return run.power
    out = rate(run.t, run.work)
    for rows, one in each(run):
        chosen = one.system.selection
        out[rows] += holding_power(chosen.tables.forces[k] for k in chosen.forces)
    return out


def changing(run: JoinedTrajectory) -> list[Panel]:
    """Energy consumed as joints become active and inactive: the energy so far, and the power of
    those that define one, with all its edges."""
    drawn = [Line("drawn by joints", run.changed)]
    made = [panel("Changing joints", "energy", "J", run.t, drawn, run)]
    spikes = [change for change in run.changes if change.power is not None]
    if spikes:
        edges = sorted({t for one in spikes for t in (one.t, one.t + one.lasts)})
        t = np.repeat(np.unique([*run.t[[0, -1]], *edges]), 2)
        before = np.arange(len(t)) % 2 == 0  # the first of two points at one time
        watts = np.zeros(len(t))
        for one in spikes:
            begun = np.where(before, t > one.t, t >= one.t)
            over = np.where(before, t > one.t + one.lasts, t >= one.t + one.lasts)
            watts += (one.power or 0.0) * (begun & ~over)
        made.insert(0, panel("Changing joints", "power", "W", t, [Line("drawn", watts)], run))
    return made


def rate(t: Floats, values: Floats) -> Floats:
    """The rate of a column of the ledger over each step; zero where no time passes."""
    dt, rise = np.diff(t), np.diff(values)
    slopes = np.where(dt > 0.0, rise / np.where(dt > 0.0, dt, 1.0), 0.0)
    return np.append(slopes[:1], slopes) if len(slopes) else np.zeros(len(t))


def states(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """Pose and motion of bodies, one column each."""
    names = some("bodies", run.start.bodies, of)
    panels = []
    for name in names:
        k, rows = run.start.bodies.index(name), run.course.states
        columns = (
            ("position", "m", "xyz"),
            ("orientation", "1", "wxyz"),
            ("velocity", "m/s", "xyz"),
            ("angular velocity", "rad/s", "xyz"),
        )
        for (quantity, unit, axes), values in zip(columns, quantities_of(rows[:, k]), strict=True):
            lines = of_axes(name if len(names) == 1 else "", values, axes)
            made = panel(name, quantity, unit, run.t, lines, run)
            panels.append(
                made if unit != "1" else made._replace(y_label="orientation", lines=tuple(lines))
            )
    n = len(names)
    return Sheet(tuple(panels[4 * i + j] for j in range(4) for i in range(n)), n)


def momenta(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """Momentum and angular momentum of all moving bodies, in N about its origin."""
    linear = panel("Momentum", "momentum", "kg m/s", run.t, of_axes("", run.momentum), run)
    angular = panel(
        "Angular momentum",
        "angular momentum",
        "kg m\u00b2/s",
        run.t,
        of_axes("", run.angular_momentum),
        run,
    )
    return Sheet((plain(linear, "kg m/s"), plain(angular, "kg m\u00b2/s")), 1)


def plain(made: Panel, unit: str) -> Panel:
    """The panel with powers of ten instead of a unit prefix, which would apply to the kilogram."""
    named = made.y_label.rpartition("[")[2].rstrip("]")
    factor = {p + unit: f for f, p in PREFIXES}[named]
    power_of_ten = round(float(np.log10(factor)))
    quantity = made.y_label.partition(" [")[0]
    exponent = str(power_of_ten).translate(RAISED)
    return made._replace(y_label=f"{quantity} [{f'10{exponent} ' if power_of_ten else ''}{unit}]")


def drift(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """The size of the projection at each step, and the imbalance of the ledger of energy."""
    balance = run.energy + run.dissipated + run.lost - run.work
    if isinstance(run, JoinedTrajectory):
        balance = balance - run.switched
    removed = [
        Line("of poses [m, rad]", run.drift[:, 0]),
        Line("of velocities [m/s, rad/s]", run.drift[:, 1]),
    ]
    off = [Line("off balance", abs(balance - balance[0]))]
    return Sheet(
        (
            logarithmic("Drift removed", "removed, each step", run, removed),
            logarithmic("Ledger", "energy [J]", run, off),
        ),
        1,
    )


def logarithmic(title: str, label: str, run: Trajectory, lines: Sequence[Line]) -> Panel:
    """A panel over the time of a run with a logarithmic scale."""
    positive = tuple(map(above_zero, lines))
    return Panel(title, "time [s]", label, run.t, positive, moments_of(run), "log")


def above_zero(line: Line) -> Line:
    """A line without the values that a logarithmic scale cannot show."""
    return Line(line.name, np.where(line.values > 0.0, line.values, np.nan))


def coordinates_of(run: Trajectory) -> list[tuple[str, str, int]]:
    """Coordinates of the joints that are active at any time: the joint, the kind, and the number
    within that kind."""
    found: dict[tuple[str, str, int], None] = {}
    for _, one in each(run):
        for joint in acting(one):
            kinds = ["angle" if c.kind == "angle" else "travel" for c in joint.coordinates]
            for i, kind in enumerate(kinds):
                found.setdefault((joint.name, kind, kinds[:i].count(kind)))
    return list(found)


def acting(run: Trajectory) -> list[BaseJoint]:
    """The joints that are active in a run."""
    tables = run.system.tables
    return [tables.joints[j] for j in run.system.selection.joints]


def follow(run: Trajectory, joint: str, kind: str, which: int) -> tuple[Floats, Floats]:
    """A coordinate and its rate at each row (k,); nan while its joint is inactive."""
    values, rates = np.full(len(run.t), np.nan), np.full(len(run.t), np.nan)
    for rows, one in each(run):
        part = next((part for part in acting(one) if part.name == joint), None)
        if part is not None:
            course, kinds = (
                one[joint],
                ["angle" if c.kind == "angle" else "travel" for c in part.coordinates],
            )
            column = np.asarray(course.angle if kind == "angle" else course.travel).reshape(
                len(one.t), -1
            )
            place = [i for i, other in enumerate(kinds) if other == kind][which]
            values[rows] = column[:, which]
            rates[rows] = np.asarray(course.rate).reshape(len(one.t), -1)[:, place]
    return values, rates


def _coordinates(
    run: Trajectory, of: Sequence[str] | None, most: int
) -> list[tuple[str, str, int]]:
    every = coordinates_of(run)
    if not every:
        raise PartError("plot: no joint here has a coordinate.", code="answer")
    names = some("joints", list(dict.fromkeys(joint for joint, _, _ in every)), of, most)
    return [entry for entry in every if entry[0] in names]


def coordinate_label(entry: tuple[str, str, int], every: Sequence[tuple[str, str, int]]) -> str:
    """The label of a coordinate: its joint, with a number if that has several of a kind."""
    joint, kind, which = entry
    several = sum(other[:2] == (joint, kind) for other in every) > 1
    return f"{joint} {which + 1}" if several else joint


def joints(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """Coordinates of joints and their rates."""
    chosen, panels = _coordinates(run, of, LINES), []
    for kind, unit in (("angle", "rad"), ("travel", "m")):
        mine = [entry for entry in chosen if entry[1] == kind]
        if mine:
            both = [follow(run, *entry) for entry in mine]
            for i, (word, per) in enumerate(((kind, unit), (f"rate of {kind}", f"{unit}/s"))):
                lines = [
                    Line(coordinate_label(entry, chosen), pair[i])
                    for entry, pair in zip(mine, both, strict=True)
                ]
                panels.append(panel("Joints", word, per, run.t, lines, run))
    return Sheet(tuple(panels), 1)


def phase(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """The rate of each coordinate over the coordinate."""
    chosen, panels = _coordinates(run, of, COLUMNS), []
    for entry in chosen:
        unit = "rad" if entry[1] == "angle" else "m"
        values, rates = follow(run, *entry)
        (f, across), (g, up) = prefix_unit(unit, values), prefix_unit(f"{unit}/s", rates)
        line = (Line(coordinate_label(entry, chosen), rates / g),)
        labels = f"{entry[1]} [{across}]", f"rate of {entry[1]} [{up}]"
        panels.append(Panel(line[0].name, *labels, values / f, line, (), "orbit"))
    return Sheet(tuple(panels), min(len(panels), 3))


def reactions(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """Force and torque of each joint on its second body, in the axes of the joint."""
    known = list(dict.fromkeys(joint.name for _, one in each(run) for joint in acting(one)))
    if not known:
        raise PartError("plot: there are no joints here.", code="answer")
    names, panels = some("joints", known, of), []
    every = np.full(zero_vectors(len(names), len(run.t)).shape, np.nan)
    for rows, one in each(run):
        for i, name in enumerate(names):
            if any(joint.name == name for joint in acting(one)):
                every[i, rows] = one[name].load
    every[abs(every) < SHOWN_ROUNDING * np.nanmax(abs(every))] = 0.0
    for name, loads in zip(names, every, strict=True):
        alone = name if len(names) == 1 else ""
        panels.append(panel(name, "force", "N", run.t, of_axes(alone, linear_of(loads)), run))
        panels.append(panel(name, "torque", "N m", run.t, of_axes(alone, angular_of(loads)), run))
    n = len(names)
    return Sheet(tuple(panels[2 * i + j] for j in range(2) for i in range(n)), n)


def commands(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """The commands of controllers, a panel for each drive: a step at each sample."""
    records = {record.name: record for record in run.course.records}
    if not records:
        raise PartError("plot: there are no controllers here.", code="answer")
    panels = []
    for name in some("controllers", list(records), of, LINES):
        record = records[name]
        ends = np.append(record.t[1:], run.t[-1])
        t = np.stack([record.t, ends], axis=1).ravel()
        for drive, values in zip(record.drives, record.command, strict=True):
            steps = np.repeat(values.reshape(len(record.t), -1), 2, axis=0)
            quantity = drive.rpartition(".")[2]
            lines = of_axes(drive, steps) if values.ndim > 1 else [Line(drive, steps[:, 0])]
            unit = UNITS.get(quantity, "1")
            panels.append(panel(f"{name}: {drive}", quantity, unit, t, lines, run))
    return Sheet(tuple(panels), 1)


def impulses(run: Trajectory, of: Sequence[str] | None = None) -> Sheet:
    """The largest impulse of each joint and stop on any body, wherever velocities jumped."""
    known = list(dict.fromkeys(impact.joint for impact in run.impacts))
    if not known:
        raise PartError(
            "plot: no velocity jumps in this run, so there are no impulses.", code="answer"
        )
    names, times = some("joints", known, of, LINES), np.unique([one.t for one in run.impacts])
    sizes = {name: np.full((2, len(times)), np.nan) for name in names}
    for t in times:
        given = shocks(tuple(one for one in run.impacts if one.t == t and one.joint in sizes))
        for name, shock in given.items():
            sizes[name][:, times == t] = np.array(shock)[:, None]
    made = []
    for i, (word, unit) in enumerate((("force impulse", "N s"), ("couple impulse", "N m s"))):
        lines = [Line(name, both[i]) for name, both in sizes.items()]
        made.append(panel("Impulses", word, unit, times, lines, run)._replace(kind="bars"))
    return Sheet(tuple(made), 1)


CHARTS: dict[Chart, Callable[[Trajectory, Sequence[str] | None], Sheet]] = {
    "joints": joints, "energy": energy, "power": power, "states": states, "momenta": momenta,
    "drift": drift, "reactions": reactions, "impulses": impulses, "phase": phase,
    "commands": commands,
}  # fmt: skip
assert tuple(CHARTS) == get_args(Chart)
