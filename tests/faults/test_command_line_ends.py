"""The command line where nothing can be written, no letters can be shown, or somebody presses
Ctrl-C."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.cli import main
from quirkpy.commands.definitions import is_taken
from quirkpy.explore.answers.plan import FlightTable
from quirkpy.kernels.base.compiled import NOTICE
from quirkpy.maths import interrupts
from quirkpy.motion.course import Column
from tests.doomed import runs_in
from tests.faults.sentence import check_refused
from tests.random_systems import seeds

with contextlib.suppress(ImportError):  # as on Windows
    import resource
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
import quirkpy as qp
body = qp.Body.sphere("body", 0.1, 1.0)
hinge = qp.Revolute("hinge", qp.GROUND, body, at=(0, 0, 0), axis=(0, 0, 1))
qp.Multibody(body, hinge).initial["hinge"]
from quirkpy.cli import main
assert main(["warm"]) == 1
"""


@pytest.mark.slow
def test_no_folder_for_machine_code() -> None:
    """As for a package that cannot be written to, of a user without a home."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    told, refused = done.stderr.splitlines()
    assert told.endswith(
        "no folder can be written to in which they would be kept; NUMBA_CACHE_DIR names one"
    )
    assert refused == (
        "quirkpy warm: no folder can be written to in which machine code would be kept; "
        "NUMBA_CACHE_DIR names one."
    )


# --- Ctrl-C, whatever a command is about ----------------------------------------------------------
MOVES = """
import os, signal
import quirkpy as qp

class Pressed(qp.Force):
    "No force; it presses Ctrl-C, once."
    pressed = []

    def load(self, at):
        if at.t > 0.5 and not self.pressed:
            self.pressed.append(at.t)
            os.kill(os.getpid(), signal.SIGINT)
        return {}

ball = qp.Body.sphere("ball", 0.1, 1.0, velocity=(1.0, 0.0, 0.0))
"""
#: Files of users that are interrupted: in a run that the command makes, that main() makes, that the
#: file makes as it is imported, and outside of runs.
INTERRUPTED: dict[str, str] = {
    "run": MOVES + 'system = qp.Multibody(ball, Pressed("press"))\n',
    "main": MOVES
    + 'def main():\n    return {"end": qp.Multibody(ball, Pressed("press")).simulate(9.0).t[-1]}\n',
    "import": MOVES
    + 'from cubesat_pair import study\nqp.Multibody(ball, Pressed("press")).simulate(9.0)\n'
    "system = qp.Multibody(ball)\n",
    "outside": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n",
}  # fmt: skip
COMMANDS: dict[str, tuple[str, ...]] = {
    "explore": ("explore", "FILE", "--out", "new.db"),
    "report": ("report", "pair.db", "--out", "old.html", "old.json", "--study", "FILE"),
    "plan": ("plan", "pair.db", "n0", "n1", "--study", "FILE"),
    "simulate": ("simulate", "FILE", "--duration", "9", "--out", "old.npz", "--report", "old.html"),
    "demo": ("simulate", "FILE"),
    "check": ("check", "FILE"),
}
ENDS = [
    ("simulate", "run"), ("demo", "run"), ("demo", "main"),
    *((name, what) for name in COMMANDS for what in ("import", "outside")),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, in which one works; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "demos")])
    monkeypatch.setattr(NOTICE, "given", True)  # a kernel that no test has compiled before
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(
            (str(tmp_path), str(ROOT / "demos"))
        ):
            del sys.modules[name]


@pytest.mark.parametrize(("name", "what"), ENDS)
@pytest.mark.parametrize("json", [False, True])
def test_every_command_ends_with_130_and_changes_no_file(
    name: str, what: str, json: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line, and no answer: also where a run kept what it had, and its caller went on."""
    (folder / "users.py").write_text(INTERRUPTED[what], encoding="utf-8")
    for old in ("old.npz", "old.html", "old.json", "pair.db"):
        (folder / old).write_text("what was there", encoding="utf-8")
    words = [word.replace("FILE", "users.py") for word in COMMANDS[name]]
    assert main([*words, *["--json"] * json]) == 130
    said = capsys.readouterr()
    assert said.err.startswith(f"quirkpy {words[0]}: interrupted")
    assert said.err.count("\n") == 1
    assert said.out.count("\n") == json
    assert ("nothing was written" in said.err) == (name != "explore")
    if (name, what) == ("simulate", "run"):
        assert " at t = 0." in said.err
        assert " s of 9 s" in said.err
    for old in ("old.npz", "old.html", "old.json", "pair.db"):
        assert (folder / old).read_text(encoding="utf-8") == "what was there"
    assert not (folder / "new.db").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("no room"), MemoryError()])
def test_a_command_that_ends_half_way_says_what_it_has_written(
    error: BaseException,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.studies import far_pair

    far_pair().explore(folder / "pair.db")
    save = qp.ReconfigurationGraph.save

    def cut_short(self: qp.ReconfigurationGraph, path: Path) -> None:
        if path.name == "two.dot":
            raise error
        save(self, path)

    monkeypatch.setattr(qp.ReconfigurationGraph, "save", cut_short)
    words = ["report", "pair.db", "--out", "one.json", "two.dot", "three.txt"]
    assert main(words) == (130 if isinstance(error, KeyboardInterrupt) else 1)
    said = capsys.readouterr().err
    assert "only 'one.json' was written" in said
    assert said.count("\n") == 1
    assert (folder / "one.json").is_file()
    assert not (folder / "three.txt").exists()


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("words", [("simulate", "--out", "old.npz"), ("check",)])
def test_an_interruption_while_kernels_compile(
    words: tuple[str, ...], pause: float, tmp_path: Path
) -> None:
    """Where numba calls Python back an exception is lost; the interruption is not."""
    (tmp_path / "named.py").write_text(NAMED, encoding="utf-8")
    (tmp_path / "old.npz").write_text("what was there", encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    line = [sys.executable, "-m", "quirkpy", words[0], "named.py", *words[1:]]
    with subprocess.Popen(
        line, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "compiling its kernels" in process.stderr.readline()
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode in ENDED
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"quirkpy {words[0]}: interrupted")
    assert (tmp_path / "old.npz").read_text(encoding="utf-8") == "what was there"


def test_an_interruption_that_is_lost_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    """As within what numba compiles with, which calls Python back and lets no exception through."""

    @ctypes.CFUNCTYPE(None)
    def called_back() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10):
            pass

    def work() -> None:
        called_back()
        end = time.monotonic() + 20.0
        while time.monotonic() < end:
            pass

    with interrupts.remember(), pytest.raises(KeyboardInterrupt):
        work()
    assert capsys.readouterr().err == ""
    time.sleep(2.0 * interrupts.RAISED_AFTER)  # and once only


def test_what_an_interruption_has_left_half_done_fails_in_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As objects of LLVM do that were closed half way: nobody is told of them but of others."""
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_value))

    class Broken:
        def __del__(self) -> None:
            raise AttributeError("half done")

    with interrupts.remember():
        Broken()
        assert len(told) == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        Broken()
    assert len(told) == 1


def test_an_interruption_that_breaks_a_run_is_no_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it is lost within numba, which then raises something else."""
    from quirkpy.explore.run import workers
    from tests.studies import far_pair

    path, run, left = tmp_path / "pair.db", workers.run_choice, [3]

    def broken(*rest: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            with contextlib.suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1.0)
            raise RuntimeError("no compiled object yet")
        return run(*rest)

    monkeypatch.setattr(workers, "run_choice", broken)
    with pytest.raises(KeyboardInterrupt):
        far_pair().explore(path)
    monkeypatch.undo()
    assert "failed" not in qp.ReconfigurationGraph.load(path).kinds
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert far_pair().explore(path).to_json() == far_pair().explore().to_json()


@pytest.mark.parametrize("code", ["", "0", "3", "'good bye'"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_ends_python_ends_no_command_in_silence(
    name: str, code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.studies import far_pair

    far_pair().explore(folder / "pair.db", progress=False)
    capsys.readouterr()
    (folder / "users.py").write_text(f"import sys\nsys.exit({code})\n", encoding="utf-8")
    assert main([word.replace("FILE", "users.py") for word in COMMANDS[name]]) == 1
    said = capsys.readouterr()
    assert "a file that was read ended Python" in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


# --- no memory ------------------------------------------------------------------------------------
def test_a_run_that_memory_runs_out_for_leaves_what_was_computed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.motion import floating_chain

    whole, most = floating_chain().simulate(2.0, step=1e-3), 900

    resize = Column._resize

    def short(column: Any, rows: int) -> None:
        if rows > max(most, len(column.store)):
            raise MemoryError("Unable to allocate 52.0 KiB")
        resize(column, rows)

    monkeypatch.setattr(Column, "_resize", short)
    with pytest.raises(MemoryError) as caught:
        floating_chain().simulate(2.0, step=1e-3)
    run = caught.value.trajectory  # type: ignore[attr-defined]
    assert 300 < len(run.t) <= most
    assert run.t.tolist() == whole.t[: len(run.t)].tolist()
    assert run.course.states.tolist() == whole.course.states[: len(run.t)].tolist()
    assert run.energy.tolist() == whole.energy[: len(run.t)].tolist()
    (folder / "chain.py").write_text(
        "from tests.motion import floating_chain\nsystem = floating_chain()\n", encoding="utf-8"
    )
    (folder / "old.npz").write_text("what was there", encoding="utf-8")
    most = 40
    assert main(["simulate", "chain.py", "--duration", "1e3", "--out", "old.npz"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("quirkpy simulate: memory ran out at t = ")
    assert "nothing was written" in said
    assert said.count("\n") == 1
    assert (folder / "old.npz").read_text(encoding="utf-8") == "what was there"


#: A study one of whose criteria takes 40 GB, as long as a file is there; or which takes them as it
#: is read.
HUNGRY = """
import os
import numpy as np
import quirkpy as qp
from tests.studies import far_pair

class Hungry(qp.Safety):
    path: str
    def first(self, run):
        if os.path.exists(self.path) and run.final.r[0, 0] > 0.1:
            np.ones(5_000_000_000)
        return None

study = far_pair(Hungry({path!r}))
system = study.system
if os.path.exists({eager!r}):
    list(range(1_000_000_000))
"""


@pytest.fixture
def hungry(tmp_path: Path) -> Path:
    path = tmp_path / "hungry.py"
    names = {"path": str(tmp_path / "hunger"), "eager": str(tmp_path / "eager")}
    path.write_text(HUNGRY.format(**names), encoding="utf-8")
    (tmp_path / "hunger").touch()
    return path


def with_memory(gigabytes: float, *words: str) -> subprocess.CompletedProcess[str]:
    """`quirkpy` and some words, in a process that may use so much memory."""
    room = int(gigabytes * 1e9)
    return command(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)))


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="no such limits here")
@pytest.mark.parametrize("gigabytes", [0.3, 0.6, 1.1])
def test_memory_with_which_nothing_can_begin(gigabytes: float) -> None:
    """The libraries on which the package stands would print tracebacks, end Python, or ask again
    for ever."""
    done = with_memory(gigabytes, "demos")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"quirkpy: it cannot begin: this process may use {gigabytes} GB")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("gigabytes", [1.5, 3.0])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_command_without_memory_ends_with_a_sentence_and_goes_on_later(
    gigabytes: float, workers: str, hungry: Path
) -> None:
    """What is in the journal stays, and the same command goes on from there."""
    words = "explore", str(hungry), "--workers", workers, "--out", str(hungry.parent / "pair.db")
    done = with_memory(gigabytes, *words)
    assert done.returncode == 1
    assert "a run could not be finished" in done.stderr
    assert "Unable to allocate" in done.stderr
    assert done.stderr.count("\n") == 1
    assert 0 < runs_in(hungry.parent / "pair.db") < 30
    (hungry.parent / "hunger").unlink()
    done = with_memory(gigabytes, *words, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["coverage"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("words", [("check",), ("simulate",), ("explore",)])
def test_a_file_that_takes_all_memory_as_it_is_read(words: tuple[str, ...], hungry: Path) -> None:
    (hungry.parent / "eager").touch()
    done = with_memory(1.5, *words, str(hungry))
    assert done.returncode == 1
    assert "memory ran out" in done.stderr
    assert done.stderr.count("\n") == 1


# --- answers that nobody can take, and names that are no places -----------------------------------
ASKED = [("--help",), ("report", "--help"), ("explore", "-h"), ("demos",), ("demos", "--json")]


@pytest.mark.slow
@pytest.mark.parametrize("words", ASKED)
def test_a_lost_answer_is_a_failure(words: tuple[str, ...]) -> None:
    """On a full device, and where standard output is closed; a reader that has seen enough is
    none."""
    line = " ".join([sys.executable, "-m", "quirkpy", *words])
    for end, said in (("> /dev/full", "No space left"), (">&-", "standard output is closed")):
        done = command_line(f"{line} {end}")
        assert done.returncode == 1, end
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert command_line(f"{line} >&- 2>&-").returncode == 1
    assert command_line(f"set -o pipefail; {line} | head -c 1").stderr == ""


def command_line(line: str) -> subprocess.CompletedProcess[str]:
    """What a shell makes of it."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True, timeout=60)


def test_streams_that_are_closed_lend_their_numbers_to_no_file(tmp_path: Path) -> None:
    script = (
        "import os, quirkpy.__main__ as m\nm.fill_standard_streams()\n"
        f"print(os.open({str(tmp_path / 'x')!r}, os.O_CREAT | os.O_WRONLY))\n"
    )
    for closed in ("<&-", "2>&-", "<&- 2>&-", ""):
        done = command_line(f'{sys.executable} -c "{script}" {closed}')
        assert int(done.stdout) > 2


def test_places_that_are_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of them are refused before the first is written, and the sentence says so truly."""
    from tests.studies import far_pair

    far_pair().explore(folder / "pair.db")
    (folder / "link.json").symlink_to("good.json")
    kept = (folder / "pair.db").read_bytes()
    for words, said in {
        ("good.json", "/proc/x.json"): "cannot be written",
        ("good.json", "no/x.json"): "cannot be written",
        ("good.json", "./good.json"): "is to be written as well",
        ("good.json", "link.json"): "is to be written as well",
        ("good.json", "--side", "x.js"): "--side 'x.js' stands beside a page",
        ("page.html", "--side", "/proc/x.js"): "cannot be written",
    }.items():
        assert main(["report", "pair.db", "--out", *words]) == 1, words
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    assert main(["report", "pair.db", "--side", "x.js"]) == 1
    assert "stands beside a page" in capsys.readouterr().err
    (folder / "named.py").write_text(NAMED, encoding="utf-8")
    assert main(["simulate", "named.py", "--out", "named.py"]) == 1
    assert "'named.py' is to be read as well" in capsys.readouterr().err
    assert (folder / "named.py").read_text(encoding="utf-8") == NAMED
    assert (folder / "pair.db").read_bytes() == kept
    left = {file.name for file in folder.iterdir()} - {"__pycache__"}
    assert left == {"pair.db", "link.json", "named.py"}


# --- files of users, whatever they are called -----------------------------------------------------
NAMES = (
    "sys", "time", "errno", "builtins", "json", "math", "numpy", "trimesh", "quirkpy", "tests",
    "a.b", "a b", "1x", "class", "__main__", "plain",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_file_may_have_the_name_of_a_module(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / f"{name}.py").write_text(NAMED, encoding="utf-8")
    known = sys.modules.get(name)
    assert main(["check", f"{name}.py"]) == 0, capsys.readouterr().err
    assert "caf" in capsys.readouterr().out
    assert sys.modules.get(name) is known or name == "plain"
    assert is_taken(name, (folder / f"{name}.py").resolve()) == (name != "plain")
    if name == "trimesh":
        assert "site-packages" in str(find_spec(name).origin)  # type: ignore[union-attr]


def test_what_is_no_python_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "page.png").write_bytes(b"\x89PNG")
    for words in (("explore", "page.png"), ("report", "x.db", "--study", "page.png")):
        assert main(words) == 1
        assert "'page.png' is no Python file; its name must end in .py." in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["json", "a.b", "own_study"])
def test_classes_of_such_a_file_reach_workers_and_journals(name: str, folder: Path) -> None:
    from tests.contracts.test_cli import OWN

    own = folder / "elsewhere" / f"{name}.py"  # python -m finds its own libraries here first
    own.parent.mkdir()
    own.write_text(OWN, encoding="utf-8")
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "demos")])}
    graphs = []
    for workers in ("1", "2") if name == "json" else ("2",):
        words = ("explore", str(own), "--workers", workers, "--out", f"{workers}.db")
        done = command(*words, environment=path)
        assert done.returncode == 0, done.stderr
        done = command("report", f"{workers}.db", environment=path)
        assert done.returncode == 1
        assert f"--study {name}.py." in done.stderr
        done = command("report", f"{workers}.db", "--study", str(own), "--json", environment=path)
        assert done.returncode == 0, done.stderr
        graphs.append(done.stdout)
    assert len(set(graphs)) == 1
