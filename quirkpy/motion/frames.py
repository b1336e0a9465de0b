"""`Frames`: instants of a motion so close together that it is linear between two of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from quirkpy.kernels.base.states import state_rows
from quirkpy.maths.types import Floats
from quirkpy.mechanics.bent_lines import bent_lines, poses_of
from quirkpy.mechanics.engine import ropes_in
from quirkpy.motion.course import Waits
from quirkpy.parts.joint import COORDINATE_UNITS
from quirkpy.tables.tables import Tables

if TYPE_CHECKING:
    from quirkpy.mechanics.state import State
    from quirkpy.motion.trajectory import Trajectory

#: The end of the name of a curve of tension.
TENSION = " tension [N]"
#: Largest number of times that a step of a run is halved.
HALVINGS = 8
#: Steps that are a smaller share of a run have no frames within.
BRIEF = 1e-9
#: Kinetic energy between two frames deviates by no more than this share of its range in a run, or
#: by this share of its maximum, whichever is more.
SHARE_OF_RANGE, SHARE_OF_MOST = 0.01, 1e-3
#: Where between two frames this is checked.
QUARTERS = (0.25, 0.5, 0.75)
#: If a run keeps one state in more steps than this, the states between are recomputed.
SPARSE = 2


class Frames(NamedTuple):
    """Instants of a motion; where two follow each other at the same time, bodies (n of them) snap
    into another pose.

    t [s] (k,); r [m] (k, n, 3) and q, w x y z (k, n, 4): poses; kinetic, potential, work,
    dissipated [J] (k,), the last two since the motion began; joints: coordinates and tensions of
    strings [as the name says] (k,), nan while a joint or a string does not act."""

    t: Floats
    r: Floats
    q: Floats
    kinetic: Floats
    potential: Floats
    work: Floats
    dissipated: Floats
    joints: dict[str, Floats]


class Closeness(NamedTuple):
    """How far the way between two frames may lie off the straight one: `length` [m], `angle` [rad],
    `kinetic` energy [J]; mass [kg] (n,) and inertia about the mass centre, in body axes [kg m2] (n,
    3, 3), of the bodies that have it."""

    length: float
    angle: float
    kinetic: float
    mass: Floats
    inertia: Floats

    def energy(self, v: Floats, omega: Floats) -> float:
        """The kinetic energy [J] at velocities v (n, 3) and omega, in body axes (n, 3)."""
        moving = np.einsum("n,ni,ni", self.mass, v, v)
        return 0.5 * float(moving + np.einsum("ni,nij,nj", omega, self.inertia, omega))


def closeness_for(run: Trajectory, length: float, angle: float) -> Closeness:
    """How close the frames of a run lie, so that its curves are smooth as well."""
    tables, kinetic = run.system.tables, run.kinetic
    allowed = max(SHARE_OF_RANGE * float(np.ptp(kinetic)), SHARE_OF_MOST * float(kinetic.max()))
    return Closeness(length, angle, allowed, tables.body_mass, tables.body_inertia)


class Metered(NamedTuple):
    """A state of a run with the work done and the energy dissipated since the run began [J]."""

    state: State
    work: float
    dissipated: float


def frames_of(
    pieces: Iterable[tuple[float, Trajectory]], length: float, angle: float, bent: float = 0.0
) -> Frames:
    """The frames of successive runs, each with the time at which its own time begins [s].

    Between two frames, linear interpolation of positions and uniform rotation are accurate to about
    `length` [m] and `angle` [rad], and that of kinetic energy to a percent: stored steps are
    divided, by integrating again within them, until that is so.  bent: the factor of all bending
    with which the straight pieces of bodies that bend follow behind the bodies; zero: without."""
    made, before = [], (0.0, 0.0)
    for begins, kept in pieces:
        run = whole(kept)
        instants = list(instants_of(run, length, angle))
        made.append(_frames(begins, run, instants, before, bent))
        before = float(made[-1].work[-1]), float(made[-1].dissipated[-1])
    t, r, q, kinetic, potential, work, dissipated = (
        np.concatenate(parts) for parts in zip(*(frames[:-1] for frames in made), strict=True)
    )
    names = dict.fromkeys(name for frames in made for name in frames.joints)
    joints = {
        name: np.concatenate(
            [frames.joints.get(name, np.full(len(frames.t), np.nan)) for frames in made]
        )
        for name in names
    }
    return Frames(t, r, q, kinetic, potential, work, dissipated, joints)


def skip_waits(frames: Frames, waits: Waits) -> Frames:
    """The frames without those of some waits, with times that leave the waits out."""
    kept = np.ones(len(frames.t), dtype=bool)
    for begins, lasts in waits:
        kept &= (frames.t <= begins) | (frames.t >= begins + lasts)
    joints = {name: values[kept] for name, values in frames.joints.items()}
    t, r, q, kinetic, potential, work, dissipated = (values[kept] for values in frames[:-1])
    return Frames(time_on_screen(t, waits), r, q, kinetic, potential, work, dissipated, joints)


def time_on_screen(t: Floats, waits: Waits) -> Floats:
    """Times [s] with some waits left out."""
    for begins, lasts in reversed(waits):
        t = np.where(t > begins, np.maximum(begins, t - lasts), t)
    return t


def moments(run: Trajectory, count: int) -> Floats:
    """Times of a run [s], evenly spread over the part that is shown, both ends included
    (count,)."""
    first, last = time_on_screen(run.t[[0, -1]], run.waits)
    t = time_of_motion(np.linspace(first, last, count), run.waits)
    t[-1] = run.t[-1]
    return t


def time_of_motion(t: Floats, waits: Waits) -> Floats:
    """Times [s] of the motion, from times with some waits left out."""
    for begins, lasts in waits:
        t = np.where(t > begins, t + lasts, t)
    return t


def whole(run: Trajectory) -> Trajectory:
    """A run with about as many states as it took steps, also where most of them were not kept:
    between two distant states the motion is unknown."""
    if run.settings.keep == "all":
        return run
    steps, lasted = run.counts.steps, float(run.t[-1] - run.t[0])
    return (
        run.sampled(lasted / steps) if steps > SPARSE * (len(run.t) - 1) and lasted > 0.0 else run
    )


def _frames(
    begins: float, run: Trajectory, instants: Sequence[Metered], before: tuple[float, float],
    bent: float,
) -> Frames:  # fmt: skip
    """The frames of one run, with the work and the dissipation before it added."""
    states = [instant.state for instant in instants]
    energies = [run.system.energy(state) for state in states]
    return Frames(
        np.array([state.t for state in states]) + begins,
        *poses_shown(run.system.tables, states, bent),
        np.array([energy.kinetic for energy in energies]),
        np.array([energy.potential for energy in energies]),
        np.array([instant.work for instant in instants]) + before[0],
        np.array([instant.dissipated for instant in instants]) + before[1],
        coordinates_of(run, states) | tensions_of(run, np.array([state.t for state in states])),
    )


def poses_shown(t: Tables, states: Sequence[State], bent: float) -> tuple[Floats, Floats]:
    """Positions and orientations of all bodies in some states (k, n, ...), and behind them of the
    pieces of those that bend, times a factor; zero: without."""
    r, q = np.array([state.r for state in states]), np.array([state.q for state in states])
    lines = bent_lines(t) if bent else ()
    if not lines:
        return r, q
    rows = (state_rows(state.r, state.q, state.v, state.omega) for state in states)
    found = [poses_of(lines, t, y, s.further, bent) for y, s in zip(rows, states, strict=True)]
    more = [np.array(each) for each in zip(*found, strict=True)]
    return np.concatenate([r, more[0]], axis=1), np.concatenate([q, more[1]], axis=1)


def tensions_of(run: Trajectory, t: Floats) -> dict[str, Floats]:
    """The tensions of the strings of a run at some times, between those of its states (k,), by
    string: "s1 tension [N]"."""
    tables, chosen = run.system.tables, run.system.selection
    names = [tables.force_names[tables.element_force[e]] for e in ropes_in(chosen)]
    return {f"{name}{TENSION}": np.interp(t, run.t, run[name].tension) for name in names}


def coordinates_of(run: Trajectory, states: Sequence[State]) -> dict[str, Floats]:
    """The coordinates of the active joints of a run, at some of its states (k,), by joint and unit:
    "hinge [rad]"."""
    tables = run.system.tables
    out: dict[str, Floats] = {}
    for j in run.system.selection.joints:
        name, which = (
            tables.joint_names[j],
            np.arange(tables.joint_coordinate[j], tables.joint_coordinate[j + 1]),
        )
        if len(which):
            values = np.array([state.instant().coordinates(which)[:, 0] for state in states])
            owns = [
                f"{name} {c.name * (len(which) > 1)}".strip() + f" [{COORDINATE_UNITS[c.kind]}]"
                for c in tables.joints[j].coordinates
            ]
            out |= dict(zip(owns, values.T, strict=True))
    return out


def instants_of(run: Trajectory, length: float, angle: float) -> Iterable[Metered]:
    """The stored states of a run, with as many between them as are needed; none within the last
    steps of a run whose steps became too small."""
    work, dissipated, off = run.work, run.dissipated, closeness_for(run, length, angle)
    here = Metered(run.states[0], float(work[0]), float(dissipated[0]))
    yield here
    for k in range(1, len(run.t)):
        there = Metered(run.states[k], float(work[k]), float(dissipated[k]))
        if run.t[k] - run.t[k - 1] > BRIEF * (run.t[-1] - run.t[0]):
            yield from between(run, here, there, off, HALVINGS)
        yield there
        here = there


def between(
    run: Trajectory, one: Metered, two: Metered, off: Closeness, left: int
) -> Iterable[Metered]:
    """Instants between two of a run, if the motion between these is not linear."""
    t = 0.5 * (one.state.t + two.state.t)
    if not left or not one.state.t < t < two.state.t or straight(one.state, two.state, off):
        return
    middle = Metered(*run.ledger_at(t))
    yield from between(run, one, middle, off, left - 1)
    yield middle
    yield from between(run, middle, two, off, left - 1)


def straight(one: State, two: State, off: Closeness) -> bool:
    """Whether a motion is linear between two states: the cubic through poses and velocities of both
    deviates from the straight line by no more than a quarter of the larger of its two differences
    in slope, and its kinetic energy changes evenly."""
    h = two.t - one.t
    gone = two.r - one.r
    turned = np.array([turn_between(a, b) for a, b in zip(one.q, two.q, strict=True)]).reshape(
        -1, 3
    )
    ends = [(one.v * h - gone, two.v * h - gone), (one.omega * h - turned, two.omega * h - turned)]
    return all(
        np.linalg.norm(np.concatenate(both), axis=1).max(initial=0.0) <= 4.0 * most
        for both, most in zip(ends, off[:2], strict=True)
    ) and is_even(one, two, (gone / h, turned / h), off)


def is_even(one: State, two: State, mean: tuple[Floats, Floats], off: Closeness) -> bool:
    """Whether kinetic energy changes evenly between two states, whose mean velocities are given, if
    the motion is cubic."""
    begun, ended = off.energy(one.v, one.omega), off.energy(two.v, two.omega)
    for s in QUARTERS:
        a, b, c = 6.0 * s * (1.0 - s), 1.0 - 4.0 * s + 3.0 * s * s, 3.0 * s * s - 2.0 * s
        v, omega = a * mean[0] + b * one.v + c * two.v, a * mean[1] + b * one.omega + c * two.omega
        if abs(off.energy(v, omega) - (1.0 - s) * begun - s * ended) > off.kinetic:
            return False
    return True


def turn_between(one: Floats, two: Floats) -> Floats:
    """The rotation vector from one orientation to another, in body axes [rad] (3,)."""
    w, x, y, z = one
    a, b, c, d = two
    real = w * a + x * b + y * c + z * d
    turn = np.array(
        [
            w * b - x * a - y * d + z * c,
            w * c + x * d - y * a - z * b,
            w * d - x * c + y * b - z * a,
        ]
    )
    size = float(np.linalg.norm(turn))
    half = np.arctan2(size, abs(real))
    return turn * (np.copysign(2.0 * half / size, real) if size > 0.0 else 0.0)
