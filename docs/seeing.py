"""The pictures of the pages: `python -m docs.seeing [folder]` writes them.  It needs the extra
`plots`.

A function draws the picture of its name; its docstring is the caption that the gallery has."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import quirkpy as qp
from demos import free_in_orbit, imaging_in_orbit, solar_arrays, tensegrities
from demos.cubesat_pair import pair
from demos.hinged_cubes import pulled_to, swing
from demos.linear_model import arm
from quirkpy.explore.answers.replay import Replay
from quirkpy.views.drawing import Drawing


def system() -> Drawing:
    """A ball on a spring, a sliding can, a sensor, and what pulls on them."""
    box = qp.Body.box("base", (0.4, 0.4, 0.02), fixed=True, position=(0, 0, -0.1))
    can = qp.Body.cylinder("can", 0.05, 0.15, 1.0, axis="z", position=(0.1, 0.1, 0))
    ball = qp.Body.sphere("ball", 0.06, 0.5, position=(-0.1, 0, 0.1))
    slide = qp.Prismatic("slide", box, can, at=(0.1, 0.1, 0), axis=(0, 0, 1))
    ends = {"at1": (0.1, 0.1, 0.075), "at2": (-0.1, 0, 0.1)}
    spring = qp.Spring("spring", can, ball, **ends, stiffness=10.0, rest_length=0.1)
    eye = qp.Sensor("eye", box.site("top", at=(0, -0.1, 0.01), z=(0, 0, 1)))
    return qp.Multibody(box, can, ball, slide, spring, qp.Gravity((0, 0, -2.0)), eye).picture()


@cache
def swung() -> qp.Trajectory:
    """A cube that swings from one face of another to the next."""
    return swing(pulled_to(0.0, -0.2, 0.0), "shut on the south face", -math.pi)


def run() -> Drawing:
    """A cube that swings from one face of another to the next."""
    return swung().picture()


def charts() -> Drawing:
    """Angle and rate of its hinge, the ledger of energy, and what projection removed."""
    return swung().plot("joints", "energy", "drift")


def landscape() -> Drawing:
    """The well beyond the south face, as a surface and from above, and the way across it."""
    return swung().landscape()


def rest() -> Drawing:
    """Two motions of a folding arm around its state of rest."""
    return arm.settle().picture()


@cache
def shapes() -> qp.ReconfigurationGraph:
    """The graph of two cubes."""
    return pair(0.2).explore()


def graph() -> Drawing:
    """Four shapes of two cubes, and the moves between them, coloured by energy."""
    return shapes().picture(colour="energy")


def replay() -> Drawing:
    """Energy, power and the work of switching of four moves."""
    known = shapes()
    ways = [known.plan("n0", "n1"), known.plan("n1", "n2"), known.plan("n2", "n0")]
    return known.replay([edge for way in ways for edge in way]).plot("energy", "power")


@cache
def imaged() -> tuple[qp.ReconfigurationGraph, Replay]:
    """The imaging mission in orbit, its shapes by their names, and the flight out and back."""
    graph = imaging_in_orbit.study.explore(budget=imaging_in_orbit.FIRST)
    shapes = {key: imaging_in_orbit.shape(node) for key, node in graph.nodes.items()}
    plans = imaging_in_orbit.routes(graph, shapes)
    for key in [*(key for plan in plans for key in plan.nodes), *shapes]:
        if shapes[key] not in [node.name for node in graph.nodes.values()]:
            graph.name(key, shapes[key])
    return graph, graph.replay([edge for plan in plans for edge in plan])


def mission() -> Drawing:
    """Gravity fans four modules out in orbit, coils close them and push them into a row."""
    shown = ["launch", "wide angle", "raster", "one out", "upright row"]
    return imaged()[0].picture(colour="drive", of=shown)


def flight() -> Drawing:
    """Energy, power and the spikes of bolts and pins on that flight, out and back."""
    return imaged()[1].plot("energy", "power")


def folded() -> Drawing:
    """A Miura pattern of 5 x 4 panels, half open."""
    return qp.origami.miura(5, 4, sector=1.1, fold=1.5).system.picture()


def tensegrity() -> Drawing:
    """A tower of three prisms, deployed by winding its strings: the fuller the colour, the higher
    the tension."""
    winding = tensegrities.deployment()[1]
    tower = winding.simulate(15.0).final
    return winding.picture(state=tower, forces=False, eye=(0.45, -0.75, 0.3))


@cache
def deployed() -> qp.Trajectory:
    """Two wings that unfold on a bus."""
    return solar_arrays.deploy(solar_arrays.spacecraft())


def unfolding() -> Drawing:
    """Two wings on a bus: folded, on their way, and flat."""
    return deployed().picture(ghosts=6)


def arrays() -> Drawing:
    """Angles, rates, impulses and energy while these wings unfold."""
    return deployed().plot("joints", "impulses", "energy")


def free() -> Drawing:
    """Angles, commands and power of a bus that unfolds in orbit and holds its attitude."""
    return free_in_orbit.fly(free_in_orbit.spacecraft()).plot("joints", "commands", "power")


def pictures() -> dict[str, Callable[[], Drawing]]:
    """The functions that draw, by the names of their files."""
    return {
        name: draw
        for name, draw in globals().items()
        if inspect.isfunction(draw) and inspect.signature(draw).return_annotation == "Drawing"
    }


def main(folder: Path) -> None:
    """Write them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in pictures().items():
        (folder / f"{name}.png").write_bytes(draw().png(dpi=100))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "seeing")
