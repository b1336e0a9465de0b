"""The command line: `quirkpy explore study.py`, `quirkpy report pair.db`, and further commands.

Every command prints words, or with --json data for programs, and ends with 0; with 1 and a message
where it failed; with 2 for invalid arguments; with 130 and a message after Ctrl-C."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quirkpy import __version__ as version
from quirkpy.commands.answer import Answer
from quirkpy.commands.beginning import (
    movie,
    new,
    picture,
    words_of_movie,
    words_of_new,
    words_of_picture,
)
from quirkpy.commands.definitions import (
    MODELS,
    load_definition,
    module_of,
    read_model,
    study_of,
    system_of,
)
from quirkpy.commands.graphs import (
    count,
    graph_of,
    merge,
    robustness,
    table,
    words_of_cost,
    words_of_journal,
    words_of_merge,
    words_of_robustness,
    words_of_table,
)
from quirkpy.commands.shell import EXAMPLES, words_of_completion
from quirkpy.commands.shell import completion as script
from quirkpy.maths import interrupts
from quirkpy.maths.warnings import PartWarning
from quirkpy.parts.checks import how_many
from quirkpy.parts.files import check_writable, ending_of
from quirkpy.parts.part import PartError, is_want_of_memory

if TYPE_CHECKING:
    from quirkpy.explore.graph import ReconfigurationGraph
    from quirkpy.explore.study import Study
    from quirkpy.motion.trajectory import Trajectory
    from quirkpy.system.findings import Finding
    from quirkpy.system.multibody import Multibody

#: The exit code of shells for programs ended by Ctrl-C.
INTERRUPTED = 130
#: Methods of Python with which sentences begin; who types commands need not know them.
METHODS = frozenset((
    "check", "explore", "load", "merge", "movie", "name", "picture", "plan", "replay", "report",
    "robustness", "save", "settle", "simulate", "table", "warm",
))  # fmt: skip


class Words(argparse.ArgumentParser):
    """The parser of the command line, and those of its commands; if help cannot be written it ends
    with an error."""

    commands: Mapping[str, argparse.ArgumentParser]

    def print_help(self, file: Any = None) -> None:
        """Print the help; end with 1 where that cannot be written."""
        code = print_answer(argparse.Namespace(name="", json=False), self.format_help().rstrip())
        if code:
            self.exit(code)


def main(words: Sequence[str] | None = None) -> int:
    """Execute the arguments of a command line; return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # characters that it lacks are escaped
            stream.reconfigure(errors="backslashreplace")
    asked = parser().parse_args(words)
    asked.before = stamps(asked)
    with warnings.catch_warnings(), interrupts.remember():
        warnings.showwarning = partial(print_warning, asked, warnings.showwarning)
        try:
            check_places(asked)
            answer: Answer = asked.command(asked)
            interrupts.check()
        except (KeyboardInterrupt, SystemExit, Exception) as error:
            if asked.debug:
                raise
            return report_end(asked, error)
    return print_answer(asked, json.dumps(answer.data, indent=1) if asked.json else answer.text)


def report_end(asked: argparse.Namespace, error: BaseException) -> int:
    """Print what ended a command; returns the exit code."""
    if isinstance(error, KeyboardInterrupt) or interrupts.heard():  # may cause other errors
        far = error if isinstance(error, KeyboardInterrupt) else ""
        report_failure(asked, f"interrupted{far}; {word_written(asked)}.")
        return INTERRUPTED
    if not isinstance(error, PartError) and is_want_of_memory(error):
        run = getattr(error, "trajectory", None)
        far = "" if run is None else f" at t = {run.t[-1]:.6g} s"
        words = f"memory ran out{far}; {word_written(asked)}; ask for less at once."
        return report_failure(asked, words)
    sentence = str(error)
    if isinstance(error, SystemExit):
        sentence = (
            f"a file that was read ended Python (exit {error.code}); put what it does beneath "
            "`if __name__ == '__main__':`."
        )
    elif not isinstance(error, (PartError, OSError)):
        sentence = f"{type(error).__name__}: {sentence} (--debug shows where)"
    elif files_written(asked) and "goes on" not in sentence:
        sentence = sentence.rstrip(".").removesuffix("; nothing was changed")
        sentence = f"{sentence}; {word_written(asked)}."
    return report_failure(asked, sentence, error.code if isinstance(error, PartError) else None)


# --- what is written ------------------------------------------------------------------------------
def outputs(asked: argparse.Namespace) -> list[Path]:
    """The files that a command will write, in its order."""
    given = getattr(asked, "out", None)
    several = given if isinstance(given, list) else [given]
    if asked.command is simulate:
        several.append(asked.report)
    return [path for path in (*several, getattr(asked, "side", None)) if path is not None]


def check_places(asked: argparse.Namespace) -> None:
    """Refuse a file that is named twice: to be read and to be written, or to be written twice."""
    read = [getattr(asked, name, None) for name in ("study", "journal", "file")]
    read += getattr(asked, "journals", [])
    seen = {os.path.realpath(path): "read" for path in read if path is not None}
    for path in outputs(asked):
        place = os.path.realpath(path)
        if place in seen and (os.path.isfile(place) or not os.path.exists(place)):
            raise PartError(
                f"{str(path)!r} is to be {seen[place]} as well; give another name to one of both.",
                code="file",
            )
        seen[place] = "written"


def stamps(asked: argparse.Namespace) -> dict[Path, tuple[int, ...] | None]:
    """Stamps of all output files, by which changes are detected."""
    return {path: stamp(path) for path in outputs(asked)}


def stamp(path: Path) -> tuple[int, ...] | None:
    """A stamp that changes when a file is replaced; None where there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def files_written(asked: argparse.Namespace) -> list[str]:
    """The files that the command has written so far."""
    return [repr(str(path)) for path, before in asked.before.items() if stamp(path) != before]


def word_written(asked: argparse.Namespace) -> str:
    """A message about files left by a command that ends early."""
    if asked.command is explore:
        return "what was finished stays, and the same command goes on from there"
    files = files_written(asked)
    return f"only {', '.join(files)} was written" if files else "nothing was written"


def print_answer(asked: argparse.Namespace, text: str) -> int:
    """Print the answer; returns the exit code, which is 0 also if the reader has closed the
    pipe."""
    if sys.stdout is None:
        return report_failure(asked, "the answer cannot be written: standard output is closed.")
    try:
        print(text, flush=True)
    except OSError as error:
        # the remaining output would fail again as Python ends
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            return report_failure(asked, f"the answer cannot be written: {error.strerror}.")
    return 0


def report_failure(asked: argparse.Namespace, sentence: str, code: str | None = None) -> int:
    """Print the reason of a failure on one line, with --json and the code of a refusal also as
    data; returns the exit code."""
    line = without_method(" ".join(sentence.split()))
    with contextlib.suppress(OSError):  # no one is left to read it
        if sys.stderr is not None:
            print(f"{f'quirkpy {asked.name}'.strip()}: {line}", file=sys.stderr)
        if asked.json and sys.stdout is not None:
            told = {"error": line} | ({} if code is None else {"code": code})
            print(json.dumps(told), flush=True)
    return 1


def without_method(sentence: str) -> str:
    """A sentence without the method that says it, for which the name of the command stands."""
    who, colon, rest = sentence.partition(": ")
    return rest if colon and who in METHODS else sentence


def print_warning(
    asked: argparse.Namespace, otherwise: Callable[..., None], message: Warning | str, *rest: Any
) -> None:
    """Print a warning of this package on one line; those of others unchanged."""
    if isinstance(message, PartWarning):
        print(f"quirkpy {asked.name}: {without_method(str(message))}", file=sys.stderr)
    else:
        otherwise(message, *rest)


def parser() -> Words:
    """The parser of all commands and their options."""
    every = argparse.ArgumentParser(add_help=False)
    every.add_argument("--json", action="store_true", help="answer in JSON")
    every.add_argument("--debug", action="store_true", help="show the traceback of an error")
    out = Words(prog="quirkpy", description="Into which shapes can a modular spacecraft fall?")
    out.add_argument("--version", action="version", version=f"quirkpy {version}")
    commands: Any = out.add_subparsers(dest="name", required=True, metavar="command")

    def command(function: Any, words: str) -> argparse.ArgumentParser:
        name = function.__name__
        made = commands.add_parser(
            name, help=words, description=words, parents=[every],
            epilog=f"example:\n  {EXAMPLES[name]}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        made.set_defaults(command=function)
        return made

    words_of_explore(command(explore, "explore a study; go on where the journal ends"))
    words_of_report(command(report, "say what a journal holds"))
    words_of_plan(command(plan, "find the cheapest way from one shape to another"))
    words_of_simulate(command(simulate, "move a system, or run a demo"))
    words_of_check(command(check, "say what a study or a system is made of, and whether it can be"))
    words_of_table(command(table, "the selection to make next at every node, towards a goal"))
    words_of_robustness(command(robustness, "fly an edge many times, each a little otherwise"))
    words_of_new(command(new, "write a study with comments, to begin with"))
    words_of_movie(command(movie, "make a film of a run that was saved"))
    words_of_picture(command(picture, "draw a graph, a run or a system"))
    words_of_merge(command(merge, "put the runs of several journals of one study into one"))
    words_of_completion(command(completion, "print a script by which a shell completes words"))
    command(demos, "list the demos")
    words_of_warm(command(warm, "compile all kernels now, for an image or a cluster"))
    out.commands = commands.choices
    return out


def words_of_explore(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy explore`."""
    it.add_argument("study", type=Path, help="a Python file that defines `study`")
    it.add_argument("--workers", type=count, default=1, metavar="N", help="processes (default 1)")
    it.add_argument("--out", type=Path, metavar="FILE",
                    help="the journal (default: the study's name with .db)")  # fmt: skip
    it.add_argument("--budget", type=count, metavar="N", help="at most so many runs now")


def words_of_report(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy report`."""
    words_of_journal(it)
    kinds = ".html, .txt, .json, .graphml, .dot, .png, .svg, .pdf"
    it.add_argument("--out", type=Path, nargs="+", default=[], metavar="FILE",
                    help=f"write it instead: {kinds}")  # fmt: skip
    it.add_argument("--side", type=Path, metavar="FILE",
                    help="beside page.html: motions that failed or find no room, x.js")  # fmt: skip


def words_of_plan(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy plan`."""
    words_of_journal(it)
    it.add_argument("start", help="a node: its number (n0), its name, or the beginning of its id")
    it.add_argument("goal", help="another one")
    words_of_cost(it)
    it.add_argument("--best", type=count, default=1, metavar="K", help="so many ways (default 1)")
    words_of_run(it)


def words_of_run(it: argparse.ArgumentParser) -> None:
    """The arguments for the output of a run, or of the replay of the best plan."""
    it.add_argument("--out", type=Path, metavar="FILE", help="keep the run in a file, run.npz")
    it.add_argument("--report", type=Path, metavar="FILE", help="show the run on a page, run.html")


def words_of_simulate(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy simulate`."""
    it.add_argument("file", type=Path, help="a Python file that defines `system` or main()")
    it.add_argument("--duration", type=float, default=10.0, metavar="S",
                    help="of the motion [s] (default 10)")  # fmt: skip
    words_of_run(it)


def words_of_check(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy check`."""
    it.add_argument("file", type=Path,
                    help="Python that defines `study` or `system`, a JSON of one, a URDF or an "
                    "MJCF")  # fmt: skip


def words_of_warm(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy warm`."""
    it.add_argument("file", type=Path, nargs="?", help="only what its `study` or `system` calls")
    it.add_argument("--workers", type=count, default=2, metavar="N", help="processes (default 2)")
    it.add_argument("--into", type=Path, metavar="FOLDER", help="copy it there, for a wheel")


# --- commands -------------------------------------------------------------------------------------
def explore(asked: argparse.Namespace) -> Answer:
    """`quirkpy explore study.py`"""
    journal = check_writable(asked.out or asked.study.stem + ".db", "explore")
    study = study_of(module_of(asked.study), asked.study)
    graph = study.explore(journal, workers=asked.workers, budget=asked.budget)
    told = summary(graph) | {"journal": str(journal)}
    return Answer(f"{graph.report()}\n\nThe journal is {str(journal)!r}.", told)


def summary(graph: ReconfigurationGraph) -> dict[str, Any]:
    """A summary of a graph in numbers."""
    return {
        "nodes": len(graph.nodes), "edges": len(graph.edges), "kinds": dict(graph.kinds),
        "coverage": graph.coverage, "near_misses": graph.near_misses,
    }  # fmt: skip


def report(asked: argparse.Namespace) -> Answer:
    """`quirkpy report pair.db`"""
    from quirkpy.explore.graph import ENDINGS
    from quirkpy.views import report as page

    if asked.side is not None and all(path.suffix != ".html" for path in asked.out):
        raise PartError(
            f"--side {str(asked.side)!r} stands beside a page, and none is asked for; name one, "
            "too: --out page.html.",
            code="file",
        )
    for path in asked.out:  # all of them, before the first is written
        if path.suffix == ".html":
            page.check(path, asked.side)
        else:
            check_writable(ending_of(path, "report", (".html", *ENDINGS)), "report")
    graph = graph_of(asked)
    for path in asked.out:
        graph.report(path, side=asked.side) if path.suffix == ".html" else graph.save(path)
    written = [str(path) for path in asked.out]
    if written:
        return Answer(f"{graph!r} is in {', '.join(written)}.", summary(graph) | {"out": written})
    return Answer(graph.report(), json.loads(graph.to_json()))


def plan(asked: argparse.Namespace) -> Answer:
    """`quirkpy plan pair.db n0 n1`"""
    _check_outputs(asked, "plan")
    graph = graph_of(asked)
    found = graph.plan(asked.start, asked.goal, cost=asked.cost, k=asked.best)
    text = "\n".join(map(str, found))
    if asked.out or asked.report:
        text += f"\n{_keep_run(graph.replay(found[0]), asked)}"
    return Answer(text, [way.record() for way in found])


def simulate(asked: argparse.Namespace) -> Answer:
    """`quirkpy simulate file.py`"""
    _check_outputs(asked, "simulate")
    module = module_of(asked.file)
    if hasattr(module, "system"):
        return _simulate(system_of(module, asked.file), asked)
    if not callable(getattr(module, "main", None)):
        way = (
            f"; quirkpy explore {asked.file} flies its `study`" if hasattr(module, "study") else ""
        )
        raise PartError(
            f"{str(asked.file)!r} defines neither `system` nor main(){way}.", code="file"
        )
    if asked.out is not None or asked.report is not None:
        raise PartError(
            f"{str(asked.file)!r} defines no `system`, only main(), whose runs it keeps to itself: "
            "leave out --out and --report, or define `system`.",
            code="file",
        )
    with contextlib.redirect_stdout(sys.stderr) if asked.json else contextlib.nullcontext():
        told = module.main()
    interrupts.check()
    numbers = dict(told) if isinstance(told, dict) else {}
    return Answer("\n".join(f"{name}: {value}" for name, value in numbers.items()), numbers)


def _check_outputs(asked: argparse.Namespace, who: str) -> None:
    """Refuse files that cannot be written, before any simulation."""
    if asked.out is not None:
        check_writable(asked.out, who)
    if asked.report is not None:
        from quirkpy.views import report as page

        page.check(asked.report)


def _keep_run(run: Trajectory, asked: argparse.Namespace) -> str:
    """Write a run if requested; returns a sentence that says where it is."""
    if asked.out is not None:
        run.save(asked.out)
    if asked.report is not None:
        run.report(asked.report)
    written = [repr(str(path)) for path in (asked.out, asked.report) if path is not None]
    return f"The flight is in {' and '.join(written)}." if written else ""


def _simulate(system: Multibody, asked: argparse.Namespace) -> Answer:
    """Simulate a system, and write and show the run if requested."""
    from quirkpy.motion.course import Stop
    from quirkpy.views.listings import joules

    run = system.simulate(asked.duration)
    if run.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt(f" at t = {run.t[-1]:.6g} s of {asked.duration:.6g} s")
    where = _keep_run(run, asked)
    energy = [system.energy(state) for state in (run.at(float(run.t[0])), run.final)]
    data = {
        "t": float(run.t[-1]), "stop": str(run.stop), "states": len(run.t),
        "evaluations": run.counts.evaluations, "energy": [float(energy[0]), float(energy[-1])],
        "dissipated": float(run.dissipated[-1]),
    }  # fmt: skip
    begun, ended = (joules(system, at.kinetic, at.potential) for at in energy)
    words = f"{run!r}\nenergy {begun} at the start, {ended} at the end"
    return Answer(f"{words}\n{where}".rstrip(), data)


def check(asked: argparse.Namespace) -> Answer:
    """`quirkpy check study.py`"""
    from quirkpy.explore.study import Study

    if asked.file.suffix in MODELS:
        return _check_model(asked.file)
    made = load_definition(asked.file)
    if isinstance(made, Study):
        return _check_study(made)
    return _check_system(made, ())


def _check_model(path: Path) -> Answer:
    """A model of another program, with findings."""
    model = read_model(path)
    return _check_system(model.system, model.findings)


def _check_system(made: Multibody, before: Sequence[Finding]) -> Answer:
    """A system in words, with probable mistakes."""
    mobility, findings = made.mobility(), (*before, *made.check())
    data = {
        "bodies": list(made.bodies), "freedoms": mobility.degrees_of_freedom,
        "redundant": list(mobility.redundant), "findings": [one._asdict() for one in findings],
    }  # fmt: skip
    lines = [f"[{one.code}] {one.sentence}" for one in findings]
    return Answer("\n".join([made.explain(), *lines]), data)


def _check_study(study: Study) -> Answer:
    from quirkpy.explore.model.graph import Node, shape_of
    from quirkpy.rest.reason import told

    s = study.system.initial
    start = Node(0, shape_of(study, s), (), "written", told(""), 0.0, ())
    study.universe(start)
    near = [study.pairs[pair].name for pair, _ in study.in_range(s)]
    bodies, choices, findings = study.system.bodies, study.count(start), study.check()
    data = {
        "bodies": list(bodies), "pairs": len(study.pairs), "in_range": near, "choices": choices,
        "potentials": list(study.potentials), "group": study.shapes.group, "digest": study.digest,
        "findings": [one._asdict() for one in findings],
    }  # fmt: skip
    words = [
        f"{how_many(len(bodies), 'moving body', 'moving bodies')}: {', '.join(bodies)}",
        f"{how_many(len(study.pairs), 'pair')} of sensors that may meet; as written, in range: "
        f"{', '.join(near) or 'none'}",
        f"potentials: {', '.join(study.potentials)}",
        f"{how_many(choices, 'choice')} at the start",
        f"shapes are compared up to: {SAME_UP_TO[study.shapes.group]}",
        *(f"[{one.code}] {one.sentence}" for one in findings),
    ]
    return Answer("\n".join(words), data)


SAME_UP_TO = {
    "none": "nothing, for forces know places", "translations": "where the whole stands",
    "rigid": "where the whole stands, and how it is turned",
}  # fmt: skip


def demos(asked: argparse.Namespace) -> Answer:
    """`quirkpy demos`: the files of demos with the first lines of their docstrings."""
    folders = [Path(__file__).resolve().parents[1] / "demos", Path("demos")]
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        raise PartError(
            "demos come with the sources of quirkpy, not with the installed package; ask there.",
            code="file",
        )
    found = {}
    for path in sorted(folder.rglob("*.py")):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.relative_to(folder).as_posix()] = said.partition("\n")[0]
    width = max(map(len, found), default=0)
    return Answer("\n".join(f"{name:{width}}  {line}" for name, line in found.items()), found)


def completion(asked: argparse.Namespace) -> Answer:
    """`quirkpy completion bash`: a script for a shell."""
    return script(asked.shell, parser().commands)


def warm(asked: argparse.Namespace) -> Answer:
    """`quirkpy warm`: kernels compiled in advance, all or those of a file."""
    from quirkpy import warm as warming

    done = warming.warm(asked.workers, asked.into, asked.file)
    return Answer(str(done), done._asdict())
