"""`Trajectory.save` and `Trajectory.load`: a run as one file, bit for bit.

A file is an npz archive: "schema", a number; "document", the JSON text of all that is no array, with the parts as
`to_json` writes them; and each array under the place where it belongs, such as "course.states".  No code is in it.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import zipfile
import zlib
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from quirkpy.course import Counts, Course, Happening, Stop
from quirkpy.kernels.arrays import STATE_WIDTH
from quirkpy.multibody import Multibody
from quirkpy.parts.files import FilePath, path_of, replacing
from quirkpy.parts.json import Reader, Writer
from quirkpy.parts.part import PartError
from quirkpy.simulate import Settings
from quirkpy.state import State
from quirkpy.trajectory import Trajectory

#: Rises when files change so that an older reader would misread them.
SCHEMA = 1

#: What is written field by field.  A new field needs no code here; with a default, older files stay readable.
RECORDS: dict[str, type[Any]] = {cls.__name__: cls for cls in (Course, Counts, Happening, Settings, State)}
#: A state's way back to its system, which is written once.
LEFT_OUT = "selection"
#: What NumPy says of a file that is no archive of its own, or a damaged one.
UNREADABLE = (ValueError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def save(run: Trajectory, path: FilePath) -> None:
    """Write a run, under exactly the given name; functions of t are refused."""
    arrays: dict[str, Any] = {}
    text = Writer({Trajectory: partial(_write_run, arrays)}).document(run)
    with replacing(path, "save") as file:
        np.savez(file, schema=np.array(SCHEMA), document=np.array(text), **arrays)


def load(path: FilePath, modules: Iterable[str] = ()) -> Trajectory:
    """The run that `save` wrote; see `from_json` for `modules`."""
    name = str(path_of(path, "load"))
    arrays = _read_archive(name)
    extra: dict[str, Any] = {key: partial(_record, cls) for key, cls in RECORDS.items()}
    extra |= {"Stop": lambda fields: Stop[fields["name"]], "float": lambda fields: float(fields["value"])}
    extra |= {"array": lambda fields: arrays[fields["name"]], "Trajectory": _read_run}
    try:
        run = Reader(str(arrays["document"]), modules, extra).root()
    except PartError as error:
        raise PartError(f"load: {name!r} cannot be read: {error}") from error
    except (ValueError, IndexError) as error:
        raise PartError(f"load: {name!r} is damaged or was changed by hand: {error}.") from error
    if not isinstance(run, Trajectory):
        raise PartError(f"load: {name!r} holds no run; give a file that Trajectory.save wrote.")
    return run


# --- writing ----------------------------------------------------------------------------------------------------------
def _write_run(arrays: dict[str, Any], writer: Writer, run: Trajectory) -> dict[str, Any]:
    """The parts, and what the run began with, was asked for and left."""
    halves = {"parts": run.system.parts, "candidates": run.system.candidates}
    pieces = {"start": run.start, "settings": run.settings, "course": run.course}
    return (
        {"type": "Trajectory"}
        | {name: writer.value(some) for name, some in halves.items()}
        | {name: _plain(piece, name, writer, arrays) for name, piece in pieces.items()}
    )


def _plain(value: Any, place: str, writer: Writer, arrays: dict[str, Any]) -> Any:
    """A value as JSON; its arrays are laid aside under their places."""
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {"type": "array", "name": place}
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": "float", "value": str(float(value))}
    if isinstance(value, enum.Enum):
        return {"type": type(value).__name__, "name": value.name}
    if RECORDS.get(type(value).__name__) is type(value):
        fields = vars(value) if dataclasses.is_dataclass(value) else value._asdict()
        kept = {name: item for name, item in fields.items() if name != LEFT_OUT}
        plain = {name: _plain(item, f"{place}.{name}", writer, arrays) for name, item in kept.items()}
        return {"type": type(value).__name__} | plain
    if isinstance(value, (tuple, list)):
        return [_plain(item, f"{place}.{k}", writer, arrays) for k, item in enumerate(value)]
    return writer.value(value, place)


# --- reading ----------------------------------------------------------------------------------------------------------
def _read_archive(name: str) -> dict[str, Any]:
    """All arrays of a file that `save` wrote, in a schema that this version reads."""
    try:
        with open(name, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        schema = int(arrays["schema"])
        json.loads(str(arrays["document"]))
    except OSError as error:
        raise PartError(f"load: {name!r} cannot be read: {error.strerror}.") from error
    except (*UNREADABLE, AttributeError, TypeError) as error:
        raise PartError(
            f"load: {name!r} is not a run, or is damaged; give a file that Trajectory.save wrote."
        ) from error
    if schema != SCHEMA:
        raise PartError(f"load: {name!r} has schema {schema}, but this version of quirkpy reads {SCHEMA}.")
    return arrays


def _record(cls: type[Any], fields: dict[str, Any]) -> Any:
    """A record from its fields."""
    return cls(**fields)


def _read_run(fields: dict[str, Any]) -> Trajectory:
    """A run with its system, which begins in the same state and, where it went on, as it did."""
    start, course = fields["start"], fields["course"]
    system = Multibody(*fields["parts"], candidates=fields["candidates"], start=start)
    if start.step is not None:  # a state without a system has lost it
        system = system.at(system.initial.going_on(start.step, start.merged))
    rows = len(course.t)
    shapes = (rows,), (rows, len(system.bodies) + 1, STATE_WIDTH), (rows, len(system.tables.coordinate_names))
    if rows == 0 or (course.t.shape, course.states.shape, course.angles.shape) != shapes:
        raise ValueError("its arrays are not those of its system")
    return Trajectory(system, system.initial, fields["settings"], course)
