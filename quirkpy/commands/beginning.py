"""Commands for beginners: `new` writes a first study, `movie` a film of a run, `picture` a picture
of anything."""

from __future__ import annotations

import argparse
from pathlib import Path

from quirkpy.commands.answer import Answer
from quirkpy.commands.definitions import load_definition
from quirkpy.parts.files import check_writable, ending_of, write_text
from quirkpy.parts.part import PartError

#: The study written by `quirkpy new study`.
STUDY = '''"""Two modules that share an edge: into which shapes can they fall?

    quirkpy check {name}
    quirkpy explore {name}
    quirkpy report {journal} --out shapes.html
"""

import quirkpy as qp

# Bodies: sizes in metres, masses in kilograms.  The first stands; without fixed=True it floats.
hub = qp.Body.box("hub", size=(0.1, 0.1, 0.1), mass=1.0, fixed=True)
arm = qp.Body.box("arm", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0, 0))


def face(body, direction, accepts):
    """A sensor in the middle of a face of a module; its kind says where it is."""
    kind = f"{{body.name}} {{direction}}"
    z = {{"east": (1, 0, 0), "west": (-1, 0, 0), "south": (0, -1, 0)}}[direction]
    site = body.site(kind, at=tuple(0.05 * c for c in z), z=z, x=(0, 0, 1))
    return qp.Sensor(kind, site, kind=kind, accepts=(accepts,), reach=1e-3, alignment=qp.deg * 0.6)


study = qp.Study(
    qp.Multibody(hub, arm),
    sensors=[
        face(hub, "east", "arm west"), face(arm, "west", "hub east"),
        face(hub, "south", "arm south"), face(arm, "south", "hub south"),
    ],
    # What a pair of faces in range may become: apart, locked, or hinged along one of its edges.
    options={{
        ("hub east", "arm west"): [qp.Free(), qp.Lock(), qp.Hinge(edge=1)],
        ("hub south", "arm south"): [qp.Free(), qp.Lock(), qp.Hinge(edge=2)],
    }},
    # Fields that can be switched: names, and the forces that act together.
    potentials={{
        "none": [],
        "east": [qp.PotentialWell("well", arm, centre=(0.1, 0, 0), stiffness=0.05)],
        "south": [qp.PotentialWell("well", arm, centre=(0, -0.1, 0), stiffness=0.05)],
    }},
    always=[qp.ViscousHinges(2e-4)],  # what acts whatever is chosen: without damping nothing rests
    safety=[qp.StayTogether(), qp.Limit("speed", 0.5)],  # what a motion must not do
)
'''


def words_of_new(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy new`."""
    it.add_argument("kind", choices=("study",), help="what to begin with")
    it.add_argument("file", type=Path, help="the Python file to write; it must not be there yet")


def new(asked: argparse.Namespace) -> Answer:
    """`quirkpy new study my.py`: a study with comments, to begin with."""
    path: Path = asked.file
    if path.suffix != ".py":
        raise PartError(f"{str(path)!r} is no Python file; its name must end in .py.", code="file")
    if path.exists():
        raise PartError(f"{str(path)!r} is there already; give another name.", code="file")
    text = STUDY.format(name=path.name, journal=path.with_suffix(".db").name)
    write_text(path, text, "new")
    words = f"{str(path)!r} is a study of two modules; next: quirkpy explore {path}"
    return Answer(words, {"file": str(path)})


def words_of_movie(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy movie`."""
    it.add_argument("file", type=Path, help="a run that was saved, run.npz")
    it.add_argument("--out", type=Path, required=True, metavar="FILE", help="run.mp4 or run.gif")
    it.add_argument("--fps", type=float, default=25.0, metavar="N", help="(default 25)")


def movie(asked: argparse.Namespace) -> Answer:
    """`quirkpy movie run.npz --out run.mp4`: a film of a run."""
    from quirkpy.motion.trajectory import Trajectory

    check_writable(asked.out, "movie")
    Trajectory.load(asked.file).movie(asked.out, fps=asked.fps)
    return Answer(f"The film is {str(asked.out)!r}.", {"out": str(asked.out)})


def words_of_picture(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy picture`."""
    what = "a journal (.db), a run (.npz), or what defines a study or a system"
    it.add_argument("file", type=Path, help=what)
    it.add_argument("--out", type=Path, required=True, metavar="FILE", help=".png, .svg or .pdf")


def picture(asked: argparse.Namespace) -> Answer:
    """`quirkpy picture pair.db --out shapes.svg`: a graph, a run or a system as a picture."""
    from quirkpy.explore.graph import PICTURES, ReconfigurationGraph
    from quirkpy.motion.trajectory import Trajectory

    check_writable(ending_of(asked.out, "picture", PICTURES), "picture")
    if asked.file.suffix == ".db":
        ReconfigurationGraph.load(asked.file).picture(asked.out)
    elif asked.file.suffix == ".npz":
        Trajectory.load(asked.file).picture(asked.out)
    else:
        made = load_definition(asked.file)
        getattr(made, "system", made).picture(asked.out)
    return Answer(f"The picture is {str(asked.out)!r}.", {"out": str(asked.out)})
