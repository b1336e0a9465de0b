"""The layout of states and of velocity vectors stands in one module, and nowhere else: here its
views, and a walk over all sources that finds whoever slices by number again."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from quirkpy.kernels.base import states
from quirkpy.kernels.base.states import StateLayout
from quirkpy.maths.types import Floats

PACKAGE = Path(__file__).resolve().parents[2] / "quirkpy"
HOME = "quirkpy.kernels.base.states"
#: Columns by number: compiled functions take them one by one.
COLUMNS = {"R", "Q", "V", "OMEGA", "STATE_WIDTH", "LINEAR_HALF", "ANGULAR_HALF", "VELOCITY_WIDTH"}
#: The only modules that may import them.
KERNELS = {
    f"kernels/{name}.py"
    for name in (
        "place/carried", "place/kinematics", "place/members", "solid/curves", "step/batch",
        "step/charges", "step/collocation", "step/events", "step/integrator", "step/ledger",
        "step/projection", "step/relative", "step/sampling", "step/steps", "step/watch",
        "tree/recursion",
    )
}  # fmt: skip
#: Rooms that see states; those below have none.
ROOMS = (
    "kernels/users/", "mechanics/", "motion/", "rest/", "system/", "clearance/", "explore/",
    "views/", "formats/",
)  # fmt: skip
#: Bounds of slices that would cut a row of a state, a pose, or six speeds.
BOUNDS = {
    (None, 3), (0, 3), (3, None), (3, 6), (3, 7), (None, 6), (0, 6), (6, None), (None, 7), (0, 7),
    (7, None), (7, 10), (7, 13), (10, None), (10, 13), (None, 13), (0, 13),
}  # fmt: skip
#: What makes arrays, or folds them.
MAKING = ("zeros", "empty", "full", "ones", "reshape", "normal", "uniform", "broadcast_to")
#: What else is made there as wide: twists of joints, points of coils.
OTHER_SHAPES = {
    ("explore/reduce/conclusions.py", "np.zeros((6, 6))"),
    ("explore/alike/symmetry.py", "np.reshape(numbers[:6], (2, 3))"),
    ("views/dots.py", "np.empty((0, 2, 3))"),
}
#: What else is cut there, all of it no state and no velocity vector: texts and names, pixels,
#: colours, sites, elements, blocks of matrices of two bodies, points with an axis.
OTHERS = {
    ("explore/answers/plan.py", "[source, *from_here][:6]"),
    ("explore/alike/symmetry.py", "numbers[:6]"),
    ("explore/journal.py", "sorted(parts)[:3]"),
    ("explore/journal.py", "sorted(rules)[:3]"),
    ("explore/reduce/conclusions.py", "out[:3, :3]"),
    ("explore/reduce/conclusions.py", "out[:3, 3:]"),
    ("explore/reduce/conclusions.py", "out[3:, 3:]"),
    ("explore/run/variations.py", "p.sites.place[:, :3]"),
    ("explore/scope/safety.py", "placed[:, None, :3]"),
    ("explore/scope/safety.py", "placed[:, None, 3:]"),
    ("formats/models/meshes.py", "hull.equations[:, :3]"),
    ("formats/mujoco/acting.py", "bias[:3]"),
    ("formats/mujoco/acting.py", "relative[3:]"),
    ("formats/mujoco/acting.py", "relative[:3]"),
    ("formats/mujoco/defaults.py", "given[3:]"),
    ("formats/mujoco/defaults.py", "given[:3]"),
    ("formats/mujoco/geoms.py", "ends[3:]"),
    ("formats/mujoco/geoms.py", "ends[:3]"),
    ("views/dots.py", "layer.colour[:, 3:]"),
    ("views/dots.py", "layer.colour[:, :3]"),
    ("views/dots.py", "mean[..., 3:]"),
    ("views/dots.py", "mean[..., :3]"),
    ("views/dots.py", "out[..., 3:]"),
    ("views/dots.py", "out[..., :3]"),
    ("views/dots.py", "self.colour[:, 3:]"),
    ("views/dots.py", "self.colour[:, :3]"),
    ("views/graph_picture.py", "list(quickest.items())[:3]"),
    ("views/listings.py", "node.frequencies[:3]"),
    ("views/movie.py", "shot[:, :, :3]"),
}


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the package by its place, as a tree."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def columns_imported(tree: ast.Module) -> set[str]:
    """Columns that a module takes from the layout; or the layout itself, under a name."""
    out: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            out |= names & COLUMNS if node.module == HOME else set()
            out |= {HOME} if f"{node.module}.states" == HOME and "states" in names else set()
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names if alias.name == HOME}
    return out


def number(node: ast.expr | None) -> int | str | None:
    """A bound of a slice: its number, None where there is none, a text where it is neither."""
    if node is None:
        return None
    plain = isinstance(node, ast.Constant) and isinstance(node.value, int)
    return node.value if plain else ast.unparse(node)  # type: ignore[attr-defined]


def shape_of(call: ast.Call) -> list[ast.expr]:
    """What a call that makes or folds an array gives as its shape."""
    keywords = {word.arg: word.value for word in call.keywords}
    given = keywords.get("size") or keywords.get("shape")
    parts = [given] if given is not None else list(call.args)
    folded = next((part.elts for part in parts if isinstance(part, ast.Tuple)), None)
    return parts if folded is None else folded


def shapes(tree: ast.Module) -> Iterator[str]:
    """Calls that make, or fold, an array as wide as a row of a state or as six speeds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in MAKING:
            ends = [number(part) for part in shape_of(node)[-2:]]
            if ends[-1:] in ([6], [7], [13]) or ends == [2, 3]:
                yield ast.unparse(node)


def cuts(tree: ast.Module) -> Iterator[str]:
    """Subscripts that cut at the places at which rows of states and velocity vectors would be."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            each = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            slices = [s for s in each if isinstance(s, ast.Slice) and s.step is None]
            bounds = [(number(s.lower), number(s.upper)) for s in slices]
            if any(pair in BOUNDS for pair in bounds):
                yield ast.unparse(node)


# --- sources --------------------------------------------------------------------------------------
def test_only_kernels_know_columns() -> None:
    """None that is not listed, and no one is listed without need."""
    found = {place for place, tree in sources() if columns_imported(tree)}
    assert found - {"kernels/base/states.py"} == KERNELS


def test_nobody_else_has_such_columns() -> None:
    """No other module gives these names to numbers: the layout is written down once."""
    for place, tree in sources():
        if place != "kernels/base/states.py":
            assigned = {
                node.id
                for top in tree.body
                if isinstance(top, ast.Assign)
                for node in ast.walk(top.targets[0])
                if isinstance(node, ast.Name)
            }
            assert not assigned & COLUMNS, place


def test_nobody_cuts_states_by_number() -> None:
    """Outside of the layout there are names for every part of a state; the rest is listed."""
    found = {
        (place, cut) for place, tree in sources() if place.startswith(ROOMS) for cut in cuts(tree)
    }
    assert found == OTHERS


def test_nobody_makes_states_by_number() -> None:
    """Nor folds them, or what has six speeds a body."""
    found = {
        (place, made)
        for place, tree in sources()
        if place.startswith(ROOMS)
        for made in shapes(tree)
    }
    assert found == OTHER_SHAPES


@pytest.mark.parametrize(
    "line",
    [
        "np.zeros((n, 13))", "np.empty((k, n, 6))", "a.reshape(-1, 2, 3)", "np.reshape(a, (2, 3))",
        "rng.normal(size=(n, 6))", "a.reshape(len(a), n, 6)", "np.full((2, 7), 1.0)",
    ],
)  # fmt: skip
def test_the_walk_finds_shapes(line: str) -> None:
    assert list(shapes(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    ["y[:, 3:7]", "a[..., :3]", "rows[mine, 10:13] = 0", "f(x[3:])", "y[0, :-1, 7:]", "u[:, :6]"],
)
def test_the_walk_finds_cuts(line: str) -> None:
    assert list(cuts(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        "from quirkpy.kernels.base.states import Q, V", "from quirkpy.kernels.base import states",
        "import quirkpy.kernels.base.states as s",
        "def f():\n    from quirkpy.kernels.base.states import STATE_WIDTH",
    ],
)  # fmt: skip
def test_the_walk_finds_imports(line: str) -> None:
    assert columns_imported(ast.parse(line))


def test_the_walk_lets_others_pass() -> None:
    plain = ast.parse(
        "from quirkpy.kernels.base.states import positions_of\ny[:, 1:]\nx[a:b]\nz[:-1]"
    )
    assert not columns_imported(plain)
    assert not list(cuts(plain))
    assert not list(shapes(ast.parse("np.zeros((n, 3))\nnp.zeros(6 * n)\nnp.zeros(n)\nf(2, 3)")))


# --- views ----------------------------------------------------------------------------------------
VIEWS: list[tuple[Callable[[Floats], Floats], int, list[int]]] = [
    (states.positions_of, 13, [0, 1, 2]), (states.attitudes_of, 13, [3, 4, 5, 6]),
    (states.velocities_of, 13, [7, 8, 9]), (states.spins_of, 13, [10, 11, 12]),
    (states.speeds_of, 13, [7, 8, 9, 10, 11, 12]), (states.positions_of, 7, [0, 1, 2]),
    (states.attitudes_of, 7, [3, 4, 5, 6]), (states.linear_of, 6, [0, 1, 2]),
    (states.angular_of, 6, [3, 4, 5]),
]  # fmt: skip


@pytest.mark.parametrize(("view", "width", "columns"), VIEWS)
@pytest.mark.parametrize("leading", [(), (4,), (2, 3), (2, 3, 5)], ids=str)
def test_views(
    view: Callable[[Floats], Floats], width: int, columns: list[int], leading: tuple[int, ...]
) -> None:
    """Of any leading shape; and who writes to a view writes to the array."""
    array = np.random.default_rng(0).normal(size=(*leading, width))
    found = view(array)
    np.testing.assert_array_equal(found, array[..., columns])
    found[:] = 7.0
    assert (array[..., columns] == 7.0).all()
    assert (array == 7.0).sum() == found.size


def test_rows_are_built_and_taken_apart() -> None:
    rng = np.random.default_rng(1)
    parts = [rng.normal(size=(5, width)) for width in (3, 4, 3, 3)]
    rows = states.state_rows(*parts)
    for part, view in zip(parts, states.quantities_of(rows), strict=True):
        np.testing.assert_array_equal(part, view)
    whole = states.with_ledger(rows)
    np.testing.assert_array_equal(states.bodies_of(whole), rows)
    np.testing.assert_array_equal(states.ledger_of(whole), np.zeros(13))
    many = np.stack([rows, 2.0 * rows])
    np.testing.assert_array_equal(states.bodies_of(states.with_ledger(many)), many)
    vectors = states.vectors_from(parts[0], parts[2])
    np.testing.assert_array_equal(states.by_body(states.flat(vectors)), vectors)
    assert states.flat(vectors).shape == (states.speeds_count(5),) == (30,)
    np.testing.assert_array_equal(states.halves_of(vectors)[:, 0], parts[0])
    np.testing.assert_array_equal(states.halves_of(vectors)[:, 1], parts[2])
    ground = states.ground_rows(2, 1)
    np.testing.assert_array_equal(states.attitudes_of(ground)[0, 0], (1.0, 0.0, 0.0, 0.0))
    assert ground.sum() == 2.0


# --- layouts --------------------------------------------------------------------------------------
def test_layouts_of_rigid_bodies_have_no_tail() -> None:
    """Lines are then rows of bodies and the ledger, and nothing else."""
    layout = StateLayout.rigid(4)
    assert (layout.tail, layout.state_length, layout.velocity_length) == (0, 65, 24)
    assert (layout.line_rows, layout.groups.tolist()) == (5, [0])


def test_tails_follow_the_ledger() -> None:
    """All coordinates, body by body, then all speeds."""
    layout = StateLayout.of((2, 0, 9), (3, 1, 9))
    assert (layout.tail, layout.state_length, layout.velocity_length) == (24, 76, 31)
    assert layout.coordinates.tolist() == [0, 2, 2, 11]
    assert layout.speeds.tolist() == [11, 14, 15, 24]
    assert layout.groups.tolist() == [0, 2, 11, 14, 15, 24]
    lines, rows = layout.zero_lines(2)
    assert rows.shape == (2, 4 + 2, 13)  # 24 numbers take two rows
    lines[1, :76] = np.arange(76.0)
    np.testing.assert_array_equal(layout.tail_in(lines)[1], np.arange(52.0, 76.0))
    np.testing.assert_array_equal(layout.ledger_in(lines)[1], np.arange(39.0, 52.0))
    np.testing.assert_array_equal(layout.rows_in(lines[1]), rows[1, :4])
    assert np.shares_memory(layout.rows_in(lines[1]), lines)
    assert layout.coordinates_in(layout.tail_in(lines)).shape == (2, 11)
    np.testing.assert_array_equal(layout.speeds_in(layout.tail_in(lines))[1], np.arange(63.0, 76))
    np.testing.assert_array_equal(layout.moving, [*range(39), *range(52, 76)])
    vector = layout.vector(np.ones((2, 3, 6)), np.full((2, 13), 2.0))
    np.testing.assert_array_equal(vector[1], [1.0] * 18 + [2.0] * 13)
    np.testing.assert_array_equal(layout.by_body(vector), np.ones((2, 3, 6)))
    np.testing.assert_array_equal(layout.further_in(vector), np.full((2, 13), 2.0))


def test_bodies_may_have_speeds_alone() -> None:
    layout = StateLayout.of((0, 0), (0, 1))
    assert (layout.tail, layout.groups.tolist()) == (1, [0, 1])
    assert layout.speeds_in(np.array([4.0])).tolist() == [4.0]
    assert layout.coordinates_in(np.array([4.0])).size == 0
