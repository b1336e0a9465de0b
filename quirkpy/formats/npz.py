"""`Trajectory.save` and `Trajectory.load`: a run as one file, bit for bit.

A file is an npz archive: "schema", a number; "document", the JSON text of everything but arrays,
with the parts as written by `to_json`; and each array under its path, such as "course.states". It
contains no code."""

from __future__ import annotations

import dataclasses
import enum
import io
import json
import math
import os
import struct
import tokenize
import zipfile
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from quirkpy.explore.answers.replay import Leg, Replay
from quirkpy.explore.model.graph import Edge, Outcome
from quirkpy.explore.model.leaving import Leaving
from quirkpy.explore.scope.choices import Arrival, Carried, Choice
from quirkpy.kernels.base.states import attitudes_of, bodies_of, zero_rows
from quirkpy.kernels.users.modal import points_of
from quirkpy.maths.types import Floats
from quirkpy.mechanics.controls import ControlState
from quirkpy.mechanics.state import State, are_rows
from quirkpy.mechanics.system import System
from quirkpy.motion.controllers import recall_commands
from quirkpy.motion.course import (
    Change,
    ControlRecord,
    Counts,
    Course,
    Departure,
    Happening,
    Jump,
    Stop,
)
from quirkpy.motion.settings import Settings, check_settings
from quirkpy.motion.switching import SwitchedTrajectory, apply_switch, begin_as
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.files import FilePath, path_of, readable, replacing
from quirkpy.parts.json import Reader, Writer
from quirkpy.parts.part import PartError
from quirkpy.rest.reason import Reason, told
from quirkpy.system.multibody import Multibody

#: Increased when files change such that an older reader would misread them.
SCHEMA = 1

#: Largest plausible rotation [rad] or travel [m] of a joint.
WOUND = 1e15
#: Largest plausible deviation of the square of a quaternion from one [1].
BROKEN = 0.1
#: Records that are written field by field. A new field needs no code here; with a default, older
#: files stay readable.
RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        Course,
        Counts,
        Departure,
        Happening,
        Jump,
        Settings,
        State,
        ControlRecord,
        ControlState,
    )
}
#: The parts of the legs of a replay apart from their runs, which are written completely.
LEGS: dict[str, type[Any]] = {
    cls.__name__: cls for cls in (Leg, Edge, Outcome, Choice, Carried, Arrival, Leaving, Change)
}
#: The reference of a state to its system, which is written once.
LEFT_OUT = "selection"
#: The field of an edge that belongs to its graph.
OF_GRAPH = "robustness"
#: The tails of states, which are empty for most systems.
TAILS = ("further", "tail")
#: Errors for files that are not archives of NumPy, or are damaged.
UNREADABLE = (
    ValueError, EOFError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError,
    MemoryError, SyntaxError, struct.error, tokenize.TokenError, zipfile.BadZipFile,
)  # fmt: skip


def save(run: Trajectory, path: FilePath) -> None:
    """Write a run, with exactly the given file name; functions of t raise an error."""
    check_ending(path)
    arrays: dict[str, Any] = {}
    writers = {
        Trajectory: partial(_write_run, arrays),
        SwitchedTrajectory: partial(_write_pieces, arrays),
        Replay: partial(_write_legs, arrays),
    }
    text = Writer(writers).document(run)
    with replacing(path, "save") as file:
        np.savez(file, schema=np.array(SCHEMA), document=np.array(text), **arrays)


def check_ending(path: FilePath) -> None:
    """Refuse a name that promises another format than NPZ."""
    ending = path_of(path, "save").suffix
    if ending.lower() not in ("", ".npz"):
        raise PartError(
            f"save: {os.fspath(path)!r} ends in {ending}, but a run is kept as .npz, and its table "
            "as .csv or .h5.",
            code="file",
        )


def load(path: FilePath, modules: Iterable[str] = ()) -> Trajectory:
    """The run written by `save`; see `from_json` for `modules`."""
    name = str(readable(path, "load"))
    arrays = _read_archive(name)
    extra: dict[str, Any] = {key: partial(_record, cls) for key, cls in RECORDS.items()}
    extra |= {
        "Stop": lambda fields: Stop[fields["name"]],
        "float": lambda fields: float(fields["value"]),
        "list": lambda fields: list(fields["items"]),
    }
    extra |= {"array": lambda fields: arrays[fields["name"]], "Trajectory": _read_run}
    extra |= {"SwitchedTrajectory": _read_pieces, "Piece": lambda fields: fields}
    extra |= {key: partial(_restore_record, cls) for key, cls in LEGS.items()} | {
        "Replay": _read_legs
    }
    try:
        run = Reader(str(arrays["document"]), modules, extra).root()
    except PartError as error:
        raise PartError(f"load: {name!r} cannot be read: {error}", code="content") from error
    if not isinstance(run, Trajectory):
        raise PartError(
            f"load: {name!r} holds no run; give a file that Trajectory.save wrote.", code="content"
        )
    return run


# --- writing --------------------------------------------------------------------------------------
def _write_run(
    arrays: dict[str, Any], writer: Writer, run: Trajectory, place: str = ""
) -> dict[str, Any]:
    """The parts, and the start, the settings and the record of the run; place: prefix of the paths
    of its arrays."""
    halves = {"parts": run.system.parts, "candidates": run.system.candidates}
    pieces = {"start": run.start, "settings": run.settings, "course": run.course}
    return (
        {"type": "Trajectory"}
        | {name: writer.value(some) for name, some in halves.items()}
        | {name: _plain(piece, place + name, writer, arrays) for name, piece in pieces.items()}
    )


def _write_legs(arrays: dict[str, Any], writer: Writer, run: Replay) -> dict[str, Any]:
    """The parts of the study, and the legs, each with its runs."""
    halves = {"parts": run.system.parts, "candidates": run.system.candidates}
    told = {name: writer.value(some) for name, some in halves.items()}
    return {"type": "Replay", "legs": _plain(run.legs, "legs", writer, arrays)} | told


def _write_pieces(
    arrays: dict[str, Any], writer: Writer, run: SwitchedTrajectory
) -> dict[str, Any]:
    """The parts, the switches, and for each piece its start, settings and record."""
    system = run.system
    halves = {"parts": system.parts, "candidates": system.candidates, "switches": run.switches}
    pieces = []
    for k, (_, one) in enumerate(run.pieces):
        fields = {"start": one.start, "settings": one.settings, "course": one.course}
        plain = {
            name: _plain(field, f"pieces.{k}.{name}", writer, arrays)
            for name, field in fields.items()
        }
        pieces.append({"type": "Piece", "work": float(run.switchings[k])} | plain)
    told = {name: writer.value(some) for name, some in halves.items()}
    return {"type": "SwitchedTrajectory"} | told | {"pieces": pieces}


def _plain(value: Any, place: str, writer: Writer, arrays: dict[str, Any]) -> Any:
    """A value as JSON; its arrays are stored separately under their paths."""
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {"type": "array", "name": place}
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": "float", "value": str(float(value))}
    if isinstance(value, enum.Enum):
        return {"type": type(value).__name__, "name": value.name}
    if type(value) is Trajectory:
        return _write_run(arrays, writer, value, f"{place}.")
    kind = type(value).__name__
    if RECORDS.get(kind, LEGS.get(kind)) is type(value):
        fields, left_out = fields_in(value), LEFT_OUT if kind in RECORDS else OF_GRAPH
        kept = {
            name: item for name, item in fields.items() if name != left_out and is_told(name, item)
        }
        plain = {
            name: _plain(item, f"{place}.{name}", writer, arrays) for name, item in kept.items()
        }
        return {"type": kind} | plain
    if isinstance(value, Reason):
        return str(value)
    if isinstance(value, (tuple, list)):
        items = [_plain(item, f"{place}.{k}", writer, arrays) for k, item in enumerate(value)]
        return {"type": "list", "items": items} if type(value) is list else items
    return writer.value(value, place)


def fields_in(record: Any) -> dict[str, Any]:
    """The fields of a record by name, without derived values."""
    if not dataclasses.is_dataclass(record):
        return dict(record._asdict())
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


def is_told(name: str, value: Any) -> bool:
    """Whether a field is written: tails only if they are not empty."""
    return name not in TAILS or value.size > 0


# --- reading --------------------------------------------------------------------------------------
def _read_archive(name: str) -> dict[str, Any]:
    """All arrays of a file written by `save`, in a schema that this version reads."""
    try:
        with open(name, "rb") as file, zipfile.ZipFile(file) as archive:
            arrays = _members(archive, os.fstat(file.fileno()).st_size)
        schema = int(arrays["schema"])
        json.loads(str(arrays["document"]))
    except OSError as error:
        raise PartError(
            f"load: {name!r} cannot be read: {error.strerror or error}.", code="file"
        ) from error
    except UNREADABLE as error:
        raise PartError(
            f"load: {name!r} is not a run, or is damaged; give a file that Trajectory.save wrote.",
            code="content",
        ) from error
    if schema != SCHEMA:
        raise PartError(
            f"load: {name!r} has schema {schema}, but this version of quirkpy reads {SCHEMA}.",
            code="content",
        )
    return arrays


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, Any]:
    """The arrays of an archive with a given size in bytes, stored without compression, each no
    larger than that."""
    found = archive.infolist()
    if any(info.compress_type != zipfile.ZIP_STORED or info.file_size > size for info in found):
        raise ValueError("its members are packed, or larger than all of it")
    return {info.filename.removesuffix(".npy"): _array(archive.read(info)) for info in found}


def _array(data: bytes) -> Any:
    """An array in NumPy's format; its header must describe exactly the bytes that follow."""
    file = io.BytesIO(data)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, _, kind = read[np.lib.format.read_magic(file)](file)
    if kind.hasobject or math.prod(shape) * kind.itemsize != len(data) - file.tell():
        raise ValueError("its header is not that of its numbers")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def _record(cls: type[Any], fields: dict[str, Any]) -> Any:
    """A record from its fields."""
    return cls(**fields)


def _read_run(fields: dict[str, Any]) -> Trajectory:
    """A run with its system, which begins in the same state and, where it was a continuation, with
    the same step."""
    start = fields["start"]
    system = Multibody(*fields["parts"], candidates=fields["candidates"], start=start)
    if start.step is not None:  # a state without a system has lost it
        system = system.at(system.initial.going_on(start.step, start.merged))
    return _checked_run(system, fields)


def _read_pieces(fields: dict[str, Any]) -> SwitchedTrajectory:
    """A run with switches: each piece with the system after the switches before it."""
    given, switches = fields["pieces"], fields["switches"]
    system: System = Multibody(*fields["parts"], candidates=fields["candidates"])
    runs = []
    for switch, piece in zip((None, *switches), given, strict=True):
        system = system if switch is None else apply_switch(system, switch)
        own = recall_commands(begin_as(system, piece["start"]), piece["course"].records)
        runs.append((0.0, _checked_run(own, piece)))
    works = [float(piece["work"]) for piece in given]
    return SwitchedTrajectory(tuple(runs), works, tuple(switches))


def _restore_record(cls: type[Any], fields: dict[str, Any]) -> Any:
    """A record that is part of a leg, with the reason of an outcome restored."""
    made = cls(**fields)
    return made._replace(reason=told(made.reason)) if isinstance(made, Outcome) else made


def _read_legs(fields: dict[str, Any]) -> Replay:
    """A replay of a plan, leg by leg."""
    legs = fields["legs"]
    if not legs or not all(map(_is_leg, legs)):
        raise ValueError("its legs are none that a replay can have")
    return Replay(Multibody(*fields["parts"], candidates=fields["candidates"]), legs)


def _is_leg(value: Any) -> bool:
    """Whether a value is a leg with an edge, runs, and the loss of energy in each."""
    return (
        isinstance(value, Leg)
        and isinstance(value.edge, Edge)
        and len(value.runs) == len(value.losses) > 0
        and all(type(run) is Trajectory for run in value.runs)
        and all(type(x) is float for x in (value.t, *value.losses))
    )


def _checked_run(system: System, fields: dict[str, Any]) -> Trajectory:
    """A run of a system, from its settings and record."""
    _check_course(fields["course"], system)
    check_settings(1.0, fields["settings"])
    return Trajectory(system, system.initial, fields["settings"], fields["course"])


def _check_course(course: Course, system: System) -> None:
    """Refuse records that no run of a system can have."""
    rows = len(course.t)
    shapes = {
        "t": (rows,), "states": zero_rows(rows, len(system.bodies) + 1).shape,
        "angles": (rows, len(system.tables.coordinate_names)), "drift": (rows, 2),
    }  # fmt: skip
    for name, shape in shapes.items():
        array = getattr(course, name)
        if rows == 0 or array.shape != shape or array.dtype != np.float64:
            raise ValueError(f"its arrays are not those of its system: course.{name}")
    layouts = system.clusters.layout, system.clusters.merged_layout
    if not _is_plain(course, points_of(system.tables).rows_count) or course.stops not in [
        layout.labels for layout in layouts
    ]:
        raise ValueError("its course is none that a run can have left")


def _is_plain(course: Course, moving: int) -> bool:
    """Whether counts, events, stops and numbers of a course are plausible; moving: how many bodies
    and points of modes there are."""
    rows, stops = len(course.t), len(course.stops)
    return bool(
        are_counts(course.counts)
        and all(map(is_happening, course.events))
        and all(map(is_record, course.records))
        and all(map(is_control, course.controls))
        and all(is_jump(jump, moving) for jump in course.jumps)
        and all(map(is_departure, course.departures))
        and texts(course.stops)
        and isinstance(course.stop, Stop)
        and type(course.step) is float
        and isinstance(course.held, np.ndarray)
        and course.held.dtype == bool
        and (course.held.shape == (rows, stops) or not (stops or course.held.size))
        and (course.merged is None or are_rows(course.merged))
        and are_poses(bodies_of(course.states)[: rows - (course.stop is Stop.NOT_FINITE)])
        and are_tails(course.tail, rows)
        and (abs(course.angles) < WOUND).all()
        and np.isfinite(course.t).all()
        and (np.diff(course.t) >= 0.0).all()
    )


def are_poses(states: Floats) -> bool:
    """Whether rows of bodies (k, nb, STATE_WIDTH) are finite, with orientations that are rotations;
    without projection their lengths may deviate from one."""
    turns = attitudes_of(states)
    if not np.isfinite(states).all() or (abs(turns) > 2.0).any():
        return False
    return bool((abs((turns * turns).sum(axis=-1) - 1.0) < BROKEN).all())


def are_counts(value: Any) -> bool:
    """Whether a value is the counts of a run, all of them integers."""
    return isinstance(value, Counts) and all(type(n) is int for n in value)


def is_happening(value: Any) -> bool:
    """Whether a value is an event, with a time and names."""
    return (
        isinstance(value, RECORDS["Happening"])
        and type(value.t) is float
        and texts((value.name,))
        and texts(value.sensors)
        and texts(value.joints)
    )


def is_departure(value: Any) -> bool:
    """Whether a value is a step out of a singular pose."""
    return (
        isinstance(value, Departure)
        and type(value.t) is type(value.span) is float
        and texts(value.held)
        and are_rows(value.state)
        and are_poses(bodies_of(value.state))
        and (value.velocities is None or bool(np.isfinite(value.velocities).all()))
    )


def is_jump(value: Any, moving: int) -> bool:
    """Whether a value is a jump of the velocities of so many bodies and points of modes."""
    bodies = zero_rows(moving).shape
    return (
        isinstance(value, Jump)
        and type(value.t) is float
        and texts(value.held)
        and all(
            isinstance(rows, np.ndarray)
            and are_rows(rows)
            and rows.shape == bodies
            and are_poses(rows)
            for rows in (value.before, value.after)
        )
    )


def is_record(value: Any) -> bool:
    """Whether a value is the record of a controller."""
    return (
        isinstance(value, ControlRecord)
        and texts((value.name, *value.reads, *value.drives))
        and len(value.reads) == len(value.measured)
        and len(value.drives) == len(value.command) == len(value.times) == len(value.values)
        and all(len(some) == len(value.t) for some in (*value.measured, *value.command))
        and all(len(t) == len(x) for t, x in zip(value.times, value.values, strict=True))
        and all(
            isinstance(some, np.ndarray) and some.dtype == np.float64
            for some in (value.t, *value.measured, *value.command, *value.times, *value.values)
        )
    )


def is_control(value: Any) -> bool:
    """Whether a value is the state of a controller at the end of a run."""
    return (
        isinstance(value, ControlState)
        and texts((value.name,))
        and (value.begun is None or type(value.begun) is float)
        and type(value.samples) is int
        and isinstance(value.lines, tuple)
        and isinstance(value.pending, tuple)
    )


def are_tails(array: Floats, rows: int) -> bool:
    """Whether an array holds tails of states, or is empty."""
    return array.dtype == np.float64 and array.ndim == 2 and len(array) in (0, rows)


def texts(values: Any) -> bool:
    """Whether values are a tuple of strings."""
    return isinstance(values, tuple) and all(isinstance(value, str) for value in values)
