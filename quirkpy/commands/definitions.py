"""The definitions in users' files: studies and systems in Python, in JSON, and in models of other
programs."""

from __future__ import annotations

import importlib
import keyword
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from quirkpy.maths import interrupts
from quirkpy.parts.files import module_from, name_of_file, readable
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    from quirkpy.explore.study import Study
    from quirkpy.formats.models.imported import Imported
    from quirkpy.system.multibody import Multibody

#: Endings of files with models of other programs.
MODELS = (".urdf", ".xml", ".mjcf")


def load_definition(path: Path) -> Any:
    """The study or the system defined in a file."""
    from quirkpy.formats.json import from_json

    if path.suffix == ".py":
        module = module_of(path)
        if not hasattr(module, "study") and not hasattr(module, "system"):
            raise PartError(
                f"{str(path)!r} does not define `system`, a qp.Multibody, nor `study`, a qp.Study; "
                "let it define one.",
                code="file",
            )
        return study_of(module, path) if hasattr(module, "study") else system_of(module, path)
    if path.suffix == ".json":
        return from_json(readable(path, "check").read_bytes())
    if path.suffix in MODELS:
        return read_model(path).system
    raise PartError(
        f"{str(path)!r} can't be read: it is neither Python (.py), nor what to_json wrote (.json), "
        "nor a model (.urdf, .xml, .mjcf).",
        code="file",
    )


def read_model(path: Path) -> Imported:
    """The model of a URDF or an MJCF file."""
    from quirkpy.formats.models.urdf import read_urdf
    from quirkpy.formats.mujoco.mjcf import read_mjcf

    return read_urdf(path) if path.suffix == ".urdf" else read_mjcf(path)


def module_of(path: Path) -> ModuleType:
    """The module made from a Python file: under the name by which others import it or, if another
    module has that name or it is invalid, under a name made from the file's path."""
    if not path.is_file():
        raise PartError(f"there is no file {str(path)!r}.", code="file")
    if path.suffix != ".py":
        raise PartError(f"{str(path)!r} is no Python file; its name must end in .py.", code="file")
    place, folder = path.resolve(), str(path.resolve().parent)
    taken = is_taken(path.stem, place)
    if folder not in sys.path:  # at its end, it hides no library
        sys.path.insert(len(sys.path) if taken else 0, folder)
    module = module_from(place, name_of_file(path)) if taken else importlib.import_module(path.stem)
    interrupts.check()
    return module


def is_taken(name: str, place: Path) -> bool:
    """Whether a name is that of another module than a file's, or cannot be imported."""
    if not name.isidentifier() or keyword.iskeyword(name) or name in sys.stdlib_module_names:
        return True
    if name in sys.modules:
        known = getattr(sys.modules[name], "__file__", None)
        return known is None or Path(known).resolve() != place
    others = [one for one in sys.path if Path(one).resolve() != place.parent]
    return PathFinder.find_spec(name, others) is not None


def study_of(module: ModuleType, path: Path) -> Study:
    """The study defined in a file."""
    from quirkpy.explore.study import Study

    made = getattr(module, "study", None)
    if not isinstance(made, Study):
        way = f"; quirkpy simulate {path} moves its `system`" if hasattr(module, "system") else ""
        raise PartError(f"{str(path)!r} does not define `study`, a qp.Study{way}.", code="file")
    return made


def system_of(module: ModuleType, path: Path) -> Multibody:
    """The system defined in a file."""
    from quirkpy.system.multibody import Multibody

    made = getattr(module, "system", None)
    if not isinstance(made, Multibody):
        raise PartError(f"{str(path)!r} does not define `system`, a qp.Multibody.", code="file")
    return made
