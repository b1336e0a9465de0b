"""The pictures of docs/seeing.md: `python -m docs.seeing [folder]` writes them.  It needs the extra
`plots`."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import quirkpy as qp
from demos import imaging_in_orbit, solar_arrays, tensegrities
from demos.cubesat_pair import pair
from demos.hinged_cubes import pulled_to, swing
from demos.linear_model import arm
from quirkpy.explore.answers.replay import Replay
from quirkpy.views.drawing import Drawing


def drawings() -> dict[str, Drawing]:
    """All of them by the names of their files."""
    there = swing(pulled_to(0.0, -0.2, 0.0), "shut on the south face", -math.pi)
    graph = pair(0.2).explore()
    flown = graph.replay(
        [*graph.plan("n0", "n1"), *graph.plan("n1", "n2"), *graph.plan("n2", "n0")]
    )
    box = qp.Body.box("base", (0.4, 0.4, 0.02), fixed=True, position=(0, 0, -0.1))
    can = qp.Body.cylinder("can", 0.05, 0.15, 1.0, axis="z", position=(0.1, 0.1, 0))
    ball = qp.Body.sphere("ball", 0.06, 0.5, position=(-0.1, 0, 0.1))
    shelf = qp.Multibody(
        box,
        can,
        ball,
        qp.Prismatic("slide", box, can, at=(0.1, 0.1, 0), axis=(0, 0, 1)),
        qp.Spring(
            "spring",
            can,
            ball,
            at1=(0.1, 0.1, 0.075),
            at2=(-0.1, 0, 0.1),
            stiffness=10.0,
            rest_length=0.1,
        ),
        qp.Gravity((0, 0, -2.0)),
        qp.Sensor("eye", box.site("top", at=(0, -0.1, 0.01), z=(0, 0, 1))),
    )
    modules, flight = mission()
    winding = tensegrities.deployment()[1]
    tower = winding.simulate(15.0).final
    arrays = solar_arrays.deploy(solar_arrays.spacecraft())
    return {
        "system": shelf.picture(),
        "run": there.picture(),
        "charts": there.plot("joints", "energy", "drift"),
        "replay": flown.plot("energy", "power"),
        "landscape": there.landscape(),
        "rest": arm.settle().picture(),
        "graph": graph.picture(colour="energy"),
        "mission": modules.picture(
            colour="drive", of=["launch", "wide angle", "raster", "one out", "upright row"]
        ),
        "flight": flight.plot("energy", "power"),
        "folded": qp.origami.miura(5, 4, sector=1.1, fold=1.5).system.picture(),
        "tensegrity": winding.picture(state=tower, forces=False, eye=(0.45, -0.75, 0.3)),
        "arrays": arrays.plot("joints", "impulses", "energy"),
        "unfolding": arrays.picture(ghosts=6),
    }


def mission() -> tuple[qp.ReconfigurationGraph, Replay]:
    """The imaging mission in orbit, its shapes by their names, and the flight out and back."""
    graph = imaging_in_orbit.study.explore(budget=imaging_in_orbit.FIRST)
    shapes = {key: imaging_in_orbit.shape(node) for key, node in graph.nodes.items()}
    plans = imaging_in_orbit.routes(graph, shapes)
    for key in [*(key for plan in plans for key in plan.nodes), *shapes]:
        if shapes[key] not in [node.name for node in graph.nodes.values()]:
            graph.name(key, shapes[key])
    return graph, graph.replay([edge for plan in plans for edge in plan])


def main(folder: Path) -> None:
    """Write them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings().items():
        (folder / f"{name}.png").write_bytes(drawing.png(dpi=100))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "seeing")
