"""The Python on the pages runs, and prints what its comments say."""

from __future__ import annotations

import ast
import configparser
import inspect
import pickle
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

import quirkpy as qp
from docs import seeing
from quirkpy.cli import parser
from quirkpy.parts.part import Code

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: A comment says what its line prints: print(...)  # -> text
PROMISE = re.compile(r"^print\(.*\)  +# -> (.*)$", re.MULTILINE)


NAMES = (
    "api", "coming-from", "driving", "equilibria", "exploring", "extending", "first",
    "flexible", "formats", "importing", "mechanisms", "messages", "notation", "origami", "parts",
    "recipes", "runs", "seeing", "switching", "tensegrity",
)  # fmt: skip
PAGES = ["README.md", *(f"docs/{name}.md" for name in NAMES)]


@pytest.mark.parametrize("page", PAGES)
def test_python_on_page(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The blocks of a page are one program, from top to bottom."""
    code = "\n".join(BLOCK.findall((ROOT / page).read_text(encoding="utf-8")))
    assert code
    exec(compile(code, page, "exec", dont_inherit=True), {"__name__": "page"})
    assert capsys.readouterr().out.splitlines() == PROMISE.findall(code)


# --- links ----------------------------------------------------------------------------------------
#: A link to a page of ours, perhaps to a heading in it.
LINK = re.compile(r"\]\(((?:docs/)?[\w/]+\.md)?(?:#([\w-]+))?\)")


def slug(heading: str) -> str:
    """The anchor of a heading: small letters, digits and hyphens."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower())
    return plain.replace(" ", "-")


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]
)
def test_links_lead_somewhere(page: str) -> None:
    """Every link to a page, and to a heading in it, is met; the task index has many."""
    path = ROOT / page
    found = [link for link in LINK.findall(path.read_text(encoding="utf-8")) if any(link)]
    assert page != "docs/tasks.md" or len(found) >= 25
    for name, anchor in found:
        target = path.parent / name if name else path
        assert target.is_file(), name
        headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert not anchor or anchor in {slug(heading) for heading in headings}, (name, anchor)


# --- messages -------------------------------------------------------------------------------------
def sentences() -> list[str]:
    """The texts in the sources of the package, with a gap for each value in them."""
    out = []
    for path in sorted((ROOT / "quirkpy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                out.append("".join(getattr(part, "value", "\0") if isinstance(part, ast.Constant)
                                   else "\0" for part in node.values))  # fmt: skip
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                out.append(node.value)
    return out


def codes_told() -> set[str]:
    """The codes of all findings: the first arguments of `tell`."""
    return {
        word.value
        for path in sorted((ROOT / "quirkpy").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "tell"
        and len(node.args) > 1
        for word in ast.walk(node.args[0])
        if isinstance(word, ast.Constant) and isinstance(word.value, str)
        and word.value not in NO_CODES
    }  # fmt: skip


#: Words in the first arguments of `tell` that are no codes: keys, conditions, and what the
#: compiler of kernels tells.
NO_CODES = {
    "qp.deg", "frictionloss", "compiling its kernels",
    "waiting for another process that compiles its kernels",
}  # fmt: skip


def test_messages_of_the_page_are_those_of_the_sources() -> None:
    """Every sentence on the page is said somewhere, all ends of runs and all codes are there."""
    said, page = sentences(), (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    first, _, findings = page.partition("## When a model")[2].partition("## Findings")
    rows = [
        row for row in re.findall(r"^\| (`.*?) \|", first, re.MULTILINE) if "run.stop" not in row
    ]
    told = [word for row in rows for word in re.findall(r"`([^`]+)`", row)]
    for sentence, code in re.findall(r"^\| `(.*?)` \| `(\w+)` \|", first, re.MULTILINE):
        assert code in CODES
        assert {kind for text, kind in refused() if sentence in text} <= {code}, sentence
    ends = {word for word in told if word.isupper()}
    assert ends == {stop.name for stop in qp.Stop}
    for words in set(told) - ends:
        assert any(words in text for text in said), words
    words = re.findall(r"`([^`]+)`", findings)
    codes = {word for word in words if re.fullmatch("[a-z ]+", word)}
    assert codes - codes_told() == {"accepts", "kind", "findings", "quirkpy check"}
    assert codes_told() <= codes


CODES = get_args(Code)


@cache
def refused() -> tuple[tuple[str, str], ...]:
    """The sentences of all refusals, with a gap for each value, and their codes."""
    out = []
    for path in sorted((ROOT / "quirkpy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(
                getattr(node, "func", None), "id", getattr(getattr(node, "func", None), "attr", "")
            )
            if name in ("PartError", "refuse") and node.args:
                parts = getattr(node.args[0], "values", [node.args[0]])
                text = "".join(
                    str(getattr(part, "value", "\0")) if isinstance(part, ast.Constant) else "\0"
                    for part in parts
                )
                codes = [word.value.value for word in node.keywords if word.arg == "code"]
                out.append((text, codes[0] if codes else "value"))
    return tuple(out)


def test_codes_of_the_page_are_those_of_refusals() -> None:
    """Each kind has its row, some refusal has it, and it comes back from another process."""
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    kinds = page.partition("## Codes")[2].partition("## When a model")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", kinds, re.MULTILINE)) == CODES
    assert {code for _, code in refused() if code.isalpha()} == set(CODES)
    error = qp.PartError("plan: there is none.", "answer")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code) == (str(error), "answer")


# --- gallery --------------------------------------------------------------------------------------
def test_each_picture_of_the_gallery_stands_with_its_code() -> None:
    """Every function that draws has a picture, which the gallery shows above the function."""
    drawn = [path.stem for path in (ROOT / "docs" / "seeing").glob("*.png")]
    assert sorted(seeing.pictures()) == sorted(drawn)
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for picture in page.split("\n![")[1:]:
        caption, name = re.match(r"(.*)\]\(seeing/(\w+)\.png\)\n", picture).groups()  # type: ignore[union-attr]
        code = re.findall(r":pyobject: (\w+)\n", picture)
        assert code[-1] == name
        assert all(callable(getattr(seeing, one)) for one in code)
        assert caption == " ".join(str(inspect.getdoc(getattr(seeing, name))).split())
        drawn.remove(name)
    assert not drawn


# --- shelves --------------------------------------------------------------------------------------
def test_each_public_name_has_its_subject() -> None:
    """The page of public names has each of them once."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").partition("## What a run")[0]
    named = re.findall(r"^\.\. auto\w+:: ([\w.]+)$", page, re.MULTILINE)
    assert sorted(name.rpartition(".")[2] for name in named) == sorted(set(qp.__all__) - VERSION)


VERSION = {"__version__"}


def test_each_page_stands_on_one_of_four_shelves() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    shelves = re.findall(r"^:caption: (.*)$", index, re.MULTILINE)
    assert shelves == ["Tutorials", "How-to", "Explanation", "Reference"]
    shown = re.findall(r"^([\w-]+)$", index, re.MULTILINE)
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert sorted(shown) == sorted(pages)


# --- licences -------------------------------------------------------------------------------------
def test_each_requirement_has_its_licence() -> None:
    """All that users install is listed; the version to cite is that of the package."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = setup["options.extras_require"]
    users = ("vpython", "dask", "mesh", "plots", "tables", "movies")
    needed = "\n".join([setup["options"]["install_requires"], *(extras[name] for name in users)])
    names = set(re.findall(r"^([\w-]+)[<>=]", needed, re.MULTILINE)) - {"setuptools"}
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = {name for row in re.findall(r"^\| ([^|]*) \|", page, re.MULTILINE)
              for name in re.findall(r"[\w-]+", re.sub(r"\(.*?\)", "", row))}  # fmt: skip
    assert names <= listed
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {qp.__version__}\n" in cited


# --- lines that are shown and not run -------------------------------------------------------------
SHOWN = ["README.md", *(f"docs/{p.name}" for p in sorted((ROOT / "docs").glob("*.md")))]
COMMAND = re.compile(r"^ {4}(?:\$ )?quirkpy (.*)$|`quirkpy ([^`]*)`", re.MULTILINE)
#: What a variable of an example is.
KINDS: dict[str, type] = {
    "system": qp.Multibody, "run": qp.Trajectory, "graph": qp.ReconfigurationGraph,
    "study": qp.Study, "rest": qp.Equilibrium,
}  # fmt: skip
LINE = re.compile(rf"^ {{4}}((?:\w+ = )?(?:{'|'.join(KINDS)})\.\w+\(.*)$", re.MULTILINE)


def commands_shown() -> list[tuple[str, str]]:
    """All command lines of the pages that name a command and what it is given."""
    out = []
    for page in SHOWN:
        for one, two in COMMAND.findall((ROOT / page).read_text(encoding="utf-8")):
            line = (one or two).partition("  #")[0].partition("&&")[0].strip()
            if " " in line and not re.search(r"[|]|\.\.\.|--\w+$", line):
                out.append((page, line))
    return out


def code_of(line: str) -> Any:
    """With what the parser of the command line ends; 0 where it does not."""
    try:
        parser().parse_args(shlex.split(line))
    except SystemExit as ended:
        return ended.code  # also help, and the version
    return 0


def test_commands_on_pages_are_those_of_the_command_line() -> None:
    found = commands_shown()
    assert len(found) > 20
    for page, line in found:
        assert code_of(line) == 0, (page, line)
    assert code_of("report pair.db --aut pair.html") == 2


def test_methods_on_pages_take_what_they_are_given() -> None:
    """Lines that stand alone, such as run.movie("run.gif", fps=10), and the blocks for clusters."""
    told = []
    for page in SHOWN:
        text = (ROOT / page).read_text(encoding="utf-8")
        told += [(page, line.partition("  #")[0]) for line in LINE.findall(text)]
    told += [
        ("docs/clusters.md", code)
        for code in BLOCK.findall((ROOT / "docs/clusters.md").read_text())
    ]
    assert len(told) > 20
    for _, code in told:
        for node in ast.walk(ast.parse(code)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            kind = KINDS.get(getattr(node.func.value, "id", ""))
            if kind is not None:
                method = getattr(kind, node.func.attr)
                given = {word.arg: None for word in node.keywords if word.arg}
                inspect.signature(method).bind(None, *node.args, **given)
