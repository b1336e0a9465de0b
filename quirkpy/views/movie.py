"""A run as a film: pictures at regular times, with the energy beside them."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.motion.frames import moments, time_on_screen
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import positive
from quirkpy.parts.files import check_writable, ending_of, replacing
from quirkpy.parts.part import PartError
from quirkpy.views import charts, curves, stills
from quirkpy.views.drawing import INK, blank, style
from quirkpy.views.stage import Sight, Stage, factor_of

#: Formats of films.
FILMS = (".mp4", ".gif")
#: A longer run is shown faster, in this time [s], unless a speed is given.
LONGEST_FILM = 20.0
#: The message for an incomplete film.
EARLY = "ffmpeg ended early, as it does where a disk is full"
#: Largest number of frames of a film; number of frames from which its frame is determined; points
#: of a trace.
MOST_FRAMES, LOOKED_AT, TRACED = 6000, 60, 80
#: Size in inches and pixels per inch: 960 x 540 pixels.
FILM_WIDTH, FILM_HEIGHT, DPI = 8.0, 4.5, 120


class Scenes(NamedTuple):
    """The stages of a run and their times [s]; a plain run has one."""

    begun: tuple[float, ...]
    stages: tuple[Stage, ...]

    @classmethod
    def of(cls, run: Trajectory, exaggerate: float = 1.0) -> Scenes:
        """The stages of a run, one for each of its pieces."""
        found = [
            (begins + float(one.t[0]), Stage(one.system, exaggerate)) for begins, one in run.pieces
        ]
        return cls(tuple(t for t, _ in found), tuple(stage for _, stage in found))

    def at(self, t: float) -> Stage:
        """The stage of the run at a time."""
        return self.stages[max(0, int(np.searchsorted(self.begun, t, side="right")) - 1)]

    def sight(self, run: Trajectory, t: float, forces: bool) -> Sight:
        """The visible objects at a time of a run."""
        return self.sight_of(self.at(t), run.at(t), forces)

    def sight_of(self, stage: Stage, state: State, forces: bool) -> Sight:
        """The visible objects on one of its stages."""
        alone = len(self.stages) == 1
        return stage.at(state if alone else state.on(stage.system.selection), forces)


def pace(
    run: Trajectory, fps: float, speed: float | None, most: float = MOST_FRAMES
) -> tuple[Floats, float]:
    """The times of all frames [s], both ends included, and the speed of the film relative to real
    time."""
    try:
        rate = positive(fps)
        span = float(np.diff(time_on_screen(run.t[[0, -1]], run.waits))[0])
        faster = max(1.0, span / LONGEST_FILM) if speed is None else positive(speed)
    except (TypeError, ValueError) as error:
        raise PartError(f"movie: fps or speed {error}.") from None
    n = max(1, math.ceil(span / faster * rate))
    if n > most:
        raise PartError(
            f"movie: {n} frames are too many; {most} are not: give "
            f"speed={math.ceil(faster * n / most)}.",
            code="answer",
        )
    return moments(run, n + 1), faster


def traces(run: Trajectory) -> Floats:
    """The paths of all mass centres (k, n, 3), at regular times."""
    return np.array([run.at(float(t)).r for t in np.linspace(run.t[0], run.t[-1], TRACED)])


# --- filming --------------------------------------------------------------------------------------
def frames(
    run: Trajectory, times: Floats, faster: float, eye: Sequence[float], forces: bool, trace: bool,
    exaggerate: float = 1.0,
) -> Iterator[Floats]:  # fmt: skip
    """The frames in order, (height, width, 4) bytes each; within `style`."""
    scenes = Scenes.of(run, exaggerate)
    box, largest = frame_of(run, scenes, times, eye, forces)
    ways = traces(run) if trace else np.zeros((0, 0, 3))

    figure, axes, ledger = _page(run, scenes.stages[0], box, eye, largest)
    canvas = figure.canvas
    canvas.draw()
    behind = canvas.copy_from_bbox(figure.bbox)
    clock = axes.text(
        0.02, 0.99, "", transform=axes.transAxes, va="top", fontsize=9.5, color=INK, animated=True
    )
    cursor = ledger.axvline(times[0], color=INK, linewidth=1.0, animated=True)
    named = "" if faster == 1.0 else f"   \u00d7{faster:.3g}"
    for t in times.tolist():
        canvas.restore_region(behind)
        view = stills.view_of(scenes.at(t), scenes.sight(run, t, forces), eye, largest)
        add_ways(view, ways, t - times[0], times[-1] - times[0] or 1.0)
        solids = stills.add_view(axes, view, eye)
        clock.set_text(f"t = {t:.4g} s{named}")
        cursor.set_xdata([t, t])
        for artist, on in (*((part, axes) for part in solids), (clock, axes), (cursor, ledger)):
            on.draw_artist(artist)
        for part in solids:
            part.remove()
        yield np.array(canvas.buffer_rgba())


def frame_of(
    run: Trajectory, scenes: Scenes, times: Floats, eye: Sequence[float], forces: bool
) -> tuple[Floats, float]:
    """The rectangle of the picture that a film needs (2, 2) [m], and its largest force [N]."""
    looked = [
        scenes.sight(run, float(t), forces) for t in np.linspace(times[0], times[-1], LOOKED_AT)
    ]
    sizes = (float(np.linalg.norm(push.force)) for sight in looked for push in sight.pushes)
    largest = max(sizes, default=0.0)
    views = [stills.view_of(scenes.at(sight.t), sight, eye, largest) for sight in looked]
    return stills.room([piece for view in views for piece in view.pieces], eye), largest


def add_ways(view: stills.View, ways: Floats, gone: float, span: float) -> None:
    """Add the paths (k, n, 3) of mass centres up to a time after the beginning of the span [s]."""
    so_far = ways[: 1 + int((len(ways) - 1) * gone / span)]
    for k in range(ways.shape[1]):
        view.add(stills.trace(so_far[:, k]), stills.Look(None, stills.TRACES, 1.0))


def _page(
    run: Trajectory, stage: Stage, box: Floats, eye: Sequence[float], largest: float
) -> tuple[Any, Any, Any]:
    """The figure, with all constant contents: the picture to the left, the energy to the right."""
    figure = blank(FILM_WIDTH, FILM_HEIGHT)
    figure.set_dpi(DPI)
    axes = figure.add_axes((0.01, 0.13, 0.58, 0.84))
    stills.prepare(axes, box)
    stills.furnish(axes, box, eye, largest)
    ledger = figure.add_axes((0.68, 0.13, 0.3, 0.45))
    panel = curves.sheet_of(run, ["energy"]).panels[0]
    charts.paint(ledger, panel._replace(moments=()), first=True, last=True)
    ledger.legend(loc="lower left", bbox_to_anchor=(-0.05, 1.02), handlelength=2.4)
    return figure, axes, ledger


def save(
    run: Trajectory, path: str | os.PathLike[str], fps: float, speed: float | None,
    eye: Sequence[float], forces: bool, trace: bool, exaggerate: float = 1.0,
) -> None:  # fmt: skip
    """Write a film of a run; see `Trajectory.movie`."""
    place = check_writable(ending_of(path, "movie", FILMS), "movie")
    (times, faster), factor = pace(run, fps, speed), factor_of("movie", exaggerate)
    with style("movie"), replacing(place, "movie") as file:
        shots = frames(run, times, faster, eye, forces, trace, factor)
        if place.suffix == ".mp4":
            _mp4(file.name, shots, fps)
        else:
            _gif(file, shots, fps)


def _gif(file: BinaryIO, shots: Iterator[Floats], fps: float) -> None:
    from PIL import Image

    images = (Image.fromarray(shot[:, :, :3]).quantize(96) for shot in shots)
    first = next(images)
    first.save(
        file,
        format="GIF",
        save_all=True,
        append_images=images,
        duration=round(1000.0 / fps),
        loop=0,
    )


def _mp4(place: str, shots: Iterator[Floats], fps: float) -> None:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise PartError(
            "movie: an .mp4 needs imageio-ffmpeg; pip install 'quirkpy[movies]' brings it, or "
            "write a .gif.",
            code="install",
        ) from error
    size = (round(FILM_WIDTH * DPI), round(FILM_HEIGHT * DPI))
    writer = imageio_ffmpeg.write_frames(place, size, fps=fps, quality=7, macro_block_size=4)
    writer.send(None)
    try:
        sent = _send_all(writer, shots)
    finally:
        writer.close()
    # What does not fit is found out when the rest of it is written, and not told
    if _frames_in(place) != sent:
        raise OSError(errno.EIO, EARLY)


def _send_all(writer: Any, shots: Iterator[Floats]) -> int:
    """Send all frames to the other program; returns their number."""
    sent = 0
    for shot in shots:
        frame = np.ascontiguousarray(shot[:, :, :3]).tobytes()
        try:
            writer.send(frame)
        except OSError as error:  # its message is very long
            raise OSError(errno.EIO, EARLY) from error
        sent += 1
    return sent


def _frames_in(place: str) -> int:
    """The number of frames of a film; zero where it cannot be read."""
    import imageio_ffmpeg

    try:
        return int(imageio_ffmpeg.count_frames_and_secs(place)[0])
    except RuntimeError:
        return 0
