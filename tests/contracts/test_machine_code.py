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
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import numba
import numpy as np
import pytest
from numba.core.datamodel import registry
from numba.extending import is_jitted

import quirkpy as qp
import quirkpy.kernels
from benchmarks.variants import AFRESH
from quirkpy.kernels.base import ingredients, machine_code
from quirkpy.kernels.base.compiled import GIVEN, Notice, forget_stale_machine_code
from quirkpy.kernels.base.handing import ByAddress
from quirkpy.kernels.base.machine_code import LEVEL, MADE_WITH, Turns
from quirkpy.kernels.users import laws
from quirkpy.warm import BESIDE, EXERCISES, FIRST, OTHERS, compile_for_runs, move

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


def test_what_a_wheel_has_brought_is_spared(package: Path) -> None:
    brought = package / "machine_code" / "rows.rows.1.nbc"
    brought.parent.mkdir()
    brought.write_text("code")
    (package / "kernels" / "place" / "rows.py").write_text("x = 2\n")
    forget_stale_machine_code(package)
    assert left(package) == 1
    assert brought.read_text() == "code"


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


def test_no_kernel_is_compiled_for_a_number_that_is_written_in_a_call() -> None:
    """There were twenty of one that takes three numbers out of a row, one for each column."""
    body = qp.Body.sphere("body", 0.1, 1.0, position=(1.0, 0.0, 0.0))
    qp.Multibody(body, qp.Gravity((0.0, 0.0, -9.81))).acceleration()
    compiled = [
        (made.__name__, kinds) for made in all_kernels() for kinds in getattr(made, "overloads", ())
    ]
    assert compiled
    assert not [(name, kinds) for name, kinds in compiled if "Literal" in str(kinds)]


def test_machine_code_whose_callees_go_by_other_names_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LLVM ends a process that it cannot link."""
    monkeypatch.setattr(ingredients, "STANDING", {})
    needs = {"_ZN7quirkpy_other": ("quirkpy.tables.tables", "Absent", ())}
    absent = SimpleNamespace(compile=lambda arguments: None)
    monkeypatch.setattr("quirkpy.tables.tables.Absent", absent, raising=False)
    assert ingredients.prepare(None, False, {}, ())
    assert not ingredients.prepare(None, False, needs, ())


# --- the notice -----------------------------------------------------------------------------------
def begin(notice: Notice, function: Any) -> None:
    """What numba tells when it begins to compile something."""
    notice.on_start(SimpleNamespace(data={"dispatcher": function}))


def test_told_once_and_of_our_kernels_only(capsys: pytest.CaptureFixture[str]) -> None:
    notice, kernels = Notice(), all_kernels()
    begin(notice, numba.njit(lambda x: x + 1.0))
    assert capsys.readouterr().err == ""
    begin(notice, kernels[0])
    told = capsys.readouterr().err
    assert told.startswith("quirkpy: compiling its kernels, up to a minute and once")
    assert told.endswith(f"{kernels[0]._cache.cache_path}\n")
    assert told.count("\n") == 1
    begin(notice, kernels[1])
    assert capsys.readouterr().err == ""


def test_told_why_code_of_a_wheel_does_not_serve(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code, "SHIPPED", tmp_path)
    assert machine_code.why_unused() == ""
    (tmp_path / MADE_WITH).write_text("numba 0.1 for Python 2.7\n", encoding="utf-8")
    Notice().tell("compiling its kernels", "cellar")
    told = capsys.readouterr().err
    assert "(the wheel brought those of numba 0.1 for Python 2.7, and this is numba 0." in told
    assert told.count("\n") == 1
    (tmp_path / MADE_WITH).write_text(machine_code.made_with(), encoding="utf-8")
    monkeypatch.setattr(machine_code, "host_has_level", lambda: False)
    assert LEVEL in machine_code.why_unused()


def test_nobody_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        notice = Notice()
        begin(notice, all_kernels()[0])
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
        assert done.stderr == (
            "quirkpy: compiling its kernels, up to a minute, as every process will: no folder can "
            "be written to in which they would be kept; NUMBA_CACHE_DIR names one\n"
        )
        assert sorted(root.rglob("*")) == before


# --- several processes ----------------------------------------------------------------------------
#: Compile a kernel, when told to; say whether it was compiled here.
TOGETHER = """
import sys, time
from numba.core import event
import quirkpy as qp
from quirkpy.kernels.place.sites import fill_sites
made = []
class Made(event.Listener):
    def on_start(self, compilation): made.append(compilation.data["dispatcher"].__name__)
    def on_end(self, compilation): pass
event.register("numba:compile", Made())
body = qp.Body.sphere("body", 0.1, 1.0)
system = qp.Multibody(body, qp.Revolute("hinge", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1)))
system.initial["hinge"].angle
print(*made)
"""


@pytest.mark.slow
@pytest.mark.skipif(machine_code.fcntl is None, reason="locks as POSIX has them")
def test_no_two_processes_compile_the_same(tmp_path: Path) -> None:
    """They begin at the same time; each kernel is made by one of them, and both are told why they
    wait."""
    settings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER], cwd=ROOT, env=settings,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    made = [set(out.split()) for out, _ in said]
    assert "joint_coordinates" in made[0] | made[1]
    ours = {kernel.__name__ for kernel in all_kernels()}
    assert not made[0] & made[1] & ours
    for _, err in said:
        assert err.count("\n") == 1
        assert str(tmp_path) in err


def test_a_turn_ends_with_the_process_that_has_it(tmp_path: Path) -> None:
    """Nobody waits for the dead, nor for who has failed to compile."""
    kernel = SimpleNamespace(
        cache_path=str(tmp_path), _impl=SimpleNamespace(filename_base="kernel")
    )
    told: list[str] = []
    if os.fork() == 0:
        Turns().take(kernel)
        os._exit(0)
    os.wait()
    turns = Turns()
    turns.told = told.append
    turns.take(kernel)
    turns.take(kernel)
    turns.leave(kernel)
    os.close(turns.files[str(tmp_path)])
    assert told == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.__name__)
def test_what_warms_kernels_does_what_it_says(exercise: Callable[[], None]) -> None:
    """Each exercise checks itself; whoever begins elsewhere does the same ones."""
    exercise()
    assert sorted(map(repr, OTHERS)) == sorted(map(repr, EXERCISES))


def test_what_is_compiled_beside_is_what_runs_call() -> None:
    """Not another kernel of the same name, for other kinds of arguments."""
    chosen = (*FIRST, *BESIDE)
    compile_for_runs(chosen)
    before = [set(made.overloads) for made in chosen]
    move()
    assert [set(made.overloads) for made in chosen] == before
    assert all(len(one) == 1 for one in before)


# --- tuples, handed over by address ---------------------------------------------------------------
class Arrays(NamedTuple):
    """Two of them."""

    a: Any
    b: Any


class Around(NamedTuple):
    """A tuple in a tuple, beside an array."""

    inside: Arrays
    c: Any


class Others(NamedTuple):
    """Of somebody who is not us."""

    a: Any
    b: Any


for ours in (Arrays, Around):
    ours.__module__ = "quirkpy.kernels.tuples"


@numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
def raise_first(two: Arrays, by: float) -> float:
    two.a[0] += by
    return float(two.a[0])


@numba.njit
def hand_on(around: Around, other: Arrays, swaps: bool, times: int) -> float:
    """Parts of what was given, what is bound to another name, anew, and in turns, and what is made
    on the spot."""
    out, known = 0.0, around.inside
    for k in range(times):
        out += raise_first(around.inside, 1.0)
        if swaps and k % 2 == 1:
            known, other = other, known
        out += raise_first(known, 10.0)
    if swaps:
        around = Around(other, around.c)
    out += raise_first(around.inside, 100.0)
    return out + raise_first(Arrays(around.c, around.inside.b), 1000.0)


@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("times", [0, 1, 2, 5])
def test_a_tuple_handed_over_by_address_is_the_one_that_was_meant(swaps: bool, times: int) -> None:
    """Compiled and not, arrays hold the same in the end."""

    def given() -> tuple[Around, Arrays]:
        one, two, three, four, five = (np.full(3, 0.1 * k) for k in range(5))
        return Around(Arrays(one, two), three), Arrays(four, five)

    fast, slow = given(), given()
    found = hand_on(*fast, swaps, times)
    with mock.patch.dict(hand_on.py_func.__globals__, raise_first=raise_first.py_func):
        assert found == hand_on.py_func(*slow, swaps, times)
    for one, two in zip(fast, slow, strict=True):
        np.testing.assert_equal(one, two)


def test_only_our_tuples_of_arrays_go_by_address() -> None:
    """Those of others stay what numba makes of them, also in a process that has imported us; and
    triples stay in registers."""
    x = np.zeros(3)
    many = [Arrays(x, x), Arrays(x, np.eye(3)), Around(Arrays(x, x), x)]
    plain = [Others(x, x), Others(x, np.eye(3)), Arrays(0.0, 1.0)]
    kinds = [registry.default_manager.lookup(numba.typeof(one)) for one in [*many, *plain]]
    by_address = [isinstance(kind, ByAddress) for kind in kinds]
    assert by_address == [True] * len(many) + [False] * len(plain)
