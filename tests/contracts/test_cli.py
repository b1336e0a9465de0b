"""The command line: what it answers, in words and in JSON, and how it fails."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import quirkpy as qp
from quirkpy.cli import main, parser
from quirkpy.explore.answers.replay import Replay
from quirkpy.kernels.base.compiled import NOTICE
from tests.doomed import wait_for
from tests.motion import floating_chain

ROOT = Path(__file__).resolve().parents[2]
PAIR = str(ROOT / "demos" / "cubesat_pair.py")

OTHERS = """
\"\"\"Nothing to explore.\"\"\"
import quirkpy as qp

ball = qp.Body.sphere("ball", 0.1, 1.0, velocity=(1.0, 0.0, 0.0))
system = qp.Multibody(ball)
"""
OWN = """
\"\"\"A study with a class of its own.\"\"\"
import quirkpy as qp
from cubesat_pair import a, b, face

class Ball(qp.Option):
    def parts(self, name, one, two):
        return (qp.Spherical(name, one, two),)

study = qp.Study(
    qp.Multibody(a, b),
    sensors=[
        face(a, "east", (1.0, 0.0, 0.0), ("B west",)),
        face(b, "west", (-1.0, 0.0, 0.0), ("A east",)),
    ],
    options={("A east", "B west"): [qp.Lock(), Ball()]},
)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0
    out = capsys.readouterr()
    assert out.err == ""
    return out.out


def in_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(answered(capsys, *words, "--json"))


def failing(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one sentence of a command that fails; --json has it too."""
    assert main(words) == 1
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.count("\n") == 1
    assert main((*words, "--json")) == 1
    both = capsys.readouterr()
    assert both.err == out.err
    assert out.err.endswith(json.loads(both.out)["error"] + "\n")
    return out.err.strip()


# --- exploring and reporting ----------------------------------------------------------------------
def test_a_study_is_explored_and_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = answered(capsys, "explore", PAIR)
    assert "2 nodes, 18 edges (2 moved, 6 rejected, 10 stayed), 100 % of the choices tried" in words
    assert words.endswith("The journal is 'cubesat_pair.db'.\n")
    told = in_json(capsys, "explore", PAIR, "--out", "cubesat_pair.db")
    assert told == {
        "nodes": 2, "edges": 18, "kinds": {"moved": 2, "rejected": 6, "stayed": 10},
        "coverage": 1.0, "near_misses": [], "journal": "cubesat_pair.db",
    }  # fmt: skip
    assert answered(capsys, "report", "cubesat_pair.db").strip() == words.rpartition("\n\n")[0]
    whole = in_json(capsys, "report", "cubesat_pair.db")
    assert list(whole["nodes"]) == ["n0", "n1"]
    assert len(whole["edges"]) == 18


def test_a_report_is_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answered(capsys, "explore", PAIR, "--out", "pair.db")
    names = ["pair.txt", "pair.json", "pair.graphml", "pair.dot"]
    assert in_json(capsys, "report", "pair.db", "--out", *names)["out"] == names
    assert Path("pair.txt").read_text(encoding="utf-8") == answered(capsys, "report", "pair.db")
    assert json.loads(Path("pair.json").read_text(encoding="utf-8")) == in_json(
        capsys, "report", "pair.db"
    )
    assert "digraph" in Path("pair.dot").read_text(encoding="utf-8")
    assert in_json(capsys, "report", "pair.db", "--out", "pair.html", "pair.svg", "--side", "x.js")[
        "out"
    ] == [
        "pair.html",
        "pair.svg",
    ]
    assert Path("x.js").is_file()
    assert "<title>A study of A, B</title>" in Path("pair.html").read_text(encoding="utf-8")
    assert "ends in none of" in failing(capsys, "report", "pair.db", "--out", "pair.xyz")


def test_ways_are_planned(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answered(capsys, "explore", PAIR, "--out", "pair.db")
    assert answered(capsys, "plan", "pair.db", "n0", "n1").startswith("n0 -> n1: 0.0005 J")
    (way,) = json.loads(
        answered(capsys, "plan", "pair.db", "n1", "n0", "--cost", "time", "--best", "2", "--json")
    )
    assert way["nodes"] == ["n1", "n0"]
    assert way["steps"] == [{"joints": {"A south | B south": "hinge 2"}, "potential": "+x"}]
    words = answered(capsys, "plan", "pair.db", "n0", "n1", "--out", "w.npz", "--report", "w.html")
    assert words.endswith("\nThe flight is in 'w.npz' and 'w.html'.\n")
    flown = qp.Trajectory.load("w.npz")
    assert isinstance(flown, Replay)
    assert flown.supplied == pytest.approx(0.0005, rel=1e-6)
    assert "n0" in Path("w.html").read_text(encoding="utf-8")
    assert "none" in failing(capsys, "plan", "pair.db", "n0", "n1", "--out", "none/way.npz")
    assert "robust" in failing(capsys, "plan", "pair.db", "n0", "n1", "--cost", "risk")
    assert main(["plan", "pair.db", "n0", "n9"]) == 1
    assert capsys.readouterr().err == "quirkpy plan: no node is called 'n9'; there are: n0, n1.\n"


def test_a_budget_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = in_json(capsys, "explore", PAIR, "--budget", "3")
    assert told["edges"] == 11  # eight of them need no run
    assert told["coverage"] < 1.0
    assert in_json(capsys, "explore", PAIR)["coverage"] == 1.0


def test_classes_of_the_studys_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("own_study.py").write_text(OWN, encoding="utf-8")
    assert in_json(capsys, "explore", "own_study.py", "--out", "own.db")["edges"] == 2
    assert "own_study" in failing(capsys, "report", "own.db")
    assert len(in_json(capsys, "report", "own.db", "--study", "own_study.py")["edges"]) == 2


# --- the others -----------------------------------------------------------------------------------
def test_systems_and_demos_are_moved(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("flying_ball.py").write_text(OTHERS, encoding="utf-8")
    told = in_json(capsys, "simulate", "flying_ball.py", "--duration", "3", "--out", "run.npz")
    assert told["t"] == 3.0
    assert told["energy"] == [0.5, 0.5]
    assert qp.Trajectory.load("run.npz").t[-1] == 3.0
    assert "energy 0.5 J at the start" in answered(
        capsys, "simulate", "flying_ball.py", "--report", "run.html"
    )
    assert "<title>" in Path("run.html").read_text(encoding="utf-8")
    assert main(["simulate", str(ROOT / "demos" / "two_cubes.py"), "--json"]) == 0
    out = capsys.readouterr()  # what a demo prints does not mix with its numbers
    assert json.loads(out.out)["freedoms"] == 1
    assert out.err


def test_studies_and_systems_are_checked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = in_json(capsys, "check", PAIR)
    assert (told["choices"], told["group"], told["in_range"]) == (9, "none", ["A east | B west"])
    assert "9 choices at the start" in answered(capsys, "check", PAIR)
    Path("chain.json").write_text(qp.to_json(floating_chain()), encoding="utf-8")
    assert in_json(capsys, "check", "chain.json")["bodies"] == list(floating_chain().bodies)
    assert "moving bodies" in answered(capsys, "check", "chain.json")
    Path("pair.json").write_text(qp.to_json(in_module()), encoding="utf-8")
    assert in_json(capsys, "check", "pair.json") == told


def in_module() -> Any:
    return __import__("cubesat_pair").study


def test_a_study_is_begun_checked_and_asked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `new` writes is explored as it is; tables and samples come of its journal."""
    assert "quirkpy explore my.py" in answered(capsys, "new", "study", "my.py")
    assert "is there already" in failing(capsys, "new", "study", "my.py")
    assert in_json(capsys, "check", "my.py")["findings"] == []
    assert in_json(capsys, "explore", "my.py")["nodes"] == 2
    rows = in_json(capsys, "table", "my.db", "n1", "--out", "t.csv")["rows"]
    assert [(row["node"], row["next"]) for row in rows] == [("n0", "n1")]
    assert Path("t.csv").read_text(encoding="utf-8").startswith("node,next,")
    words = answered(capsys, "table", "my.db", "n1", "--out", "t.h")
    assert words.endswith("\nThe table is in 't.h'.\n")
    refused = failing(capsys, "table", "my.db", "n1", "--out", "t.xyz")
    assert refused.startswith("quirkpy table: 't.xyz' ends in none of .json, .csv, .h")
    edges = in_json(capsys, "report", "my.db")["edges"]
    moved = [f"e{k}" for k, edge in enumerate(edges) if edge["kind"] == "moved"]
    told = in_json(capsys, "robustness", "my.db", moved[0], "--samples", "3")
    assert (told["samples"], told["target"]) == (3, "n1")
    assert "is no edge" in failing(capsys, "robustness", "my.db", "e99")
    assert "no node is called 'n9'" in failing(capsys, "table", "my.db", "n9")
    assert "is a Python file and no journal" in failing(capsys, "report", "my.py")
    assert "has no steps" in failing(capsys, "plan", "my.db", "n0", "n0", "--out", "no.npz")


def test_models_of_others_are_checked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arm = str(ROOT / "tests" / "truths" / "models" / "arm.urdf")
    told = in_json(capsys, "check", arm)
    assert told["freedoms"] == 4
    assert "limit" in {one["code"] for one in told["findings"]}
    assert "[drives]" in answered(capsys, "check", arm)


def test_journals_are_merged_and_drawn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two halves of an exploration are the whole; a graph, a run and a study are drawn."""
    answered(capsys, "explore", PAIR, "--out", "whole.db")
    answered(capsys, "explore", PAIR, "--out", "half.db", "--budget", "3")
    told = in_json(capsys, "merge", "half.db", "whole.db", "--out", "both.db")
    assert (told["nodes"], told["edges"], told["coverage"]) == (2, 18, 1.0)
    assert "is there already" in failing(capsys, "merge", "half.db", "whole.db", "--out", "both.db")
    assert "as well" in failing(capsys, "merge", "half.db", "whole.db", "--out", "half.db")
    assert "two journals or more" in failing(capsys, "merge", "half.db", "--out", "one.db")
    pytest.importorskip("matplotlib")
    answered(capsys, "plan", "both.db", "n0", "n1", "--out", "way.npz")
    for file in ("both.db", "way.npz", PAIR):
        assert answered(capsys, "picture", file, "--out", "x.svg") == "The picture is 'x.svg'.\n"
        assert "<svg" in Path("x.svg").read_text(encoding="utf-8")
        Path("x.svg").unlink()
    assert "ends in none of" in failing(capsys, "picture", PAIR, "--out", "x.txt")


def test_each_command_has_an_example_that_it_takes() -> None:
    words = parser()
    for name, one in words.commands.items():
        example = one.format_help().rpartition("example:\n  ")[2].strip()
        inside = example.removeprefix('eval "$(').removesuffix(')"')
        asked = words.parse_args(shlex.split(inside)[1:])
        assert (asked.name, shlex.split(inside)[0]) == (name, "quirkpy")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_words(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands, options of a command, and files."""
    script = answered(capsys, "completion", "bash")
    assert answered(capsys, "completion", "zsh").endswith(script)
    Path("pair.db").touch()
    for typed, offered in {
        "quirkpy rep": ["report"], "quirkpy m": ["movie", "merge"],
        "quirkpy plan --co": ["--cost"], "quirkpy report pa": ["pair.db"],
    }.items():  # fmt: skip
        words = typed.split()
        ask = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _quirkpy"
        said = subprocess.run(
            ["bash", "-c", f"{script}\n{ask}\necho ${{COMPREPLY[@]}}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert said.stdout.split() == offered, said.stderr


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"quirkpy {qp.__version__}\n"


def test_demos_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    told = in_json(capsys, "demos")
    paths = (ROOT / "demos").rglob("*.py")
    assert sorted(told) == sorted(p.relative_to(ROOT / "demos").as_posix() for p in paths)
    assert "mechanisms/andrews.py" in told
    assert "cubesat_pair.py" in answered(capsys, "demos")
    assert all(told.values())


# --- failing --------------------------------------------------------------------------------------
def test_what_fails_says_so_in_a_sentence(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad_study.py").write_text("study = 3\n", encoding="utf-8")
    Path("broken_study.py").write_text("import quirkpy\n1 / 0\n", encoding="utf-8")
    Path("json.py").write_text("study = 3\n", encoding="utf-8")
    Path("model.urdf").write_text("<robot/>", encoding="utf-8")
    Path("text.db").write_text("spam " * 500, encoding="utf-8")
    for words, said in {
        ("explore", "nowhere.py"): "there is no file 'nowhere.py'",
        ("explore", "bad_study.py"): "does not define `study`",
        ("explore", "json.py"): "'json.py' does not define `study`",
        ("simulate", "bad_study.py"): "neither `system` nor main()",
        ("simulate", PAIR, "--report", "run.html"): "defines no `system`, only main()",
        ("plan", "text.db", "n0", "n1", "--cost", "risk"): "damaged or is no journal",
        ("check", "model.urdf"): "it has no link",
        ("check", "model.txt"): "neither Python",
        ("check", "nowhere.json"): "No such file",
        ("report", "nowhere.db"): "there is no journal 'nowhere.db'",
        ("report", "text.db"): "damaged or is no journal",
        ("explore", PAIR, "--out", "no/pair.db"): "'no/pair.db' cannot be written: No such file",
    }.items():
        sentence = failing(capsys, *words)
        assert sentence.startswith(f"quirkpy {words[0]}: ")
        assert said in sentence, sentence
    assert "ZeroDivisionError: division by zero" in failing(capsys, "explore", "broken_study.py")
    with pytest.raises(ZeroDivisionError):
        main(["explore", "broken_study.py", "--debug"])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["explore"],
        ["explore", PAIR, "--workers", "0"],
        ["explore", PAIR, "--budget", "many"],
        ["demos", "all"],
    ],
)
def test_wrong_words(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert "usage: quirkpy" in capsys.readouterr().err


@pytest.mark.slow
def test_from_a_shell(tmp_path: Path) -> None:
    """In a process of its own: help, two workers, a sentence instead of a traceback."""

    def shell(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "quirkpy", *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)

    done = shell("--help")
    assert done.returncode == 0
    assert "explore a study" in done.stdout
    done = shell(
        "explore",
        "demos/cubesat_pair.py",
        "--workers",
        "2",
        "--out",
        str(tmp_path / "pair.db"),
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["nodes"] == 2
    assert done.stderr == ""
    done = shell("report", str(tmp_path / "none.db"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert shell("report").returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_is_a_sentence_and_the_command_goes_on(
    workers: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("slow_study.py").write_text(
        "from tests.studies import Slow, far_pair\nstudy = far_pair(Slow(0.1))\n", encoding="utf-8"
    )
    words = ["explore", "slow_study.py", "--out", "pair.db", "--workers", workers]
    command = [sys.executable, "-m", "quirkpy", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(here / "pair.db", 4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    stays = "what was finished stays, and the same command goes on from there."
    assert err == f"quirkpy explore: interrupted; {stays}\n"
    with mock.patch("time.sleep"):
        assert in_json(capsys, *words)["edges"] == 30


# --- kernels --------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.xdist_group("package")
def test_kernels_are_compiled_beforehand(capsys: pytest.CaptureFixture[str]) -> None:
    """All that Python calls: what is missing would be compiled when somebody waits for it."""
    done = in_json(capsys, "warm", "--workers", "1")
    assert done["missing"] == []
    assert {"step.integrator.advance", "step.responses.respond", "solid.advancement.pass_by"} <= {
        *done["ready"]
    }
    again = in_json(capsys, "warm", "--workers", "2")
    assert (again["compiled"], again["ready"]) == (0, done["ready"])


@pytest.mark.slow
@pytest.mark.xdist_group("package")
@pytest.mark.parametrize("defined", ["study", "system"])
def test_what_one_file_calls_is_compiled_beforehand(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, defined: str
) -> None:
    file = tmp_path / "one.py"
    made = {"study": "pair", "system": "hang_cube"}[defined]
    file.write_text(f"from quirkpy.warm import {made}\n{defined} = {made}()\n")
    done = in_json(capsys, "warm", str(file))
    assert done["missing"] == []
    assert "step.integrator.advance" in done["ready"]
    assert ("step.responses.respond" in done["ready"]) == (defined == "study")
    assert in_json(capsys, "warm", str(file), "--workers", "1")["compiled"] == 0


def test_a_file_with_nothing_to_compile_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "empty.py").write_text("")
    assert "does not define `system`" in failing(capsys, "warm", str(tmp_path / "empty.py"))
    assert "there is no file" in failing(capsys, "warm", str(tmp_path / "none.py"))


def test_a_processor_for_which_nothing_is_shipped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quirkpy.warm.host_has_level", lambda: False)
    assert "leave out --into" in failing(capsys, "warm", "--into", "somewhere")


def test_a_process_that_fails_to_compile_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr("quirkpy.warm.WORK", "raise SystemExit('no memory today')")
    assert failing(capsys, "warm").endswith("a process that compiles has failed: no memory today.")


def test_a_file_for_another_command_is_sent_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What defines a study to `explore`, what defines a system to `simulate`; what defines neither
    is told of both."""
    files = {
        name: tmp_path / f"{name}_{tmp_path.name}.py" for name in ("study", "system", "nothing")
    }
    body = "import quirkpy as qp\nball = qp.Multibody(qp.Body.sphere('ball', 0.1, 1.0))\n"
    files["study"].write_text(body + "study = qp.Study(ball, sensors=[], options={})\n")
    files["system"].write_text(body + "system = ball\n")
    files["nothing"].write_text("x = 1\n")
    told = failing(capsys, "simulate", str(files["study"]))
    assert f"quirkpy explore {files['study']}" in told
    told = failing(capsys, "explore", str(files["system"]), "--out", str(tmp_path / "x.db"))
    assert f"quirkpy simulate {files['system']}" in told
    told = failing(capsys, "check", str(files["nothing"]))
    assert "`system`" in told
    assert "`study`" in told
