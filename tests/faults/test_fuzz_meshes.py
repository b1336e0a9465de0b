"""Meshes in files that somebody has damaged: `Mesh.load` reads them, or says in a sentence why
not."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from tests.faults.sentence import check_refused
from tests.fuzz import CHUNK, check_reading, chunks, scribbled

trimesh: Any = pytest.importorskip("trimesh")


@cache
def files() -> tuple[tuple[str, bytes], ...]:
    """A box and a rod as each of the formats that trimesh writes, in letters and in bytes."""
    out = []
    for solid in (
        trimesh.creation.box((0.1, 0.2, 0.3)),
        trimesh.creation.cylinder(0.1, 0.3, sections=6),
    ):
        for ending, keywords in (
            ("stl", {"file_type": "stl"}),
            ("stl", {"file_type": "stl_ascii"}),
            ("obj", {"file_type": "obj"}),
            ("ply", {"file_type": "ply", "encoding": "ascii"}),
            ("ply", {"file_type": "ply"}),
            ("off", {"file_type": "off"}),
        ):
            data = solid.export(**keywords)
            out.append((ending, data.encode() if isinstance(data, str) else data))
    return tuple(out)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """What trimesh logs of damaged files is of no interest."""
    logger = logging.getLogger("trimesh")
    before, logger.disabled = logger.disabled, True
    yield
    logger.disabled = before


def use(path: Path) -> None:
    """Read a mesh, and look at it."""
    for step in uses(qp.Mesh.load(path)):
        step()


def uses(mesh: qp.Mesh) -> Iterator[Callable[[], Any]]:
    """A mesh has a volume, is written, and is the shape of a body of known inertia.  (One that is
    damaged may be too large or too thin to be filled evenly, which `Body.mesh` refuses.)"""
    assert mesh.volume > 0.0
    yield lambda: qp.to_json(mesh)
    yield lambda: qp.Multibody(qp.Body("solid", 1.0, (1.0, 1.0, 1.0), shape=mesh)).energy()


@chunks(6)
def test_damaged_meshes(chunk: int, tmp_path: Path) -> None:
    chance, read = random.Random(chunk), 0
    for _ in range(CHUNK):
        ending, data = chance.choice(files())
        path = tmp_path / f"solid.{ending}"
        path.write_bytes(scribbled(data, chance))
        read += check_reading(lambda path=path: qp.Mesh.load(path), uses)
    assert read < CHUNK


@pytest.mark.parametrize("ending", ["stl", "ply", "obj", "off"])
def test_whole_ones_are_read(ending: str, tmp_path: Path) -> None:
    for k, (suffix, data) in enumerate(files()):
        if suffix == ending:
            path = tmp_path / f"{k}.{ending}"
            path.write_bytes(data)
            use(path)


HEADS = {
    "ply": b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000000\n"
    b"property float x\nproperty float y\n"
    b"property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    + bytes(64),
    "off": b"OFF\n4000000000000 4 0\n0 0 0\n",
    "stl": bytes(80) + (4_000_000_000).to_bytes(4, "little") + bytes(50),
}


@pytest.mark.parametrize("ending", HEADS)
def test_heads_that_promise_too_much_take_no_memory(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"solid.{ending}"
    path.write_bytes(HEADS[ending])
    check_refused(lambda: qp.Mesh.load(path), "Mesh.load", (str(path),))


def test_other_files_are_not_opened(tmp_path: Path) -> None:
    """An .obj names others, which are none of its business."""
    path = tmp_path / "solid.obj"
    data = next(data for ending, data in files() if ending == "obj")
    path.write_bytes(b"mtllib /etc/passwd\nmtllib http://localhost:1/x.mtl\nusemtl x\n" + data)
    use(path)


@pytest.mark.parametrize("path", [0, 3, None, b"x.stl", "a\0b.stl", "", "http://localhost:1/x.stl"])
def test_what_is_no_file(path: Any) -> None:
    check_refused(lambda: qp.Mesh.load(path), "Mesh.load", ())
