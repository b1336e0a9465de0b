"""Clearance along a whole run: the distances of bodies, and their collisions.

Between its rows a run is approximated by curves (`Between`). On these nothing is missed: see
`kernels/solid/advancement.py`, and for pairs with a mesh `clearance/meshes.py`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from quirkpy.clearance import meshes
from quirkpy.clearance.skins import Couple, Skin, skins_of
from quirkpy.kernels.base.arrays import RIGID
from quirkpy.kernels.base.states import with_ledger
from quirkpy.kernels.place.kinematics import fill_frames, ground_frames
from quirkpy.kernels.solid.advancement import (
    FOUND_WIDTH,
    LEAST,
    LEAST_ACCURACY,
    LOOKS,
    PASSED,
    THERE,
    WHEN,
    Motions,
    Room,
    along,
    pass_by,
)
from quirkpy.kernels.solid.curves import CONTROLS, CURVE_WIDTH, RELATIVE_WIDTH
from quirkpy.kernels.solid.distance import ANSWER_WIDTH, GAP, distances
from quirkpy.kernels.solid.solids import (
    BOX,
    CYLINDER,
    HALF,
    POSE_AXES,
    POSE_POINT,
    POSE_WIDTH,
    REACH,
    SOLID_BODY,
    SOLID_KIND,
    Solids,
    fill_poses,
)
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.solids import find_meshes, solids_of
from quirkpy.mechanics.state import State
from quirkpy.motion.extrema import bottom
from quirkpy.motion.interpolation import PLACES, Between, CourseRows, before
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import not_negative, number, positive
from quirkpy.parts.joint import PlacedJoint
from quirkpy.parts.part import PartError

#: Contact of two bodies at an end of a run: apart; touching, a face of one in the plane of a face
#: of the other; touching without aligned faces.
Lie: TypeAlias = Literal["apart", "flush", "jammed"]
#: Flat faces of a solid: outward normals in N (n, 3), and their distances from its centre (n,) [m].
Faces: TypeAlias = tuple[Floats, Floats]

#: Allowed overlap of a pair, as a share of the radius of the smaller body: rounding, projection,
#: the error of the run.
SLACK = 1e-4
#: Allowed error of the curves, as a share of the slack; accuracy of the clearances of near pairs,
#: of partners in permanent contact, and of the time at which a clearance falls below its threshold.
OF_CURVES, OF_LEAST, OF_TOUCHING, OF_PASSING = 0.25, 0.5, 0.95, 0.01
#: Offset of a second evaluation of the motion next to a least clearance, as a share of the
#: bracketing interval.
NEXT_LOOK = 0.1
#: Largest angle between faces that count as aligned [rad].
ALIGNED = 1e-2


class Clearance(NamedTuple):
    """The passage of two bodies: the least clearance [m], negative for an overlap, and its time;
    whether a joint connects them; their contact at both ends."""

    one: str
    two: str
    least: float
    t: float
    partners: bool
    begins: Lie
    ends: Lie


class Collision(NamedTuple):
    """Two bodies that come too near: from this time on; the clearance there [m], and the kind of
    contact."""

    t: float
    one: str
    two: str
    clearance: float
    lie: Lie


class Scene(NamedTuple):
    """The solids of a system, which of them are meshes (n,), and the skins of all if some pair
    needs one."""

    solids: Solids
    meshed: Bools
    skins: list[Skin]

    def mesh_pairs(self, chosen: Ints) -> Bools:
        """Which pairs python-fcl must evaluate: those with a mesh."""
        return np.asarray(self.meshed[chosen].any(axis=1))


@dataclass(frozen=True)
class Clearances:
    """The result of `clearances`: every pair; collisions, the first of each pair, in the order of
    time; the error bound of the curves on which this is based [m]; the number of evaluations."""

    pairs: tuple[Clearance, ...]
    collisions: tuple[Collision, ...]
    error: float
    looks: int

    @property
    def first(self) -> Collision | None:
        """The first collision, if there is any."""
        return self.collisions[0] if self.collisions else None

    @property
    def least(self) -> float:
        """The least clearance of bodies that no joint connects [m]."""
        return min((pair.least for pair in self.pairs if not pair.partners), default=math.inf)

    @property
    def jammed(self) -> tuple[Clearance, ...]:
        """Pairs that touch at the end without aligned faces, and that no joint connects."""
        return tuple(pair for pair in self.pairs if pair.ends == "jammed" and not pair.partners)


def clearances(
    run: Trajectory, *, margin: float = 0.0, slack: float = SLACK, play: float = 0.0,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> Clearances:  # fmt: skip
    """The least distances of the bodies of a run, along the whole motion, and their collisions.

    Two bodies collide where they overlap by more than the slack (a share of the radius of the
    bounding sphere of the smaller one) and the play of joints [m], or come nearer than `margin`
    [m], less both. The margin does not apply to partners of an active joint, nor to bodies that lie
    flush at the start, until they have parted by more than it, nor to those that lie flush at the
    end, from where they last were farther apart. pairs: names of bodies (default: all that have a
    shape)."""
    wide, share, loose = check_bounds(margin, slack, play)
    if run.settings.keep != "all":
        raise PartError(
            f"clearances: the run has keep={run.settings.keep!r}, but every step is needed: "
            "keep='all'."
        )
    names, solids = solids_of(run.system.tables)
    chosen = select_pairs(names, solids, pairs)
    if not len(chosen) or len(run.t) < 2:
        return Clearances((), (), 0.0, 0)
    reach = np.minimum(*(solids.numbers[chosen[:, k], REACH] for k in (0, 1)))
    allowed, between = OF_CURVES * share * float(reach.min()), run.between
    if between.error > allowed:
        between = Between(run.course, run.system.clusters, run.at, solids, allowed)
    return find_collisions(
        run, names, scene_of(run, solids, chosen), chosen, between, wide, share * reach + loose
    )


def check_bounds(margin: float, slack: float, play: float) -> tuple[float, float, float]:
    """Margin, slack and play as numbers; an error where they make no sense."""
    try:
        wide, share, loose = number(margin), positive(slack), not_negative(play)
    except (TypeError, ValueError) as wrong:
        raise PartError(f"clearances: margin, slack or play {wrong}.") from None
    if wide < 0.0:
        raise PartError(
            f"clearances: margin is {margin!r}, but must not be negative; overlap is what slack "
            "allows."
        )
    return wide, share, loose


def least_among(run: Trajectory, pairs: Sequence[Clearance]) -> float:
    """The least clearance of some of the pairs found by `clearances` [m], for the motion itself:
    near the minimum on the curves, two states of the run correct their curvature and slope."""
    names, solids = solids_of(run.system.tables)
    chosen = select_pairs(names, solids, [(pair.one, pair.two) for pair in pairs])
    scene, least = scene_of(run, solids, chosen), math.inf
    known = np.array([pair.least for pair in pairs])
    reach = np.minimum(*(solids.numbers[chosen[:, k], REACH] for k in (0, 1)))
    doubts = (
        np.maximum(OF_LEAST * SLACK * reach, LEAST_ACCURACY * abs(known)) + 2.0 * run.between.error
    )
    for n in np.argsort(known, kind="stable").tolist():
        if known[n] - doubts[n] < least:
            least = min(least, nearest(run, scene, chosen[n : n + 1], pairs[n].t))
    return least


def nearest(run: Trajectory, scene: Scene, pair: Ints, t: float) -> float:
    """The least clearance of one pair (1, 2) near a time at which it is small [m]: in each interval
    there in which the motion is smooth, as events may reverse the motion of bodies."""
    rows = run.between.rows
    k = before(rows.t, t)
    low, high = float(rows.t[max(0, k - 1)]), float(rows.t[min(k + 2, len(rows.t) - 1)])
    happens = sorted({event.t for event in run.events if low < event.t < high})
    return min(
        nearest_within(run, scene, pair, *span, t)
        for span in itertools.pairwise([low, *happens, high])
    )


def nearest_within(
    run: Trajectory, scene: Scene, pair: Ints, low: float, high: float, t: float
) -> float:
    """The least clearance [m] of one pair within an interval of a run from low to high [s]; t: a
    further place to examine [s]."""
    on_curves = partial(gaps_along, run.between, scene, pair)
    ends, rows = (
        {float(run.t[0]), float(run.t[-1]), *(event.t for event in run.events)},
        run.between.rows.t,
    )
    known = [x for x in (*rows.tolist(), t) if low < x < high]
    places = np.unique([*known, *np.linspace(low, high, PLACES + 1)])
    gaps = on_curves(places)
    best = int(np.argmin(gaps))
    low, high = float(places[max(0, best - 1)]), float(places[min(len(places) - 1, best + 1)])
    if float(places[best]) in ends:
        inside = places[best] + NEXT_LOOK * (low + high - 2.0 * places[best])
        if gaps[best] <= on_curves(np.array([inside]))[0]:
            return gap_in(scene, pair, run.rows_at(float(places[best])))
    there, far = bottom(places, gaps, low, high, on_curves), NEXT_LOOK * (high - low)
    aside = there + (far if there + far <= high else -far)
    return gap_at_bottom(run, scene, pair, there, aside)


def gap_at_bottom(run: Trajectory, scene: Scene, pair: Ints, there: float, aside: float) -> float:
    """The clearance [m] of one pair at a minimum on the curves [s], corrected by the differences
    between the motion and the curves there and at a time aside [s]."""
    curve, further = gaps_along(run.between, scene, pair, np.array([there, aside]))
    try:
        here, beside = (gap_in(scene, pair, run.rows_at(x)) for x in (there, aside))
    except PartError:  # a run cannot be resumed where branches meet
        return float(curve)
    bend, slope = 2.0 * (further - curve), (beside - further) - (here - curve)  # over the offset
    return here - (min(0.5 * slope * slope / bend, abs(here - curve)) if bend > 0.0 else 0.0)


def scene_of(run: Trajectory, solids: Solids, chosen: Ints) -> Scene:
    """The solids, with skins only where a pair has a mesh."""
    kinds = find_meshes(run.system.tables)
    return Scene(solids, kinds, skins_of(run.system.tables) if kinds[chosen].any() else [])


def select_pairs(
    names: tuple[str, ...], solids: Solids, pairs: Iterable[tuple[str, str]] | None
) -> Ints:
    """Rows of solids, pair by pair, a fixed body first, as the reference. Two fixed bodies are no
    pair."""
    wanted = list(itertools.combinations(names, 2) if pairs is None else pairs)
    for name in itertools.chain(*wanted):
        if name not in names:
            known = ", ".join(names) or "none"
            raise PartError(
                f"clearances: {name!r} in pairs= is no body with a shape; there are: {known}.",
                code="name",
            )
    body = dict(zip(names, solids.what[:, SOLID_BODY].tolist(), strict=True))
    apart = [pair for pair in wanted if body[pair[0]] != body[pair[1]]]
    ordered = [sorted(pair, key=lambda name: -body[name]) for pair in apart]
    return np.array(
        [[names.index(name) for name in pair] for pair in ordered], dtype=np.int64
    ).reshape(-1, 2)


# --- judging --------------------------------------------------------------------------------------
def find_collisions(
    run: Trajectory, names: tuple[str, ...], scene: Scene, chosen: Ints, between: Between,
    margin: float, slack: Floats,
) -> Clearances:  # fmt: skip
    """The clearance of every pair, and the collisions."""
    rows, motions = between.rows, motions_of(between)
    last = steps_of(run, scene.solids, chosen, len(rows.t))
    partners = find_partners(run, names, chosen)
    fine = np.where(partners, OF_TOUCHING, OF_LEAST) * slack
    unasked = np.zeros((len(chosen), len(rows.t) - 1))
    found = measure_passing(False, chosen, last, fine, unasked, scene, motions)
    begins, ends = (lies(scene, chosen, rows.states[row], slack) for row in (0, -1))
    near = np.flatnonzero(found[:, LEAST] < np.where(partners, 0.0, margin) - slack + fine)
    collisions = []
    if len(near):
        flush = [[lie[n] == "flush" for n in near] for lie in (begins, ends)]
        levels = thresholds_of(
            chosen[near], scene, rows.states, margin, slack[near], partners[near], *flush
        )
        passed = measure_passing(
            True, chosen[near], last[near], OF_PASSING * slack[near], levels, scene, motions
        )
        found[near, LOOKS] += passed[:, LOOKS]
        collisions = [
            collision_of(run, names, scene, chosen[n : n + 1], rows, row, level, slack[n : n + 1])
            for n, row, level in zip(near, passed, levels, strict=True)
            if row[PASSED] < math.inf
        ]
    pairs = tuple(map(partial(clearance_of, names), chosen, found, partners, begins, ends))
    return Clearances(pairs, tuple(sorted(collisions)), between.error, int(found[:, LOOKS].sum()))


def collision_of(
    run: Trajectory, names: tuple[str, ...], scene: Scene, pair: Ints, rows: CourseRows,
    passed: Floats, levels: Floats, slack: Floats,
) -> Collision:  # fmt: skip
    """Where one pair (1, 2) that passes its thresholds, step by step, first comes too near: at the
    row before, or between that and the next."""
    k = int(np.clip(before(rows.t, passed[PASSED]), 0, len(levels) - 1))
    t, gap = float(rows.t[k]), at_rest(scene, pair, rows.states[k])[1][0]  # it may begin so
    if gap >= levels[k]:
        t = run.passing(float(passed[PASSED]), partial(beyond, scene, pair, float(levels[k])))
        gap = passed[THERE]
    lie = lies(scene, pair, with_ground(run.at(t).instant().state), 2.0 * slack)[0]
    one, two = (names[i] for i in pair[0])
    return Collision(t, one, two, float(gap), lie)


def clearance_of(
    names: tuple[str, ...], pair: Ints, found: Floats, partners: bool, begins: Lie, ends: Lie
) -> Clearance:
    """The least clearance of a pair (2,), with the names of its bodies."""
    one, two = names[pair[0]], names[pair[1]]
    return Clearance(
        one, two, float(found[LEAST]), float(found[WHEN]), bool(partners), begins, ends
    )


def measure_passing(
    passing: bool,
    chosen: Ints,
    last: Ints,
    fine: Floats,
    thresholds: Floats,
    scene: Scene,
    motions: Motions,
) -> Floats:
    """The least clearance of each pair, or its first passing (n, FOUND_WIDTH): by kernels where
    both are built in."""
    out, apart = np.zeros((len(chosen), FOUND_WIDTH)), scene.mesh_pairs(chosen)
    asked = chosen[~apart], last[~apart], fine[~apart], thresholds[~apart]
    own = np.zeros((len(asked[0]), FOUND_WIDTH))
    pass_by(passing, *asked, scene.solids, motions, room_for(motions), own)
    out[~apart] = own
    if apart.any():
        asked = chosen[apart], last[apart], fine[apart], thresholds[apart]
        out[apart] = meshes.pass_by(passing, *asked, scene.solids, scene.skins, motions)
    return out


def room_for(motions: Motions) -> Room:
    """Working arrays of the kernels for one pair along a motion."""
    k = len(motions.t)
    return Room(np.zeros((k, RELATIVE_WIDTH)), np.zeros((CONTROLS, CURVE_WIDTH)), np.zeros(k))


def motions_of(between: Between) -> Motions:
    """Times, states and accelerations of the rows of a run, in the form of the kernels."""
    return Motions(between.rows.t, between.rows.states, between.bends)


def steps_of(run: Trajectory, solids: Solids, chosen: Ints, rows: int) -> Ints:
    """The number of steps of each pair to be examined: for bodies that locks hold together only the
    first."""
    last = np.full(len(chosen), rows - 1)
    merger = run.system.clusters.merger
    if merger is None or run.settings.drift != "project":
        return last
    ground = np.append(merger.cluster, len(merger.leader))[solids.what[:, SOLID_BODY]]
    last[ground[chosen[:, 0]] == ground[chosen[:, 1]]] = 1
    return last


def find_partners(run: Trajectory, names: tuple[str, ...], chosen: Ints) -> Bools:
    """Which pairs are partners of an active joint."""
    joints = [run.system.tables.joints[k] for k in run.system.selection.joints]
    held = {
        frozenset(body.name for body in joint.bodies)
        for joint in joints
        if isinstance(joint, PlacedJoint)
    }
    return np.array([frozenset(names[i] for i in pair) in held for pair in chosen], dtype=bool)


def thresholds_of(
    chosen: Ints, scene: Scene, states: Floats, margin: float, slack: Floats, quiet: Bools,
    begins: list[bool], ends: list[bool],
) -> Floats:  # fmt: skip
    """How near each pair may come, step by step (n, k - 1)."""
    steps = len(states) - 1
    out = np.repeat(np.where(quiet, -slack, margin - slack)[:, None], steps, axis=1)
    if margin > 0.0 and (any(begins) or any(ends)):
        gaps = np.array([at_rest(scene, chosen, state)[1] for state in states])
        for n, parted in enumerate((gaps > margin).T):
            first, final = (int(np.argmax(p)) if p.any() else steps for p in (parted, parted[::-1]))
            if begins[n]:
                out[n, :first] = -slack[n]
            if ends[n]:
                out[n, steps - final :] = -slack[n]
    return out


def at_rest(scene: Scene, chosen: Ints, state: Floats) -> tuple[Floats, Floats]:
    """Poses of all solids in a state (nb + 1, STATE_WIDTH), and the clearance of each pair."""
    solids, apart = scene.solids, scene.mesh_pairs(chosen)
    frames = ground_frames(len(state) - 1)
    fill_frames(state, RIGID, frames)
    poses, out = np.zeros((len(solids.what), POSE_WIDTH)), np.zeros((len(chosen), ANSWER_WIDTH))
    fill_poses(solids, frames, poses)
    distances(chosen, solids, poses, out)
    for n in np.flatnonzero(apart):
        couple, turn, place = couple_skins(scene, int(chosen[n, 0]), int(chosen[n, 1]), state)
        out[n, GAP] = couple.separation(turn, place)[0]
    return poses, out[:, GAP]


def with_ground(rows: Floats) -> Floats:
    """The rows of a state (nb, STATE_WIDTH), and that of the ground."""
    return with_ledger(rows)


def gap_in(scene: Scene, pair: Ints, rows: Floats) -> float:
    """The clearance of one pair (1, 2) in the rows of a state (nb, STATE_WIDTH) [m]."""
    return float(at_rest(scene, pair, with_ground(rows))[1][0])


def gaps_along(between: Between, scene: Scene, pair: Ints, times: Floats) -> Floats:
    """The clearance of one pair (1, 2) at some times, on the curves of a run (k,) [m]."""
    if scene.mesh_pairs(pair)[0]:
        return np.array([gap_in(scene, pair, rows) for rows in between.at(times)])
    motions, out = motions_of(between), np.zeros(len(times))
    along(pair, times, scene.solids, motions, room_for(motions), out)
    return out


def beyond(scene: Scene, pair: Ints, level: float, state: State) -> float:
    """How much the clearance of one pair (1, 2) is above a level in a state [m]."""
    return gap_in(scene, pair, state.instant().state) - level


def couple_skins(scene: Scene, i: int, j: int, state: Floats) -> tuple[Couple, Floats, Floats]:
    """Two skins, and turn and place of the second in the axes of the first, in a state."""
    body = scene.solids.what[:, SOLID_BODY]
    turns, places = meshes.relative_poses(int(body[i]), int(body[j]), state[None])
    return Couple(scene.skins[i], scene.skins[j]), turns[0], places[0]


def lies(scene: Scene, chosen: Ints, state: Floats, slack: Floats) -> list[Lie]:
    """The contact of each pair of solids in a state: apart, flush or jammed."""
    poses, gaps = at_rest(scene, chosen, state)
    sides = cache(lambda k: faces(k, scene.solids, poses))
    out: list[Lie] = []
    for (i, j), apart, gap, most in zip(chosen, scene.mesh_pairs(chosen), gaps, slack, strict=True):
        if gap > most:
            out.append("apart")
            continue
        if apart:
            couple, turn, place = couple_skins(scene, i, j, state)
            level = couple.flush(turn, place, ALIGNED, most)
        else:
            d = poses[j, POSE_POINT : POSE_POINT + 3] - poses[i, POSE_POINT : POSE_POINT + 3]
            level = flush(sides(int(i)), sides(int(j)), d, most)
        out.append("flush" if level else "jammed")
    return out


def flush(i: Faces, j: Faces, d: Floats, slack: float) -> bool:
    """Whether a face of one solid lies in the plane of a face of another, whose centre lies at d
    [m] (3,), from outside: along its normal they do not overlap by more than the slack."""
    (one, far), (two, wide) = i, j
    gaps = np.maximum((one @ d)[:, None], -(two @ d)) - far[:, None] - wide
    return bool(((one @ two.T < -math.cos(ALIGNED)) & (gaps >= -slack)).any())


def faces(i: int, solids: Solids, poses: Floats) -> Faces:
    """The flat faces of a solid: outward normals in N (n, 3), and their distances from its centre
    (n,)."""
    axes = poses[i, POSE_AXES : POSE_AXES + 9].reshape(3, 3).T
    flat = list({BOX: (0, 1, 2), CYLINDER: (2,)}.get(int(solids.what[i, SOLID_KIND]), ()))
    half = solids.numbers[i, HALF : HALF + 3][flat]
    return np.concatenate([axes[flat], -axes[flat]]), np.concatenate([half, half])
