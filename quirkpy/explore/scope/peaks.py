"""The largest speed, angular velocity and load of a run, located between its rows."""

from __future__ import annotations

import itertools
import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.kernels.base.states import spins_of, velocities_of
from quirkpy.maths.types import Floats
from quirkpy.motion.extrema import highest, summits
from quirkpy.motion.interpolation import CourseRows
from quirkpy.motion.trajectory import Trajectory

Limited: TypeAlias = Literal["speed", "turning", "load"]


#: Two values that exceed a limit and differ by less than this share count as equal: their order is
#: rounding.
TIED = 1e-6


def lengths_of(vectors: Floats) -> Floats:
    """Lengths of vectors (..., 3)."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors)))


def rates(states: Floats, what: Limited) -> Floats:
    """Speeds [m/s] or angular velocities [rad/s] of all bodies in states (k, n, STATE_WIDTH) (k,
    n)."""
    vectors = velocities_of(states) if what == "speed" else spins_of(states)
    return np.asarray(np.linalg.norm(vectors, axis=-1))


class JointLoads(NamedTuple):
    """Names of joints, and the larger of force [N] and torque [N m] on each (n,)."""

    names: tuple[str, ...]
    sizes: Floats


def loads_on_joints(run: Trajectory, t: float) -> dict[str, tuple[float, float]]:
    """Squares of force [N] and torque [N m] on every joint, and on every stop that holds, at one
    time of a run."""
    found = run.system.reactions(run.at(t))
    return {
        name: (float(one.force @ one.force), float(one.torque @ one.torque))
        for name, one in found.items()
    }


def loads(run: Trajectory, t: float) -> JointLoads:
    """The loads of all joints at one time of a run."""
    found = loads_on_joints(run, t)
    return JointLoads(tuple(found), np.sqrt([max(both) for both in found.values()]))


def heaviest(run: Trajectory, t: Floats) -> Floats:
    """The largest load on any joint at some times of a run (k,)."""
    return np.array([loads(run, float(x)).sizes.max(initial=0.0) for x in t])


def peak(run: Trajectory, what: Limited) -> float:
    """The highest speed, angular velocity or joint load of a motion, between its rows as well."""
    if what == "load":
        return peak_load(run)
    return math.sqrt(run.highest(lambda states: rates(states, what) ** 2))


def peak_load(run: Trajectory) -> float:
    """The highest load on any joint [N] or [N m]; it may jump at events, and where schedules have
    knots."""
    t, most = run.between.places, 0.0
    found = [loads_on_joints(run, float(x)) for x in t]
    jumps = np.isin(t, [*(event.t for event in run.events), *run.system.selection.knots])
    none = np.zeros((len(t), 0))
    rows = CourseRows(t, none, none, none.astype(bool), none)
    for name, k in itertools.product(dict.fromkeys(itertools.chain(*found)), (0, 1)):
        values = np.array([one[name][k] if name in one else 0.0 for one in found])

        def ask(_: CourseRows, x: float, name: str = name, k: int = k) -> tuple[float, None]:
            return loads_on_joints(run, x).get(name, (0.0, 0.0))[k], None

        most = max(most, float(values.max()))
        most = highest(summits(rows, values, jumps, most, True), ask, most, run.settings.rtol)
    return math.sqrt(most)
