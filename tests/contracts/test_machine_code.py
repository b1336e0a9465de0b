"""No machine code is older than the sources, nor depends on who made it, and whoever waits for it
is told."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba.extending import is_jitted

import quirkpy.kernels
from benchmarks.variants import AFRESH
from quirkpy.kernels.base.compiled import GIVEN, Notice, forget_stale_machine_code
from quirkpy.kernels.users import laws

ROOT = Path(__file__).resolve().parents[2]
KERNELS = list(quirkpy.kernels.__path__)
#: Two small kernels (kinematics, the angle of a hinge), and a function of somebody else.
CALLS = """
import numba
import quirkpy as qp
numba.njit(lambda x: x + 1.0)(1.0)
body = qp.Body.sphere("body", 0.1, 1.0)
hinge = qp.Revolute("hinge", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
print(qp.Multibody(body, hinge).initial["hinge"].angle == 0.0)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in which numba has left its files."""
    for name in ("kernels/place/rows.py", "maths/quat.py", "tables/tables.py", "tables/compile.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    forget_stale_machine_code(tmp_path)
    leave_machine_code(tmp_path)
    return tmp_path


def leave_machine_code(package: Path) -> None:
    for name in (
        "kernels/place/__pycache__/rows.nbi",
        "kernels/place/__pycache__/rows.1.nbc",
        "maths/__pycache__/quat.1.nbc",
    ):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("code")


def left(package: Path) -> int:
    return sum(1 for path in package.rglob("*.nb?"))


@pytest.mark.parametrize("source", ["kernels/place/rows.py", "maths/quat.py", "tables/tables.py"])
def test_forgotten_when_a_compiled_source_changes(package: Path, source: str) -> None:
    (package / source).write_text("x = 2\n")
    forget_stale_machine_code(package)
    assert left(package) == 0


def test_forgotten_when_a_source_comes_or_goes(package: Path) -> None:
    (package / "kernels" / "place" / "new.py").write_text("x = 1\n")
    forget_stale_machine_code(package)
    assert left(package) == 0
    leave_machine_code(package)
    (package / "kernels" / "place" / "new.py").unlink()
    forget_stale_machine_code(package)
    assert left(package) == 0


def test_kept_when_nothing_compiled_has_changed(package: Path) -> None:
    (package / "tables" / "compile.py").write_text("x = 2\n")
    (package / "kernels" / "place" / "rows.py").touch()
    forget_stale_machine_code(package)
    assert left(package) == 3


def all_kernels() -> list[Any]:
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(KERNELS, "quirkpy.kernels.")
    ]
    return [made for module in modules for made in vars(module).values() if is_jitted(made)]


def counts(kernel: Any) -> bool:
    """Whether it counts references to arrays."""
    return bool(kernel.targetoptions.get("_nrt", True))


def returns_arrays(kernel: Any) -> bool:
    """Whether its annotation names an array, or a tuple with arrays in it."""
    told = typing.get_type_hints(kernel.py_func).get("return", type(None))
    kinds = [told, *typing.get_args(told), *getattr(told, "__annotations__", {}).values()]
    return any("ndarray" in str(kind) or "Floats" in str(kind) for kind in kinds)


def test_arrays_are_returned_among_those_who_count_alike() -> None:
    """Who counts references gives back what a kernel returned, and one that does not count has
    taken none: the array is freed while it is in use."""
    returning = {made.__name__: made for made in all_kernels() if returns_arrays(made)}
    assert {counts(made) for made in returning.values()} == {True, False}
    calls = [
        (made.__name__, name, counts(made) == counts(returning[name]))
        for made in all_kernels()
        for name in made.py_func.__code__.co_names
        if name in returning and made.py_func.__globals__.get(name) is returning[name]
    ]
    assert len(calls) >= 5
    assert not [(caller, name) for caller, name, alike in calls if not alike]
    assert AFRESH["_nrt"] is GIVEN["_nrt"]


def test_nothing_is_fused() -> None:
    """A fused multiply-add rounds once, and LLVM fuses only what it has inlined: the bits of an
    exploration differed between the process that had compiled a kernel and one that had read it
    from the cache."""
    kernels = all_kernels()
    assert len(kernels) > 100
    assert not [made.__name__ for made in kernels if made.targetoptions.get("fastmath")]
    assert "fastmath" not in laws.SETTINGS


# --- the notice -----------------------------------------------------------------------------------
def begin(notice: Notice, module: str, folder: str = "cellar") -> None:
    """What numba tells when it begins to compile a function of a module."""
    kernel = SimpleNamespace(__module__=module, stats=SimpleNamespace(cache_path=folder))
    notice.on_start(SimpleNamespace(data={"dispatcher": kernel}))


def test_told_once_and_of_our_kernels_only(capsys: pytest.CaptureFixture[str]) -> None:
    notice = Notice()
    begin(notice, "users.module")
    assert capsys.readouterr().err == ""
    begin(notice, "quirkpy.kernels.tree.tree")
    told = capsys.readouterr().err
    assert told.startswith("quirkpy: compiling its kernels")
    assert told.endswith("cellar\n")
    assert told.count("\n") == 1
    begin(notice, "quirkpy.kernels.place.rows")
    assert capsys.readouterr().err == ""


def test_nobody_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        notice = Notice()
        begin(notice, "quirkpy.kernels.tree.tree")
    assert not notice.given


def words(folder: Path, **environment: str) -> str:
    """What a new process writes to where errors go, with its machine code in a folder of its
    own."""
    settings = os.environ | {"NUMBA_CACHE_DIR": str(folder)} | environment
    done = subprocess.run(
        [sys.executable, "-c", CALLS], cwd=ROOT, env=settings, capture_output=True, text=True
    )
    assert done.stdout.strip() == "True", done.stderr
    return done.stderr


@pytest.mark.slow
def test_told_when_machine_code_is_missing(tmp_path: Path) -> None:
    told = words(tmp_path, NUMBA_DISABLE_JIT="0")
    assert told.count("\n") == told.count("quirkpy: compiling") == 1
    assert str(tmp_path) in told
    assert words(tmp_path, NUMBA_DISABLE_JIT="0") == ""
    assert words(tmp_path / "other", NUMBA_DISABLE_JIT="1") == ""


# --- a package that cannot be written to ----------------------------------------------------------
#: Whether a folder can be written to.
WRITES = """
import os, sys, numba
try:
    os.mkdir(os.path.join(sys.argv[1], "spam"))
except PermissionError:
    print("no")
"""


def reader_of(folder: Path) -> list[str]:
    """Python as somebody who cannot write to a folder; root, whom no permission binds, becomes
    somebody else for it."""
    other = shutil.which("setpriv") if os.geteuid() == 0 else None
    words = [other, "--reuid=65534", "--regid=65534", "--clear-groups"] if other else []
    line = [*words, sys.executable]
    done = subprocess.run(
        [*line, "-c", WRITES, str(folder)], cwd="/", capture_output=True, text=True
    )
    if done.stdout != "no\n":
        pytest.skip("here nobody can run Python without being able to write everywhere")
    return line


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="users and permissions as POSIX has them")
def test_a_package_that_cannot_be_written_to() -> None:
    """And no home, nor a folder that is named: it says so in one sentence, compiles for itself, and
    leaves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        root, rubbish = Path(folder), shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "quirkpy", root / "quirkpy", ignore=rubbish)
        for path in (root, *root.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        line, before = reader_of(root), sorted(root.rglob("*"))
        settings = {
            k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
        }
        settings |= {"HOME": "/nonexistent", "PYTHONPATH": folder, "NUMBA_DISABLE_JIT": "0"}
        code = CALLS + "print(qp.__file__)\n"
        done = subprocess.run(
            [*line, "-c", code], cwd="/", env=settings, capture_output=True, text=True, timeout=300
        )
        assert done.stdout.split() == ["True", str(root / "quirkpy" / "__init__.py")], done.stderr
        assert done.stderr.startswith(
            "quirkpy: no folder can be written to in which compiled kernels would be kept ("
        )
        assert done.stderr.endswith("NUMBA_CACHE_DIR names a folder for them.\n")
        assert done.stderr.count("\n") == 1
        assert sorted(root.rglob("*")) == before
