"""The rules of the house that a machine can check; each fails where a rule is broken."""

from __future__ import annotations

import ast
import configparser
import dataclasses
import functools
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import networkx
import pytest

import quirkpy
from quirkpy.tables.tables import Tables

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "quirkpy").rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 540, 80
#: Lines of code of a function: the median; what is long, and the share that may be.  The share
#: falls with each long function that is parted, and never rises.
MEDIAN, LONG, SHARE = 6, 20, 0.05
#: Marks of unfinished work, and paths of the machine on which something was written.
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b|/(home|Users|root|work|tmp)/\w")
#: Folders that are not part of the tree.
OUTSIDE = {".git", ".venv", "out", "build", "dist", "__pycache__", ".hypothesis"}
TEXTS = {".py", ".md", ".cfg", ".toml", ".in", ".txt", ".yml", ".yaml", ""}

#: Modules that may import each other, at most.
LARGEST_GROUP = 2
#: More modules than these in one folder have layers among them.
LARGEST_ROOM = 12
PRIVATE = re.compile(r"_(?!.*__$)\w")
OF_TUPLES = {"_replace", "_asdict", "_fields", "_field_defaults"}
#: Private names of Python's own library for which it has no others.
OF_OTHERS = {
    ("quirkpy.__main__", "os._exit"), ("quirkpy.explore.run.workers", "os._exit"),
    ("quirkpy.explore.run.workers", "pool._processes"), ("quirkpy.views.window", "os._exit"),
    ("quirkpy.maths.warnings", "sys._getframe"), ("quirkpy.warm", "kernel._cache"),
    ("quirkpy.kernels.base.ingredients", "self._codegen._create_empty_module"),
    ("quirkpy.kernels.base.ingredients", "self._codegen"),
    ("quirkpy.kernels.base.ingredients", "self._ensure_finalized"),
    ("quirkpy.kernels.base.ingredients", "made._reduce"),
    ("quirkpy.kernels.base.ingredients", "context.codegen()._engine"),
    ("quirkpy.kernels.base.machine_code", "self._index_key"),
    ("quirkpy.kernels.base.machine_code", "self.kept._load_index"),
}  # fmt: skip
#: Where `cls.__new__(cls)` makes records of arrays that are locked, systems of parts that have been
#: checked, without doing either again.
OWN_CONSTRUCTORS = {"quirkpy/maths/records.py", "quirkpy/mechanics/system.py"}
#: Numbers so small are tolerances, steps or guards, and have names.
SMALL = 1e-3

every_source = pytest.mark.parametrize(
    "path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix()
)


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def texts() -> Iterator[Path]:
    """Every file of the tree that a person reads."""
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT).parts
        measured = path.name.startswith(".coverage")  # the data of a run that is under way
        if (
            path.is_file()
            and path.suffix in TEXTS
            and not measured
            and not any(p in OUTSIDE or "cache" in p for p in inside)
        ):
            yield path


def modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(quirkpy.__path__, "quirkpy.")
    return [importlib.import_module(info.name) for info in found]


def functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    """Public functions and methods that a module defines."""
    for name, value in vars(module).items():
        if name.startswith("_") or inspect.getmodule(value) is not module:
            continue
        yield from public_functions(name, value)


def public_functions(name: str, value: Any) -> Iterator[tuple[str, FunctionType]]:
    plain = inspect.unwrap(getattr(value, "py_func", value))
    if isinstance(plain, FunctionType) and not plain.__name__.startswith("<"):
        yield name, plain
    if not inspect.isclass(value):
        return
    for key, member in vars(value).items():
        inner = (
            getattr(member, "fget", None)
            or getattr(member, "func", None)
            or getattr(member, "__func__", member)
        )
        own = isinstance(inner, FunctionType) and inner.__module__ == value.__module__
        if own and not key.startswith("_") and inner.__code__.co_filename != "<string>":
            yield f"{name}.{key}", inner


# --- imports --------------------------------------------------------------------------------------
def test_imports_flow_one_way() -> None:
    """The contract in setup.cfg, kept."""
    code = (
        "import sys; from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(no_cache=True))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout)


def imports_of(path: Path) -> Iterator[str]:
    """Modules of the package that a module imports, for types alone and within functions, too."""
    known = {name_of(source) for source in SOURCES}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from inner & known or {str(node.module)} & known


def name_of(path: Path) -> str:
    """The name under which a source is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def rings() -> list[set[str]]:
    """Groups of modules each of which leads to the others, but for what `doors` imports, which
    waits until it is asked for; a module that is in no ring is a group of its own."""
    edges = [
        (name_of(path), other)
        for path in SOURCES
        if path.name != "doors.py"
        for other in imports_of(path)
    ]
    return list(networkx.strongly_connected_components(networkx.DiGraph(edges)))


def test_few_modules_import_each_other() -> None:
    groups = rings()
    assert len(groups) > 200
    assert max(map(len, groups)) <= LARGEST_GROUP, max(groups, key=len)


def test_every_module_can_be_the_first() -> None:
    """Whichever is imported first finds the others. Only modules of a ring can be met before they
    are complete, and those that use what `doors` imports late."""
    late = {name_of(path) for path in SOURCES if "quirkpy.doors" in imports_of(path)}
    names = late.union(*(group for group in rings() if len(group) > 1))
    assert len(names) > 10
    code = (
        "import importlib, os, sys\n"
        "import numpy, scipy.optimize, scipy.interpolate, numba, quaternion, networkx\n"
        "for name in sys.argv[1:]:\n"
        "    if os.fork() == 0:\n"
        "        importlib.import_module(name)\n"
        "        os._exit(0)\n"
        "    assert os.wait()[1] == 0, name\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *sorted(names)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_doors_are_the_only_exception_to_the_contract() -> None:
    """Of the layers; each package of several modules that has no layers of its own has no rings."""
    read = configparser.ConfigParser()
    read.read(ROOT / "setup.cfg", encoding="utf-8")
    assert "exclude_type_checking_imports" not in (ROOT / "setup.cfg").read_text(encoding="utf-8")
    layers = [part for part in read.values() if part.get("type") == "layers"]
    assert len(layers) >= 7
    for part in layers:
        ignored = part["ignore_imports"].split("\n")[1:]
        assert all(line.startswith("quirkpy.doors -> ") for line in ignored), part.name
        assert part.getboolean("exhaustive")
    layered = {part["containers"] for part in layers}
    for folder in {path.parent for path in SOURCES}:
        modules = [path for path in folder.glob("*.py") if path.stem != "__init__"]
        if len(modules) > LARGEST_ROOM:
            assert ".".join(folder.relative_to(ROOT).parts) in layered, f"{folder} has no layers"


@every_source
def test_private_names_stay_in_their_package(path: Path) -> None:
    """Neither imported from another, nor asked of its objects; those of named tuples are public."""
    here = private_names(path.parent)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("quirkpy"):
            names = [*(alias.name for alias in node.names), *str(node.module).split(".")]
            assert not any(PRIVATE.match(name) for name in names), f"line {node.lineno}: {names}"
        if isinstance(node, ast.Attribute) and PRIVATE.match(node.attr):
            known = node.attr in here or node.attr in OF_TUPLES
            foreign = (name_of(path), ast.unparse(node)) in OF_OTHERS
            assert known or foreign, f"line {node.lineno}: {ast.unparse(node)}"


@functools.cache
def private_names(folder: Path) -> frozenset[str]:
    """The private names that the modules of a package define."""
    found: set[str] = set()
    for node in (node for path in folder.glob("*.py") for node in ast.walk(tree(path))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return frozenset(name for name in found if PRIVATE.match(name))


@every_source
def test_arrays_of_quaternions_are_not_conjugated_by_name(path: Path) -> None:
    """NumPy 2.5 refuses `arr.conjugate()` of quaternions; `conj()` is for complex numbers."""
    found = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)]
    assert not [node.lineno for node in found if node.attr == "conjugate"]


@every_source
def test_only_quat_knows_numpy_quaternion(path: Path) -> None:
    """Imports within functions included."""
    imports = [
        node for node in ast.walk(tree(path)) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    named = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    knows = any(name.split(".")[0] == "quaternion" for name in named)
    assert knows == (path.name == "quat.py")


def test_all_is_what_the_package_imports() -> None:
    root = tree(ROOT / "quirkpy" / "names.py")
    imported = {
        alias.asname or alias.name
        for node in root.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(quirkpy.__all__) == sorted(imported | {"__version__"})
    assert imported <= {*dir(quirkpy)}
    assert len(quirkpy.__all__) == len(set(quirkpy.__all__))
    assert {type(node) for node in root.body} == {ast.Expr, ast.ImportFrom, ast.Assign}


# --- code -----------------------------------------------------------------------------------------
@every_source
def test_no_error_is_swallowed(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ExceptHandler):
            silent = all(isinstance(step, ast.Pass | ast.Continue) for step in node.body)
            assert not silent, f"line {node.lineno}: this handler does nothing"
            assert node.type is not None, f"line {node.lineno}: this handler catches everything"


@every_source
def test_no_global_changes(path: Path) -> None:
    """No `global`, and at the top of a module no list, dictionary or set by a small name: constants
    are constant."""
    for node in ast.walk(tree(path)):
        assert not isinstance(node, ast.Global), f"line {node.lineno}: global"
    for node in tree(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in (t for t in targets if isinstance(t, ast.Name)):
            changing = isinstance(
                getattr(node, "value", None), ast.List | ast.Dict | ast.Set | ast.ListComp
            )
            constant = target.id.isupper() or target.id == "__all__"
            assert constant or not changing, f"line {node.lineno}: {target.id}"


@every_source
def test_files_and_functions_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < LONGEST_FILE
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno + 1 < LONGEST_FUNCTION, node.name


def lines_of_code(path: Path) -> list[int]:
    """Of each function of a file, without its signature, docstring, comments and blank lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    counts = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            code = lines[body[0].lineno - 1 : node.end_lineno] if body else []
            counts.append(sum(line.strip()[:1] not in ("", "#") for line in code))
    return counts


def test_most_functions_are_a_few_lines() -> None:
    counts = sorted(count for path in SOURCES for count in lines_of_code(path))
    assert len(counts) > 2000
    assert counts[len(counts) // 2] <= MEDIAN
    long = sum(count > LONG for count in counts)
    assert long <= SHARE * len(counts), f"{long} of {len(counts)} are longer than {LONG} lines"


def float_constants(module: ModuleType) -> Iterator[tuple[str, float]]:
    """The upper-case names of floats that a module itself defines, with their values."""
    assert module.__file__ is not None
    for node in tree(Path(module.__file__)).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for name in (n.id for t in targets if t for n in ast.walk(t) if isinstance(n, ast.Name)):
            if name.isupper() and type(value := getattr(module, name)) is float:
                yield name, value


def test_a_tolerance_has_one_name_and_one_value() -> None:
    """No two modules mean different numbers by one name, nor write one number twice under it; row
    and column numbers are no floats."""
    found: dict[str, list[tuple[str, float]]] = {}
    for module in modules():
        for name, value in float_constants(module):
            found.setdefault(name, []).append((module.__name__, value))
    assert len(found) > 200
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def numbers_in_code(path: Path) -> Iterator[ast.Constant]:
    """Numbers in the bodies of functions, defaults of arguments and fields left out."""
    for function in ast.walk(tree(path)):
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            body = function.body if isinstance(function.body, list) else [function.body]
            yield from (
                node for part in body for node in ast.walk(part)
                if isinstance(node, ast.Constant) and type(node.value) is float
            )  # fmt: skip


@every_source
def test_small_numbers_have_names(path: Path) -> None:
    """A tolerance is named with its unit and meaning, and not written where it is used."""
    bare = {f"line {n.lineno}: {n.value}" for n in numbers_in_code(path) if 0.0 < n.value <= SMALL}
    assert bare == set()


@every_source
def test_objects_are_made_by_their_constructors(path: Path) -> None:
    """None by `object.__new__`; a class that makes its own otherwise says so in a class method."""
    text = path.read_text(encoding="utf-8")
    assert "object.__new__" not in text
    made = len(re.findall(r"\bcls\.__new__\(cls\)", text))
    assert made == (path.relative_to(ROOT).as_posix() in OWN_CONSTRUCTORS)


@every_source
def test_nothing_is_kept_by_a_word(path: Path) -> None:
    """What is derived from an object is kept by the function that derives it, not in a dictionary
    of anything by names."""
    for node in ast.walk(tree(path)):
        kept = isinstance(node, ast.Attribute) and node.attr in ("derived", "of_bodies")
        assert not kept, f"line {node.lineno}"


def test_public_classes_do_not_share_a_name() -> None:
    found: dict[str, set[str]] = {}
    for module in modules():
        for name, value in vars(module).items():
            own = inspect.isclass(value) and value.__module__ == module.__name__
            if own and not name.startswith("_"):
                found.setdefault(value.__name__, set()).add(module.__name__)
    assert len(found) > 150
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_part_classes_are_frozen_dataclasses() -> None:
    waiting, seen = [quirkpy.Part], set[type]()
    while waiting:
        waiting += (found := waiting.pop().__subclasses__())
        seen |= {cls for cls in found if cls.__module__.startswith("quirkpy.")}
    assert len(seen) > 25
    for cls in seen:
        assert cls.__dataclass_params__.frozen, cls
        assert cls.__dataclass_params__.eq, cls
        assert "__setattr__" in vars(cls), cls


# --- words ----------------------------------------------------------------------------------------
def test_every_public_function_is_typed_and_described() -> None:
    seen = 0
    for module in modules():
        for name, function in functions(module):
            parameters = inspect.signature(function).parameters.values()
            bare = [
                p.name
                for p in parameters
                if p.annotation is p.empty and p.name not in ("self", "cls")
            ]
            where = f"{module.__name__}.{name}"
            assert not bare, f"{where}: {bare}"
            assert "return" in function.__annotations__, where
            assert function.__doc__ or inherits_its_docstring(module, name), where
            seen += 1
    assert seen > 150


def inherits_its_docstring(module: ModuleType, name: str) -> bool:
    """A method that does what its base class says."""
    owner, _, method = name.partition(".")
    return bool(method) and inspect.getdoc(getattr(getattr(module, owner), method)) is not None


def test_every_public_name_is_described() -> None:
    for name in quirkpy.__all__:
        value = getattr(quirkpy, name)
        if inspect.isclass(value) or callable(value):
            assert inspect.getdoc(value), name
            made_up = f"{name}("  # what dataclasses and named tuples write for themselves
            assert not (value.__doc__ or "").startswith(made_up), name


#: Participles and adverbs, which say of what a function gives, not what it does.
PARTICIPLE = re.compile(
    r"_*([a-z]+(?<!e)ed|said|told|flown|bent|drawn|known|met|left|held|given|taken|shown|kept|made|seen"
    r"|gone|alone|apart|together|alike|beside|back|near|split)"
)


#: Functions by which pickles make their objects: what a pickle says, not what is done.
IN_PICKLES = (
    "quirkpy/explore/scope/scope.py: _restored",
    "quirkpy/rest/reason.py: shared",
    "quirkpy/rest/reason.py: told",
    "quirkpy/system/multibody.py: _restored",
)


def test_functions_are_not_called_by_participles() -> None:
    """Of modules, but for what users type; properties may say what something is."""
    outer = [
        f"{path.relative_to(ROOT).as_posix()}: {node.name}"
        for path in SOURCES
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef) and PARTICIPLE.fullmatch(node.name)
    ]
    assert sorted(outer) == sorted([*IN_PICKLES, "quirkpy/parts/part.py: checked"])


#: What a docstring does not begin with: words that mean something of which only another speaks.
LEANING = re.compile(
    r"(The same|Those|That|These|They|Them|Their|Its|It|He|Him|His|As above|Likewise|Nobody|See"
    r"|As (it|they|one|`)|Whatever|Such"
    r"|All of (it|that|them)|(Some|One|Each|None|Most) of (them|those|these)|One for each"
    r"|(What|How|Where|Whether|Why|When|Which|As far as) (it|its|they|their|that|those))\b"
)


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree(path)):
        kinds = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        if isinstance(node, kinds) and (text := ast.get_docstring(node)) is not None:
            yield getattr(node, "name", "the module"), text


@every_source
def test_every_docstring_can_be_read_alone(path: Path) -> None:
    leaning = {name: text for name, text in docstrings(path) if LEANING.match(text)}
    assert leaning == {}


def test_leaning_openings_are_found() -> None:
    for text in (
        "As `gap` (k,).",
        "As it is called.",
        "Such a thing.",
        "The same, carried.",
        "Those of the first.",
        "What it was made of.",
        "See `a`.",
    ):
        assert LEANING.match(text), text
    for text in ("Seen from above.", "What a run left.", "Items of a list.", "Thosed."):
        assert not LEANING.match(text), text


def test_every_module_is_described() -> None:
    for path in SOURCES:
        assert ast.get_docstring(tree(path)), path


def test_every_array_of_the_tables_says_its_shape() -> None:
    source = inspect.getsource(Tables)
    fields = [field for field in dataclasses.fields(Tables) if "_" in field.name]
    assert len(fields) > 30
    for field in fields:
        line = re.search(rf"^    {field.name}: .*?  # (.+)$", source, re.MULTILINE)
        assert line, f"{field.name} has no comment"
        shape = re.search(r"\((n|\d)\w*( \+ 1)?,( \w+)*(, \w+)*\)$", line[1])
        assert shape, f"{field.name}: {line[1]!r} does not end with a shape"


def test_letters_of_the_papers_have_names() -> None:
    notation = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    for field in quirkpy.Matrices._fields:
        assert f"`Matrices.{field}`" in notation, field


# --- the tree -------------------------------------------------------------------------------------
def test_no_marks_of_unfinished_work_and_no_machine_paths() -> None:
    found, count = [], 0
    for path in texts():
        count += 1
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if MARKS.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert count > 50
    assert found == []
