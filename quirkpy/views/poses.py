"""Several poses in one picture: poses during a run, and motions around a state of rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from quirkpy.kernels.base.states import NO_TAIL, angular_of, linear_of
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.rotations import product
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.part import PartError
from quirkpy.rest.equilibrium import Equilibrium, Mode
from quirkpy.rest.wording import different
from quirkpy.views import stills
from quirkpy.views.drawing import PALE, Drawing, blank, style
from quirkpy.views.movie import Scenes, traces
from quirkpy.views.stage import Stage
from quirkpy.views.stills import Look, View

#: Displacement of bodies along a motion, as a share of a typical body; motions on one page, and in
#: a row of it.
SWAY, MOST, ROW = 0.25, 6, 3
#: A share of critical damping below this counts as zero.
UNDAMPED = 1e-9
#: Width and height of the picture of a motion [inches].
MOTION_WIDTH, MOTION_HEIGHT = 3.2, 3.0


def merge_views(view: View, others: Iterable[View]) -> View:
    """Several views as one, with common hidden surfaces."""
    pieces, looks = list(view.pieces), list(view.looks)
    for other in others:
        pieces += [piece._replace(number=piece.number + len(looks)) for piece in other.pieces]
        looks += other.looks
    return view._replace(pieces=pieces, looks=looks)


# --- a run ----------------------------------------------------------------------------------------
def of_run(run: Trajectory, eye: Sequence[float], ghosts: int) -> Drawing:
    """A picture of a motion; see `Trajectory.picture`."""
    if not isinstance(ghosts, int) or ghosts < 0:
        raise PartError(f"picture: ghosts is {ghosts!r}, but must be a number of poses, 0 or more.")
    scenes = Scenes.of(run)
    times = np.linspace(float(run.t[0]), float(run.t[-1]), ghosts + 1)
    with style("picture"):
        last = scenes.stages[-1]
        end = scenes.sight_of(last, run.final, False)
        sights = [scenes.sight(run, float(t), False) for t in times[:-1]]
        faint = [stills.view_of(scenes.at(sight.t), sight, eye, faint=True) for sight in sights]
        ways = View([], [], 0.0)
        for way in np.moveaxis(traces(run), 1, 0):
            ways.add(stills.trace(way), Look(None, stills.TRACES, 1.2))
        view = merge_views(stills.view_of(last, end, eye), [*faint, ways])
        return stills.page(view, last, eye)


# --- motions around a state of rest ---------------------------------------------------------------
def displace(state: State, shape: Floats, reach: float, bending: Floats = NO_TAIL) -> State:
    """A state with every body moved along a motion (n, 6), by `reach` times its length, and bent
    along it (m,)."""
    move = reach * np.real(shape)
    angle = np.linalg.norm(angular_of(move), axis=1, keepdims=True)
    turn = np.concatenate(
        [np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * angular_of(move)], axis=1
    )
    further = state.further.copy()
    further[: bending.size] += reach * np.real(bending)
    return dataclasses.replace(
        state,
        r=state.r + linear_of(move),
        q=product(state.q, turn),
        further=further,
        held=(),
        merged=None,
        step=None,
    )


def reach_of(mode: Mode, size: float) -> float:
    """The factor of the shape of a motion for which the surface of bodies moves by SWAY times their
    size; of bending, the root mean square over the mass counts."""
    moved = np.linalg.norm(linear_of(mode.shape), axis=1) + 0.5 * size * np.linalg.norm(
        angular_of(mode.shape), axis=1
    )
    chosen, bent = None if mode.state is None else mode.state.selection, NO_TAIL
    if mode.bending.size and chosen is not None:
        bent = abs(mode.bending) / points_of(chosen.tables).roots
    return SWAY * size / float(np.append(moved, bent).max())


def motions_of(e: Equilibrium) -> list[tuple[Mode, str, str]]:
    """Every motion with its figures and the moving bodies, neutral ones last."""
    out, growing = [], {id(mode) for mode in e.unstable}
    told = different([mode.words for mode in (*e.modes, *e.neutral)])
    for mode, words in zip(e.modes, told, strict=False):
        s = mode.eigenvalue
        if s.real > 0.0 and id(mode) in growing:
            figures = f"grows, {s.real:.4g} 1/s"
        elif s.imag != 0.0:
            damped = f"damping {mode.damping:.3g}" if abs(mode.damping) > UNDAMPED else "undamped"
            figures = f"{mode.frequency:.4g} rad/s, {damped}"
        else:
            figures = f"decays, {abs(s.real):.4g} 1/s"
        out.append((mode, figures, words))
    rest = zip(e.neutral, told[len(e.modes) :], strict=True)
    return out + [(mode, "neutral", words) for mode, words in rest]


def of_rest(e: Equilibrium, eye: Sequence[float]) -> Drawing:
    """A picture of the motions around a state of rest; see `Equilibrium.picture`."""
    if e.system is None:
        raise PartError("picture: this equilibrium belongs to no system.", code="together")
    stage, motions = Stage(e.system), motions_of(e)
    shown = motions[:MOST]
    with style("picture"):
        solid = stills.view_of(stage, stage.at(e.state), eye)
        views = [add_ghosts(solid, stage, e.state, mode, eye) for mode, _, _ in shown] or [solid]
        titles = [f"{figures}\n{moving}" for _, figures, moving in shown] or ["nothing moves"]
        figure = draw_row(views, titles, eye)
        left_out = f"; {MOST} of {len(motions)} motions" if len(motions) > MOST else ""
        figure.suptitle(f"{e.verdict}: {e.reason}{left_out}", fontsize=9.0, color=PALE, wrap=True)
    return Drawing(figure)


def add_ghosts(solid: View, stage: Stage, state: State, mode: Mode, eye: Sequence[float]) -> View:
    """The view of a state of rest, with ghosts of both ends of a motion."""
    reach = reach_of(mode, stage.size)
    sides = [
        stage.at(displace(state, mode.shape, way * reach, mode.bending)) for way in (-1.0, 1.0)
    ]
    return merge_views(solid, [stills.view_of(stage, sight, eye, faint=True) for sight in sides])


def draw_row(views: Sequence[View], titles: Sequence[str], eye: Sequence[float]) -> Any:
    """A figure with a picture of each view, all at one scale; within `style`."""
    box = stills.room([piece for view in views for piece in view.pieces], eye)
    rows, columns = -(-len(views) // ROW), min(len(views), ROW)
    figure = blank(MOTION_WIDTH * columns, MOTION_HEIGHT * rows + 0.5, "constrained")
    figure.get_layout_engine().set(h_pad=0.08)
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in grid:
        stills.prepare(axes, box)
    for axes, view, title in zip(grid, views, titles, strict=False):
        stills.add_view(axes, view, eye)
        axes.set_title(title, fontsize=8.5, loc="center", fontweight="normal")
    return figure
