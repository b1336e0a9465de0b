"""Runs in files that somebody has damaged: `Trajectory.load` reads them, or says in a sentence why
not."""

from __future__ import annotations

import io
import json
import math
import random
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_refused
from tests.fuzz import CHUNK, check_reading, chunks, mutated, scribbled, uses_of

HEADER = b"\x93NUMPY\x01\x00"


@cache
def file() -> bytes:
    """A run with an event and a stop, in a file."""
    hub = qp.Body.box("hub", (0.1, 0.1, 0.1), mass=1.0, fixed=True)
    arm = qp.Body.box(
        "arm", (0.1, 0.1, 0.1), mass=1.0, position=(0.1, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0)
    )
    hinge = qp.Revolute("hinge", hub, arm, at=(0.05, -0.05, 0.0), axis=(0.0, 0.0, 1.0))
    push = qp.Load("push", arm, force=(0.0, 1.0, 0.0))
    system = qp.Multibody(
        hub, arm, hinge, push, qp.JointStop("stop", hinge, upper=0.2, restitution=0.5)
    )
    return packed_of(system.simulate(1.0))


def packed_of(run: qp.Trajectory) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        run.save(path)
        return path.read_bytes()


@cache
def members() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def written(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def uses(run: qp.Trajectory, path: Path, chance: random.Random) -> Iterator[Callable[[], Any]]:
    """All of a run is looked at, and of some it goes on and its system moves: a file that is read
    can be used."""
    joints = [joint.name for joint in run.system.tables.joints]
    yield lambda: (repr(run), *map(str, run.events), *(run[name] for name in run.system.bodies))
    yield lambda: [run[name].angle for name in joints if f"{name}.angle" in run.system.measures]
    for t in (run.t[0], 0.5 * (run.t[0] + run.t[-1]), run.t[-1]):
        yield partial(run.at, float(t))
    yield lambda: (run.energy, run.momentum, run.drift, run.impacts)
    if chance.random() < 0.2:
        yield lambda: run.system.at(run.final).simulate(1e-3, max_steps=20, progress=False)
        yield from uses_of(run.system)
        yield lambda: run.save(path)
    if chance.random() < 0.004:
        yield run.plot
    assert len(run.states) == len(run.t)


def poked(array: Any, chance: random.Random) -> Any:
    """An array of which one number is another."""
    out = np.array(array)
    if out.size:
        place = chance.randrange(out.size)
        values: tuple[Any, ...] = (
            math.nan, math.inf, -math.inf, 1e308, 5e-324, 0.0, -1.0, out.flat[place - 1]
        )  # fmt: skip
        if out.dtype.kind in "iub":
            values = (0, 1, -1, 2**40, out.flat[place - 1])
        with np.errstate(invalid="ignore"):
            out.flat[place] = chance.choice(values)
    return out


def other_array(array: Any, chance: random.Random) -> Any:
    """An array of another shape, kind or content."""
    changes = (
        lambda a: a[:-1], lambda a: a[None], lambda a: a.astype(np.float32),
        lambda a: a.astype(np.int64), lambda a: a.astype(str), lambda a: a.ravel(),
        lambda a: a * np.nan, lambda a: a[..., :0], lambda a: a[::-1], lambda a: a + 1e300,
        lambda a: np.zeros(3), lambda a: a.astype(complex), lambda a: a * 0.0, lambda a: a.T,
    )  # fmt: skip
    try:
        return chance.choice(changes)(array)
    except (IndexError, TypeError, ValueError, np.exceptions.AxisError):
        return np.array(0.0)


def forged_header(data: bytes, chance: random.Random) -> bytes:
    """The same bytes, of which a header says something else."""
    shape = chance.choice(
        (
            "(1000000000000,)",
            "(3,)",
            "(-1,)",
            "(10**9, 10**9)",
            "()",
            "(0, 10000000000000)",
            "(((((",
            "1",
        )
    )
    kind = chance.choice(("<f8", "<f4", "|b1", "<U9999999", "|O", "<i8", ">f8", "|V0", "<M8[s]"))
    order = chance.choice(("True", "False"))
    text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return HEADER + len(text).to_bytes(2, "little") + text + data[128:]


@chunks(5)
def test_damaged_runs(chunk: int, tmp_path: Path) -> None:
    chance, path, read = random.Random(chunk), tmp_path / "run.npz", 0
    document = json.loads(str(np.load(io.BytesIO(members()["document.npy"]))))
    names = [name for name in members() if name not in ("schema.npy", "document.npy")]
    for _ in range(CHUNK):
        parts, sort = dict(members()), chance.random()
        name = chance.choice(names)
        if sort < 0.3:
            parts["document.npy"] = written(np.array(json.dumps(mutated(document, chance))))
        elif sort < 0.4:
            parts[name] = written(poked(np.load(io.BytesIO(parts[name])), chance))
        elif sort < 0.55:
            parts[name] = written(other_array(np.load(io.BytesIO(parts[name])), chance))
        elif sort < 0.7:
            parts[name] = forged_header(parts[name], chance)
        elif sort < 0.8:
            parts[name] = scribbled(parts[name], chance)
        path.write_bytes(scribbled(file(), chance) if sort >= 0.8 else archive_of(parts))
        read += check_reading(lambda: qp.Trajectory.load(path), lambda run: uses(run, path, chance))
    assert read < CHUNK


@pytest.mark.parametrize("lost", ["stop", "label", "held", "pose", "turn"])
def test_what_a_run_leaves_is_that_of_its_system(lost: str, tmp_path: Path) -> None:
    """A run whose stop has gone from the system, or from the course, and poses that are none, were
    read, and failed in use."""
    path, parts = tmp_path / "run.npz", dict(members())
    document = json.loads(str(np.load(io.BytesIO(parts["document.npy"]))))
    root = document["root"]
    if lost == "stop":
        root["parts"] = [part for part in root["parts"] if part != {"part": "stop"}]
    if lost in ("label", "held"):
        root["course"] |= {"stops": [], "held": -1} if lost == "held" else {"stops": ["stop lower"]}
    if lost in ("pose", "turn"):
        states = np.load(io.BytesIO(parts["course.states.npy"]))
        states[3, 0, 3:7] = math.nan if lost == "pose" else 0.0
        parts["course.states.npy"] = written(states)
    parts["document.npy"] = written(np.array(json.dumps(document)))
    path.write_bytes(archive_of(parts))
    check_refused(lambda: qp.Trajectory.load(path), str(path), ("damaged",))


def test_headers_that_promise_too_much_take_no_memory(tmp_path: Path) -> None:
    path, parts = tmp_path / "run.npz", dict(members())
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    parts["course.t.npy"] = HEADER + len(head).to_bytes(2, "little") + head + bytes(80)
    path.write_bytes(archive_of(parts))
    check_refused(lambda: qp.Trajectory.load(path), str(path), ("is not a run, or is damaged",))


def test_packed_members_are_refused(tmp_path: Path) -> None:
    """Few bytes of which a great many would come."""
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members().items():
            archive.writestr(name, data)
        archive.writestr("bomb.npy", bytes(1 << 24))
    check_refused(lambda: qp.Trajectory.load(path), str(path), ("is not a run, or is damaged",))


@pytest.mark.parametrize("path", [3, None, b"run.npz", "a\0b", ""])
def test_what_is_no_path(path: Any) -> None:
    check_refused(lambda: qp.Trajectory.load(path), "load", ())
    check_refused(lambda: qp.ReconfigurationGraph.load(path), "load", ())
