"""The package as its users get it: built, installed, imported, made."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = ("all", "bench", "dask", "dev", "docs", "hdf5", "mesh", "movies", "plots",
          "tables", "vpython")  # fmt: skip
TARGETS = ("attack", "bench", "check", "clean", "docs", "fuzz", "help", "run", "test", "wheel")
#: Heavy packages that a plain import must not load.
HEAVY = ("dask", "distributed", "h5py", "matplotlib", "pandas", "vpython")
#: What the environment of these tests must not pass on.
PRIVATE = (
    "PYTHONWARNINGS", "PYTHONPATH", "PYTHONHOME", "NUMBA_DISABLE_JIT", "MAKEFLAGS", "MAKELEVEL",
    "MAKEOVERRIDES", "MFLAGS",
)  # fmt: skip
#: What stays behind when the sources are copied.
RUBBISH = shutil.ignore_patterns(
    ".git", ".venv", ".hypothesis", ".*_cache", "__pycache__", "*.egg-info", "build", "dist", "out",
    "machine_code",
)  # fmt: skip
#: What pip says when there is no index to ask.
OFFLINE = re.compile(r"NewConnectionError|NameResolutionError|Max retries exceeded|ConnectTimeout")


def run(words: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as from a plain shell."""
    environment = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    return subprocess.run(
        [*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True
    )


def python(code: str, cwd: Path) -> str:
    """Run a piece of Python with every warning an error; return what it prints."""
    done = run([sys.executable, "-W", "error", "-c", code], cwd)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def package_files() -> set[str]:
    """Every module of the package, its typing mark, and what pages are made of, as the sources have
    them."""
    sources = ROOT / "quirkpy"
    modules = {path.relative_to(ROOT).as_posix() for path in sources.rglob("*.py")}
    pages = {path.relative_to(ROOT).as_posix() for path in (sources / "views" / "page").iterdir()}
    return modules | pages | {"quirkpy/py.typed"}


# --- importing ------------------------------------------------------------------------------------


#: What a fresh interpreter tells after an import.
IMPORTED = f"""
import json, sys, quirkpy
from numba.core.dispatcher import Dispatcher
compiled = {{
    f"{{name}}.{{key}}"
    for name, module in sys.modules.items() if name.split(".")[0] == "quirkpy"
    for key, value in vars(module).items() if isinstance(value, Dispatcher) and value.signatures
}}
heavy = [name for name in {HEAVY} if name in sys.modules]
missing = [name for name in quirkpy.__all__ if not hasattr(quirkpy, name)]
print(json.dumps({{"heavy": heavy, "compiled": sorted(compiled), "missing": missing}}))
"""


def test_import_loads_no_heavy_package_and_compiles_nothing() -> None:
    """Nor does it warn, and every public name is there."""
    assert json.loads(python(IMPORTED, ROOT)) == {"heavy": [], "compiled": [], "missing": []}


#: What a fresh interpreter knows after an import alone, and then of names in whatever way they are
#: asked for.
LAZY = """
import sys, quirkpy
print("numpy" in sys.modules, "numba" in sys.modules)
from quirkpy import Body
from quirkpy import *
import quirkpy.system.multibody
print(Body is quirkpy.Body is sys.modules["quirkpy.parts.body"].Body)
print(Multibody is quirkpy.system.multibody.Multibody)
print(set(quirkpy.__all__) <= set(dir(quirkpy)), hasattr(quirkpy, "spam"))
"""


def test_names_are_fetched_when_one_is_asked_for() -> None:
    assert python(LAZY, ROOT).split() == ["False", "False", "True", "True", "True", "False"]


# --- settings -------------------------------------------------------------------------------------


def test_setup_names_the_extras() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = dict(settings["options.extras_require"])
    assert sorted(extras) == sorted(EXTRAS)
    assert all(text.split() for text in extras.values())


def test_make_helps_with_every_target() -> None:
    done = run(["make"], ROOT)
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"^  make (\w+) ", done.stdout, re.MULTILINE)) == sorted(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_make_knows_target(target: str) -> None:
    done = run(["make", "--dry-run", target], ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_make_installs_extras_that_exist(target: str) -> None:
    """As pip takes them: a comma cuts what make hands to a macro, and `make run` once asked for
    ".[plots"."""
    words = run(["make", "--dry-run", "--always-make", target], ROOT).stdout
    wanted = re.findall(r'--editable "(.*?)"', words)
    assert bool(wanted) == (target not in ("clean", "help"))
    for place in wanted:
        extras = re.fullmatch(r"\.(?:\[(\w+(?:,\w+)*)\])?", place)
        assert extras, place
        assert set((extras[1] or "").split(",")) <= {"", *EXTRAS}


@pytest.mark.xdist_group("package")
def test_tests_that_share_what_is_costly_go_to_one_worker(request: pytest.FixtureRequest) -> None:
    """As their mark asks; where it is not heard nothing fails, but every worker builds and explores
    the same."""
    if request.config.getoption("loadgroup", False):
        assert request.node.nodeid.endswith("@package")


# --- building and installing ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist, built from a clean copy of the sources."""
    folder = tmp_path_factory.mktemp("package")
    copy = shutil.copytree(ROOT, folder / "sources", ignore=RUBBISH)
    done = run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist"], copy)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    return wheel, sdist


@pytest.mark.slow
@pytest.mark.xdist_group("package")
def test_wheel_holds_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
    assert {name for name in names if ".dist-info/" not in name} == package_files()


@pytest.mark.slow
@pytest.mark.xdist_group("package")
def test_sdist_holds_sources_tests_and_docs(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {"LICENSE", "README.md", "CHANGELOG.md", "Makefile", "docs/index.md"}
    assert package_files() | wanted | {Path(__file__).relative_to(ROOT).as_posix()} <= names


@pytest.mark.slow
@pytest.mark.xdist_group("package")
def test_wheel_installs_into_an_empty_environment(built: tuple[Path, Path], tmp_path: Path) -> None:
    assert (
        run(
            [sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], tmp_path
        ).returncode
        == 0
    )
    fresh = tmp_path / "empty" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", fresh]
    done = run([*pip, "install", "--quiet", "--retries", "1", built[0]], tmp_path)
    if OFFLINE.search(done.stderr):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    done = run([fresh, "-W", "error", "-c", "import quirkpy; print(quirkpy.__file__)"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "empty")


# --- machine code ---------------------------------------------------------------------------------
#: What somebody does first, and what it costs: seconds of the processor since Python began, and how
#: many functions were compiled.
FIRST = """
import json, sys, time
from numba.core import event
import quirkpy as qp
made = []
class Made(event.Listener):
    def on_start(self, compilation): made.append(compilation.data["dispatcher"].__name__)
    def on_end(self, compilation): pass
event.register("numba:compile", Made())
"""
SIMULATES = """
a = qp.Body.box("A", (0.1,) * 3, 1.0, fixed=True)
b = qp.Body.box("B", (0.1,) * 3, 1.0, position=(0.1, 0.0, 0.0))
hinge = qp.Revolute("hinge", a, b, at=(0.05, 0.05, 0.0), axis=(0.0, 0.0, 1.0))
damper = qp.HingeSpring("damper", hinge, stiffness=0.0, damping=0.02)
well = qp.PotentialWell("well", b, (0.1, 0.1, 0.0), 10.0)
run = qp.Multibody(a, b, hinge, damper, well).simulate(1.0)
bits = run.final.r.tobytes().hex()
"""
EXPLORES = """
sys.path.append("demos")
from cubesat_pair import study
graph = study.explore(progress=False)
bits = graph.to_json()
"""
TELLS = """
print(json.dumps({"made": made, "seconds": time.process_time(), "bits": bits, "at": qp.__file__}))
"""


@pytest.fixture(scope="module")
def wheel_with_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make wheel` builds it, of what this clone has compiled already, or compiles now."""
    folder = tmp_path_factory.mktemp("code")
    copy = shutil.copytree(ROOT, folder / "sources", ignore=RUBBISH)
    words = ["-m", "quirkpy", "warm", "--json", "--into", copy / "quirkpy" / "machine_code"]
    done = run([sys.executable, *words], ROOT)
    if "which this processor is not" in done.stderr:
        pytest.skip("a processor for which no machine code is put into wheels")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["missing"] == []
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    done = run([*pip, folder / "dist", copy], copy)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel_with_code: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with that wheel in an environment of its own, and with the libraries of this one."""
    place = tmp_path_factory.mktemp("fresh")
    run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], place)
    fresh = place / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", fresh]
    done = run([*pip, "install", "--quiet", "--no-deps", wheel_with_code], place)
    assert done.returncode == 0, done.stderr
    site = Path(run([fresh, "-c", "import quirkpy; print(quirkpy.__file__)"], place).stdout.strip())
    libraries = [path for path in sys.path if "site-packages" in path]
    (site.parents[1] / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    shutil.copytree(ROOT / "demos", place / "demos", ignore=RUBBISH)
    return fresh


def first_use(fresh: Path, what: str, **environment: str) -> dict[str, Any]:
    """What a fresh Python tells of it; nothing may be said, nor compiled."""
    known = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    done = subprocess.run(
        [fresh, "-c", FIRST + what + TELLS], cwd=fresh.parents[2], env=known | environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["made"] == []
    assert Path(told["at"]).is_relative_to(fresh.parents[1])
    return told


@pytest.mark.slow
@pytest.mark.xdist_group("package")
def test_a_wheel_with_machine_code_compiles_nothing(installed: Path, tmp_path: Path) -> None:
    """Neither for the first motion, in two seconds, nor for the first exploration, in four; also
    in another folder, with sources of another age, and where numba is told of another processor;
    and what comes out is what this clone finds, to the bit."""
    nowhere = {"NUMBA_CACHE_DIR": str(tmp_path / "empty")}
    moved = first_use(installed, SIMULATES, **nowhere)
    assert moved["seconds"] <= 2.0
    explored = first_use(installed, EXPLORES, **nowhere)
    assert explored["seconds"] <= 4.0
    elsewhere = shutil.copytree(installed.parents[1], tmp_path / "other", symlinks=True)
    for path in elsewhere.rglob("*.py"):
        path.touch()
    python = elsewhere / "bin" / "python"
    again = first_use(python, SIMULATES, NUMBA_CPU_NAME="generic", **nowhere)
    assert again["bits"] == moved["bits"]
    here = run([sys.executable, "-c", FIRST + EXPLORES + TELLS], ROOT)
    assert here.returncode == 0, here.stderr
    assert json.loads(here.stdout)["bits"] == explored["bits"]
