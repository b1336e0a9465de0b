"""The frame of an MJCF file: its includes, defaults, units and rotations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from quirkpy.formats.models.links import RelativePose, rotation_about
from quirkpy.formats.models.xml import MOST_ELEMENTS, XmlElement, place_below, read_elements
from quirkpy.formats.mujoco.geoms import turn_z_to
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.maths.warnings import deg
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

#: Largest number of files that one model may include.
MOST_FILES = 200
#: Actuators, which share their defaults.
ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle",
    "adhesion",
)  # fmt: skip


def read_whole(path: object, root: Path | None) -> XmlElement:
    """The root element of a model with all included elements."""
    top = read_elements(path, "read_mjcf")
    folder = top.file.absolute().parent
    below = folder.parent if root is None else root
    _include(top, folder, below, [0], sum(1 for _ in top.walk()))
    return top


def _include(element: XmlElement, folder: Path, root: Path, files: list[int], count: int) -> int:
    """Replace <include> by the contents of files; returns the number of elements then."""
    children = []
    for child in element.children:
        if child.tag != "include":
            count = _include(child, folder, root, files, count)
            children.append(child)
            continue
        files[0] += 1
        other = _read_included(child, folder, root)
        count += sum(1 for _ in other.walk())
        if files[0] > MOST_FILES or count > MOST_ELEMENTS:
            raise child.refuse(f"it includes more than {MOST_FILES} files, or too much in them.")
        count = _include(other, folder, root, files, count)
        children += other.children
    element.children = children
    return count


def _read_included(element: XmlElement, folder: Path, root: Path) -> XmlElement:
    name = element.text("file")
    for base in (folder, element.file.absolute().parent):
        try:
            return read_elements(place_below(root, base, name, (".xml", ".mjcf")), "read_mjcf")
        except PartError as error:
            reason = error
    raise element.refuse(f"{name!r} cannot be included: {str(reason).rstrip('.')}.")


class Defaults:
    """The default classes of a model."""

    def __init__(self, top: XmlElement) -> None:
        self.classes: dict[str, dict[str, XmlElement]] = {"main": {}}
        for element in top.all("default"):
            element.asked.add("class")
            self._read(element, "main", {})

    def _read(self, element: XmlElement, name: str, above: dict[str, XmlElement]) -> None:
        own = self.classes.setdefault(name, dict(above))
        inner = []
        for child in element.all():
            if child.tag == "default":
                inner.append(child)
                continue
            child.behind = own.get(child.tag)
            own[child.tag] = child
            for other in ACTUATORS if child.tag in ACTUATORS else ():
                own[other] = child
        for child in inner:
            self._read(child, child.text("class"), own)

    def complete(self, element: XmlElement, around: str) -> None:
        """Supply omitted attributes of an element from its class, or from that of its parent."""
        name = element.get("class") or around
        if name not in self.classes:
            raise element.refuse(f"its class {name!r} is none of the defaults.")
        element.behind = self.classes[name].get(element.tag)


class Units:
    """How a model writes angles and turns; `compiler` has the attributes of all <compiler>, of
    which later ones hold."""

    def __init__(self, top: XmlElement) -> None:
        self.compiler = XmlElement("compiler", {}, top.file, top.line)
        for element in top.all("compiler"):
            element.asked.update(KNOWN_SETTINGS)
            element.behind, self.compiler = self.compiler, element
        if self.compiler.get("coordinate", "local") != "local":
            raise top.refuse(
                "its coordinates are global, which MuJoCo reads no more either; save it by an "
                "older MuJoCo first."
            )
        self.angle = 1.0 if self._in_radians() else deg
        self.sequence = self._euler_sequence()

    def _in_radians(self) -> bool:
        found = self.compiler.get("angle", "degree")
        if found not in ("degree", "radian"):
            raise self.compiler.refuse(
                f"angle of <compiler> is {show(found)}, but must be 'degree' or 'radian'."
            )
        return found == "radian"

    def _euler_sequence(self) -> str:
        found = self.compiler.get("eulerseq") or "xyz"
        if len(found) != 3 or set(found.lower()) - set("xyz"):
            raise self.compiler.refuse(
                f"eulerseq of <compiler> is {show(found)}, but must be three letters of xyz, "
                "small where axes turn along."
            )
        return found

    def groups(self) -> range:
        """The groups of geoms that have mass."""
        given = self.compiler.numbers("inertiagrouprange", 2)
        low, high = (0, 5) if given is None else map(int, given.tolist())
        return range(low, high + 1)

    def number(self, name: str) -> float:
        """A setting that is a number; zero where it is not there."""
        return self.compiler.number(name) or 0.0

    def pose(self, element: XmlElement) -> RelativePose:
        """The pose of an element."""
        at = element.numbers("pos", 3)
        return RelativePose(self.turn(element), np.zeros(3) if at is None else at)

    def turn(self, element: XmlElement) -> Floats:
        """The rotation (3, 3) of an element, in one of the five notations."""
        ways = {
            "quat": (4, _of_quaternion), "axisangle": (4, self._of_axis),
            "euler": (3, self._of_euler), "xyaxes": (6, _of_axes), "zaxis": (3, turn_z_to),
        }  # fmt: skip
        turn = np.eye(3)
        for name, (count, way) in ways.items():
            given = element.numbers(name, count)
            if given is not None:
                if name != "euler" and not given[: 4 if name == "quat" else 3].any():
                    raise element.refuse(f"{name} of <{element.tag}> is zero, and says no turn.")
                turn = way(given)
        return turn

    def _of_axis(self, given: Floats) -> Floats:
        return rotation_about(given[:3], float(given[3]) * self.angle)

    def _of_euler(self, given: Floats) -> Floats:
        """Successive rotations: about axes that rotate along for lower-case letters."""
        turn = np.eye(3)
        if not given.any():
            return turn
        for letter, angle in zip(self.sequence, given.tolist(), strict=True):
            step = rotation_about(np.eye(3)["xyz".index(letter.lower())], angle * self.angle)
            turn = turn @ step if letter.islower() else step @ turn
        return turn


#: Attributes of <compiler> that are read.
KNOWN_SETTINGS = (
    "angle", "coordinate", "eulerseq", "meshdir", "assetdir", "autolimits", "inertiafromgeom",
    "boundmass", "boundinertia", "settotalmass", "balanceinertia", "inertiagrouprange", "strippath",
)  # fmt: skip


def _of_quaternion(given: Floats) -> Floats:
    return quat.matrix(quat.from_array(given / np.linalg.norm(given)))


def _of_axes(given: Floats) -> Floats:
    """A rotation from x, and y made perpendicular to it, as columns."""
    x = given[:3] / np.linalg.norm(given[:3])
    y = given[3:] - (given[3:] @ x) * x
    y = y / np.linalg.norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def walk_bodies(element: XmlElement) -> Iterator[XmlElement]:
    """The elements of all bodies within one, parents first."""
    for child in element.children:
        if child.tag == "body":
            yield child
            yield from walk_bodies(child)
