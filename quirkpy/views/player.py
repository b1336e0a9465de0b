"""A player of films with VPython, or with a module that has equal objects: a scene, buttons, and
the energy beside it."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.views.drawing import LINES
from quirkpy.views.film import Film, rgb_of

#: A mass centre counts as fixed if it moves by no more than this [m].
STANDS_STILL = 1e-9
#: An arrow is not drawn below this share of the size of the scene [1].
NO_ARROW = 1e-6
#: Pictures per second; the range of the speed, as powers of two; pixels of the scene.
PICTURES, SPEED_RANGE, WIDTH, HEIGHT = 30, 4.0, 760, 520
#: Points of a curve of energy; width for the names to its right, as a share of the time.
POINTS, NAME_ROOM = 200, 0.35


class Player:
    """The window of a film: its objects, and the time of the film.

    t: time of the film [s]; speed: relative to real time; playing.
    """

    def __init__(
        self, vpython: Any, film: Film, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.vp, self.film, self.clock = vpython, film, clock
        self.t, self.speed, self.playing = float(film.times[0]), film.speed, len(film.times) > 1
        self.shown = -1
        self._scene()
        self.solids = [self._solid(k) for k in range(len(film.solids))]
        self.axles = [self._line(LINES[1]) for _ in range(film.axles.shape[1])]
        self.marks = [self._mark() for _ in range(film.marks.shape[1])]
        self.pushes = [self._arrow() for _ in range(film.pushes.shape[1])]
        self._ways()
        if len(film.times) > 1:
            self._controls()
            self._energy()
        self.draw()

    # --- things -----------------------------------------------------------------------------------
    def _vector(self, numbers: Floats) -> Any:
        return self.vp.vector(*(float(x) for x in numbers))

    def _colour(self, name: str) -> Any:
        return self.vp.vector(*rgb_of(name))

    def _scene(self) -> None:
        film, scene = self.film, self.vp.scene
        scene.width, scene.height = WIDTH, HEIGHT
        scene.background = self.vp.vector(1.0, 1.0, 1.0)
        scene.title = f"<b>{html.escape(film.title)}</b>\n"
        scene.ambient = self.vp.vector(0.36, 0.36, 0.36)
        scene.up = self.vp.vector(0.0, 0.0, 1.0)
        scene.forward = self.vp.vector(-0.45, 0.75, -0.8)
        half = 0.5 * np.array([np.linalg.norm(about["size"]) for about in film.solids])
        low, high = (film.centres + way * half[:, None] for way in (-1.0, 1.0))
        middle = 0.5 * (low.min(axis=(0, 1)) + high.max(axis=(0, 1)))
        scene.center = self._vector(middle)
        scene.range = 1.05 * float((np.linalg.norm(film.centres - middle, axis=2) + half).max())

    def _solid(self, k: int) -> Any:
        about = self.film.solids[k]
        long, high, wide = about["size"]
        look = {"color": self.vp.vector(*about["colour"])}
        if about["kind"] == "sphere":
            return self.vp.sphere(radius=0.5 * long, **look)
        make = self.vp.box if about["kind"] == "box" else self.vp.cylinder
        return make(size=self.vp.vector(long, high, wide), **look)

    def _line(self, colour: str) -> Any:
        return self.vp.cylinder(
            radius=0.012 * self.film.size, color=self._colour(colour), emissive=True, visible=False
        )

    def _mark(self) -> Any:
        return self.vp.box(color=self._colour(LINES[3]), emissive=True, visible=False)

    def _arrow(self) -> Any:
        width = 0.04 * self.film.size
        return self.vp.arrow(
            color=self._colour(LINES[0]), shaftwidth=width, emissive=True, visible=False
        )

    def _ways(self) -> None:
        """The complete paths of mass centres; and each body as a ghost at the end."""
        film = self.film
        for way in np.moveaxis(film.ways, 1, 0) if film.ways.size else ():
            if np.ptp(way, axis=0).max() > STANDS_STILL:
                points = [self._vector(point) for point in way]
                self.vp.curve(
                    pos=points,
                    color=self._colour(LINES[2]),
                    emissive=True,
                    radius=0.006 * film.size,
                )
        if len(film.times) > 1:
            for k, about in enumerate(film.solids):
                if not about["fixed"]:
                    ghost = self._solid(k)
                    ghost.opacity = 0.15
                    self._place(ghost, k, len(film.times) - 1)

    def _controls(self) -> None:
        vp, film = self.vp, self.film
        first, last = float(film.times[0]), float(film.times[-1])
        self.button = vp.button(text="Pause", bind=self.toggle)
        vp.scene.append_to_caption("   time ")
        self.place = vp.slider(min=first, max=last, value=first, length=300, bind=self.seek)
        vp.scene.append_to_caption("   speed ")
        usual = math.log2(film.speed)
        self.pace = vp.slider(
            min=usual - SPEED_RANGE,
            max=usual + SPEED_RANGE,
            value=usual,
            length=140,
            bind=self.set_speed,
        )
        vp.scene.append_to_caption("\n")
        self.words = vp.wtext(text="")

    def _energy(self) -> None:
        film, vp = self.film, self.vp
        rows = np.unique(np.linspace(0, len(film.energy_t) - 1, POINTS).round().astype(int))
        first, last = float(film.times[0]), float(film.times[-1])
        self.span = float(film.energy.min()), float(film.energy.max())
        vp.graph(
            xtitle="time [s]", ytitle=f"energy [{film.unit}]", width=WIDTH, height=260, fast=True,
            xmin=first, xmax=last + NAME_ROOM * (last - first), ymin=self.span[0],
            ymax=top(*self.span),
        )  # fmt: skip
        for column, name in enumerate(film.columns):
            curve = vp.gcurve(
                color=self._colour(LINES[column % len(LINES)]), label=html.escape(name)
            )
            curve.plot([[float(film.energy_t[k]), float(film.energy[k, column])] for k in rows])
        self.cursor = vp.gcurve(color=vp.vector(0.4, 0.4, 0.4))

    # --- what users do ----------------------------------------------------------------------------
    def toggle(self, _: Any = None) -> None:
        """Play, or pause; at the end start again."""
        if not self.playing and self.t >= self.film.times[-1]:
            self.t = float(self.film.times[0])
        self.playing = not self.playing
        self._say()

    def seek(self, slider: Any) -> None:
        """Show the time given by the slider."""
        self.t = float(slider.value)
        self.draw()

    def set_speed(self, slider: Any) -> None:
        """Play at the speed given by the slider."""
        self.speed = 2.0 ** float(slider.value)
        self._say()

    # --- the clock --------------------------------------------------------------------------------
    def play(self, keep_open: bool) -> None:
        """Play until the end; with keep_open for as long as the window exists."""
        before = self.clock()
        while keep_open or (self.playing and self.t < self.film.times[-1]):
            self.vp.rate(PICTURES)
            now = self.clock()
            if self.playing:
                self.advance(now - before)
            before = now

    def advance(self, seconds: float) -> None:
        """Advance by a time of the clock [s]."""
        last = float(self.film.times[-1])
        self.t = min(last, self.t + self.speed * seconds)
        self.draw()
        if self.t >= last:
            self.playing = False
            self._say()

    def draw(self) -> None:
        """Draw everything at the present time."""
        film = self.film
        k = int(np.abs(film.times - self.t).argmin())
        if len(film.times) > 1:
            self.place.value = self.t
            self._say()
            self.cursor.data = [[self.t, self.span[0]], [self.t, self.span[1]]]
        if k == self.shown:
            return
        self.shown = k
        for number, thing in enumerate(self.solids):
            self._place(thing, number, k)
        for thing, ends in zip(self.axles, film.axles[k], strict=True):
            self._stretch(thing, ends[0], ends[1] - ends[0])
        for thing, (foot, arrow) in zip(self.pushes, film.pushes[k], strict=True):
            self._stretch(thing, foot, arrow)
        for thing, (middle, outwards, edge) in zip(self.marks, film.marks[k], strict=True):
            if self._is_visible(thing, middle):
                self._attach(thing, middle, outwards, edge)

    def _place(self, thing: Any, number: int, k: int) -> None:
        film, about = self.film, self.film.solids[number]
        long, high, wide = about["size"]
        centre, along = film.centres[k, number], film.along[k, number]
        if about["kind"] == "cylinder":  # the origin of a cylinder of VPython is at one end
            centre = centre - 0.5 * long * along
        thing.pos = self._vector(centre)
        if about["kind"] != "sphere":
            thing.axis, thing.up = self._vector(long * along), self._vector(film.up[k, number])
            thing.size = self.vp.vector(long, high, wide)

    def _stretch(self, thing: Any, foot: Floats, vector: Floats) -> None:
        if self._is_visible(thing, foot) and np.linalg.norm(vector) > NO_ARROW * self.film.size:
            thing.pos, thing.axis = self._vector(foot), self._vector(vector)
        else:
            thing.visible = False

    def _attach(self, thing: Any, middle: Floats, outwards: Floats, edge: Floats) -> None:
        thick, side = 0.02 * self.film.size, float(np.linalg.norm(edge))
        thing.pos, thing.size = self._vector(middle), self.vp.vector(thick, side, side)
        thing.axis, thing.up = self._vector(thick * outwards), self._vector(edge)

    def _is_visible(self, thing: Any, point: Floats) -> bool:
        thing.visible = bool(np.isfinite(point).all())
        return bool(thing.visible)

    def _say(self) -> None:
        self.button.text = "Pause" if self.playing else "Play"
        self.words.text = f"t = {self.t:.2f} s, \u00d7{self.speed:.3g}"


def top(low: float, high: float) -> float:
    """The upper end of an axis that begins at `low`, such that VPython divides it by ones, twos or
    fives: quarters it would round to one digit."""
    span = high - low or 1.0
    power = 10.0 ** math.floor(math.log10(span / 9.6))
    return low + max(span, 15.0 * power)
