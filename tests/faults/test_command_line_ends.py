"""The command line where nothing can be written, no letters can be shown, or somebody presses
Ctrl-C."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.explore.answers.plan import FlightTable
from tests.faults.sentence import check_refused
from tests.random_systems import seeds

ROOT = Path(__file__).resolve().parents[2]
#: Where Python itself has noticed Ctrl-C it ends itself by that signal, which a shell counts as 130
#: as well.
ENDED = (130, -signal.SIGINT)
NAMED = """
import quirkpy as qp
system = qp.Multibody(qp.Body.sphere("caf\u00e9 \U0001f680", 0.1, 1.0))
"""


def command(
    *words: str, environment: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """`quirkpy` and some words, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {})
    line = [sys.executable, "-m", "quirkpy", *words]
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(line, env=env, text=True, timeout=120, **given)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [("demos",), ("demos", "--json")])
def test_an_answer_that_nobody_can_take(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = command(*words, stdout=full)
    assert done.returncode == 1
    assert done.stderr == "quirkpy demos: the answer cannot be written: No space left on device.\n"
    with open("/dev/full", "w") as full:
        assert command(*words, stdout=full, stderr=full).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_terminals_that_know_few_letters(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text(NAMED, encoding="utf-8")
    done = command("check", str(tmp_path / "named.py"), environment=environment)
    assert done.returncode == 0, done.stderr
    assert "caf" in done.stdout
    done = command("check", str(tmp_path / "caf\u00e9.json"), environment=environment)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_warnings_are_a_line(tmp_path: Path) -> None:
    (tmp_path / "turned.py").write_text(NAMED + "qp.rotation((0, 0, 1), 90)\n", encoding="utf-8")
    done = command("check", str(tmp_path / "turned.py"), environment={"PYTHONWARNINGS": "default"})
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "compiling its kernels" not in line]
    assert len(lines) == 1
    assert lines[0].startswith("quirkpy check: rotation: angle is 90, which is an angle in radians")


@pytest.mark.slow
def test_all_names_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    from tests.studies import far_pair

    far_pair().explore(tmp_path / "pair.db")
    for wrong in ("no/x.png", "x.spam", "pair.db/x.json"):
        done = command("report", "pair.db", "--out", "good.json", wrong, cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["pair.db"]


@pytest.mark.slow
def test_an_interruption_while_workers_start(tmp_path: Path) -> None:
    """Ctrl-C goes to the whole group; nobody prints a traceback, at whatever moment it comes."""
    path = tmp_path / "pair.db"
    for pause in (0.0, 0.3, 1.0):
        line = [
            sys.executable,
            "-m",
            "quirkpy",
            "explore",
            str(ROOT / "demos" / "cubesat_pair.py"),
            "--workers",
            "2",
        ]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [*line, "--out", str(path)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        end = time.monotonic() + 60.0
        while not path.is_file() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(pause)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert "Traceback" not in said
        assert process.returncode in (0, *ENDED)
        path.unlink()


@seeds(6, 0, attack=60)
def test_an_interruption_while_the_command_begins(seed: int) -> None:
    """After any module that Python says to have loaded, from the first one after ours on."""
    line = [sys.executable, "-X", "importtime", "-m", "quirkpy", "explore", "no-study.py"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    at, begun = random.Random(seed).randrange(1000), False
    with subprocess.Popen(
        line, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for told in process.stderr:
            begun = told.split()[-1] == "argparse"  # the first that the command line needs
            if begun:
                break
        loaded = [one for one in islice(process.stderr, at) if "import time:" in one]
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    said = [one for one in rest.splitlines() if not one.startswith("import time:")]
    assert begun
    assert len(loaded) == at
    assert process.returncode in (*ENDED, 1)  # 1: it has found out that there is no such file
    assert len(said) == 1, said
    assert said[0].startswith("quirkpy")


@pytest.mark.slow
def test_a_script_of_ones_own_is_interrupted_as_python_does_it(tmp_path: Path) -> None:
    """There `import quirkpy` raises KeyboardInterrupt, which is the script's to catch."""
    (tmp_path / "numba.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    script = "try:\n    from quirkpy import Body\nexcept KeyboardInterrupt:\n    print('mine')\n"
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "mine\n", done.stderr


# --- names that are none --------------------------------------------------------------------------
def table() -> FlightTable:
    return FlightTable("n0", ())


@pytest.mark.parametrize("path", [7, b"x.json", "a\0b.json", "", ["x"], 1.5])
def test_names_of_files_that_are_none(path: Any) -> None:
    study = qp.ReconfigurationGraph.load, qp.Trajectory.load, qp.Mesh.load
    for use in (*study, table().save):
        check_refused(lambda use=use: use(path), ": ", ())


# --- machine code ---------------------------------------------------------------------------------
NOWHERE = """
import numba.core.caching as caching
for name in dir(caching):
    found = getattr(caching, name)
    if hasattr(found, "_locator_classes"):
        found._locator_classes = []
import quirkpy
from quirkpy.kernels.base.compiled import SETTINGS
assert SETTINGS["cache"] is False
"""


@pytest.mark.slow
def test_no_folder_for_machine_code() -> None:
    """As for a package that cannot be written to, of a user without a home."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(
        "quirkpy: no folder can be written to in which compiled kernels would be kept"
    )
    assert done.stderr.count("\n") == 1
