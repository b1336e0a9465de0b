"""An engine serves one user at a time: what is asked within a run, or beside it in threads, changes
no bit of it."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import numba
import numpy as np
import pytest

import quirkpy as qp
from quirkpy.kernels.base.states import attitudes_of, zero_rows
from quirkpy.kernels.solid.curves import rates_within
from quirkpy.mechanics.engine import Engine
from tests.motion import compiled_system
from tests.random_systems import ATTACKING, random_system, seeds

#: What a user's event may ask of the system that moves; the system at the present state; how it
#: began.
QUESTIONS: dict[str, Callable[[qp.Multibody, qp.State], Any]] = {
    "acceleration": lambda system, state: system.acceleration(state),
    "acceleration at": lambda system, state: system.at(state).acceleration(),
    "acceleration of the start": lambda system, state: system.acceleration(),
    "constraint forces": lambda system, state: system.constraint_forces(state),
    "dense": lambda system, state: system.constraint_forces(state, evaluator="dense"),
    "residual": lambda system, state: system.residual(state),
    "energy": lambda system, state: system.energy(state),
    "reactions": lambda system, state: system.reactions(state),
    "caught": lambda system, state: system.caught(state),
    "simulate": lambda system, state: system.simulate(0.05, progress=False),
    "simulate on": lambda system, state: system.at(state).simulate(0.01, progress=False),
    "settle": lambda system, state: system.settle(evaluations=200, progress=False),
}


def stopped(seed: int) -> qp.Multibody:
    """A chain on hinges that turn many times; some of its joints have stops, with and without
    bounce, and rope."""
    rng = np.random.default_rng(seed)
    parts: list[Any] = [qp.Gravity((0, 0, -9.81))]
    last: qp.Body = qp.GROUND
    for k in range(int(rng.integers(2, 5))):
        spin = rng.uniform(5.0, 15.0) if k == 0 else 0.0
        at = (0.3 * k, 0.0, 0.0)
        bar = qp.Body.box(f"bar {k}", (0.3, 0.03, 0.03), 1.0, position=(0.15 + 0.3 * k, 0.0, 0.0))
        hinge = qp.Revolute(f"hinge {k}", last, bar, at=at, axis=(0, 1, 0))
        parts += [bar, hinge]
        if k > 0:
            bounds = {
                "lower": float(rng.uniform(-2.0, -0.2)),
                "upper": float(rng.uniform(0.2, 2.0)),
            }
            parts.append(
                qp.JointStop(
                    f"stop {k}", hinge, restitution=float(rng.choice([0.0, 0.5])), **bounds
                )
            )
        else:
            parts.append(qp.Load("motor", bar, torque=(0.0, float(spin), 0.0)))
        last = bar
    slider = qp.Body.box("slider", (0.1,) * 3, 0.5, position=(0, 1, 1))
    slide = qp.Prismatic("slide", qp.GROUND, slider, at=(0, 1, 1), axis=(0, 0, 1))
    parts += [
        slider,
        slide,
        qp.JointStop("floor", slide, lower=-0.2, restitution=float(rng.choice([0.0, 0.3]))),
    ]
    return qp.Multibody(*parts)


def watching(ask: Callable[[qp.State], Any]) -> qp.When:
    """An event that never happens and asks each time that it is looked at."""

    def value(state: qp.State) -> float:
        ask(state)
        return 1.0

    return qp.When("watching", value, terminal=False)


def same(one: qp.Trajectory, two: qp.Trajectory) -> None:
    """Every bit of two runs."""
    for name in ("t", "states", "angles", "drift", "held"):
        np.testing.assert_array_equal(
            getattr(one.course, name), getattr(two.course, name), err_msg=name
        )
    assert (one.stop, one.events, one.counts) == (two.stop, two.events, two.counts)


def asked_within(system: qp.Multibody, duration: float, question: str, every: int) -> None:
    """The run of an event that asks has the bits of one whose event asks nothing of an engine."""
    quiet = system.simulate(duration, stop=[watching(lambda state: None)], progress=False)
    looks = iter(range(10**9))

    def ask(state: qp.State) -> None:
        if next(looks) % every == 0:
            with suppress(qp.PartError):  # a state that a step tries may lie beyond a stop
                QUESTIONS[question](system, state)

    same(system.simulate(duration, stop=[watching(ask)], progress=False), quiet)


@pytest.mark.parametrize("question", QUESTIONS)
@seeds(2, 1, attack=40)
def test_questions_within_a_run_with_stops_change_no_bit(question: str, seed: int) -> None:
    asked_within(stopped(seed), 1.0, question, 97 if question in ("settle", "simulate") else 3)


@pytest.mark.parametrize("family", ["trees", "loops", "meshes", "lattices"])
@seeds(3, 1, attack=60)
def test_questions_within_a_run_of_random_systems_change_no_bit(family: str, seed: int) -> None:
    question = list(QUESTIONS)[seed % (len(QUESTIONS) - 1)]  # settling may be long
    asked_within(compiled_system(family, seed), 0.1, question, 5)


def test_hinges_have_turned_and_stops_have_held() -> None:
    """What the two laws above are about does happen."""
    runs = [stopped(seed).simulate(1.0) for seed in range(4)]
    assert max(abs(run["hinge 0"].angle[-1]) for run in runs) > 2.0 * np.pi
    assert all(run.events for run in runs)
    assert any(run.course.held.any() for run in runs)


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns so often that none finishes anything undisturbed."""
    was = sys.getswitchinterval()
    sys.setswitchinterval(2e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(was)


def work(system: qp.Multibody, k: int) -> Any:
    """One of several things that one may ask, by number."""
    state = system.initial
    tasks: list[Callable[[], Any]] = [
        lambda: system.simulate(0.2, progress=False).course.states,
        lambda: system.acceleration(),
        lambda: (
            system.simulate(0.2, stop=[watching(system.acceleration)], progress=False).course.states
        ),
        lambda: system.constraint_forces(state),
        lambda: (
            system.simulate(0.1, method="rk45", rtol=1e-5, progress=False).at(state.t + 0.0567).r
        ),
        lambda: system.caught(state).state.v,
        lambda: system.simulate(0.01, method="radau", rtol=1e-4, progress=False).course.states[-1],
    ]
    return tasks[k % len(tasks)]()


@pytest.mark.parametrize(
    "make", [lambda: stopped(1), lambda: compiled_system("lattices", 3)], ids=["stops", "locks"]
)
def test_threads_on_one_system_get_the_bits_of_one_alone(
    make: Callable[[], qp.Multibody], hurried: None
) -> None:
    alone, shared = make(), make()
    expected, many = [work(alone, k) for k in range(7)], range(700 if ATTACKING else 42)
    with ThreadPoolExecutor(8) as pool:
        for k, found in zip(many, pool.map(lambda k: work(shared, k % 7), many), strict=True):
            np.testing.assert_array_equal(found, expected[k % 7], err_msg=str(k))


def test_a_moment_does_not_depend_on_what_was_asked_before() -> None:
    """Rods on stops of restitution 0, 0.5 and 1: moments between rows, in any order, have the bits
    of each alone."""
    parts: list[qp.Part] = [qp.Gravity((0.0, 0.0, -9.81))]
    before: qp.Body = qp.GROUND
    for k, restitution in enumerate((0.0, 0.5, 1.0)):
        rod = qp.Body.rod(f"rod{k}", (0.5 * k, 0, 0), (0.5 * k + 0.5, 0, 0), mass=1.0 + k)
        hinge = qp.Revolute(f"hinge{k}", before, rod, at=(0.5 * k, 0, 0), axis=(0, 1, 0))
        stop = qp.JointStop(f"stop{k}", hinge, lower=-0.8, upper=0.9, restitution=restitution)
        parts += [rod, hinge, stop, qp.JointSpring(f"spring{k}", hinge, stiffness=2.0)]
        before = rod
    system, times = qp.Multibody(*parts), np.linspace(0.01, 2.99, 40)
    alone = [system.simulate(3.0, progress=False).at(t).v for t in times]
    run = system.simulate(3.0, progress=False)
    for k in np.random.default_rng(0).permutation(len(times)):
        np.testing.assert_array_equal(run.at(times[k]).v, alone[k])


# --- one model, conditions of one's own -----------------------------------------------------------
@numba.njit(nogil=True)
def _ask_all(t, states, angles, held, tail, model, conditions, scratch, out, most):  # type: ignore
    rates_within(t, states, angles, held, tail, model, conditions, scratch, out, most)


def some_states(system: qp.Multibody, count: int) -> tuple[np.ndarray, ...]:
    """Times, states anywhere, angles with whole turns, stops that hold, as may be, and no tails."""
    layout, rng = system.clusters.layout, np.random.default_rng(11)
    states = rng.normal(size=zero_rows(count, system.tables.n_bodies + 1).shape)
    turns = attitudes_of(states)
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    angles = rng.uniform(-30.0, 30.0, size=(count, len(layout.packed.coordinates)))
    held = rng.random(size=(count, len(layout.labels))) < 0.5
    return np.arange(count) * 1e-3, states, angles, held, np.zeros((count, 0))


def answers(engine: Engine, asked: tuple[np.ndarray, ...]) -> np.ndarray:
    """Accelerations of them all, asked without Python's lock."""
    out = np.empty((len(asked[0]), asked[1].shape[1] - 1, 6))
    _ask_all(*asked, engine.model, engine.conditions, engine.scratch, out, np.zeros(2))
    return out


@pytest.mark.parametrize("seed", [1, 2])
def test_threads_ask_one_model_at_once(seed: int) -> None:
    """1000 random states with angles and held stops of their own, by four threads, each in its own
    order, all at the same time and twenty times: the bits of one thread alone."""
    chain = stopped(seed)
    hinge = next(part for part in chain.parts if part.name == "hinge 1")
    system = qp.Multibody(*chain.parts, qp.JointSpring("spring", hinge, stiffness=2.0))
    asked = some_states(system, 1000)
    with system.clusters.lend() as engine:
        expected = answers(engine, asked)
    assert np.isfinite(expected).all()
    orders = [np.random.default_rng(k).permutation(1000) for k in range(4)]
    together = Barrier(len(orders), timeout=60.0)

    def one_of_four(engine: Engine, order: np.ndarray) -> int:
        mine = tuple(array[order] for array in asked)
        together.wait()
        rounds = [answers(engine, mine) for _ in range(20)]
        return sum(not np.array_equal(found, expected[order]) for found in rounds)

    with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
        engines = [stack.enter_context(system.clusters.lend()) for _ in orders]
        assert all(e.model is engines[0].model for e in engines)
        assert list(pool.map(one_of_four, engines, orders)) == [0, 0, 0, 0]


def prints(model: Any) -> list[str]:
    """A fingerprint of every array of a model."""
    if isinstance(model, tuple):
        return [one for part in model for one in prints(part)]
    return [hashlib.sha256(np.ascontiguousarray(model).tobytes()).hexdigest()]


def use(system: qp.Multibody) -> list[qp.Trajectory]:
    """Runs of every kind, and questions within and beside them."""

    def ask(state: qp.State) -> None:
        with suppress(qp.PartError):  # a state that a step tries may lie beyond a stop
            for name in ("acceleration", "reactions", "caught", "simulate on"):
                QUESTIONS[name](system, state)

    runs = [
        system.simulate(0.3, progress=False),
        system.simulate(0.02, stop=[watching(ask)], progress=False),
        system.simulate(0.02, drift="baumgarte", step=1e-3, progress=False),
        system.simulate(0.01, method="radau", rtol=1e-4, progress=False),
    ]
    system.caught(system.initial)
    runs[0].at(float(runs[0].t[:2].mean()))
    with suppress(qp.PartError):
        system.settle(evaluations=200, progress=False)
    return runs


@pytest.mark.parametrize(
    "make",
    [lambda: stopped(1), lambda: stopped(3), lambda: random_system("trees", 4)],
    ids=["stops", "more stops", "users' parts"],
)
def test_nothing_writes_to_a_model(make: Callable[[], qp.Multibody]) -> None:
    system = make()
    layouts = {id(x): x for x in (system.clusters.layout, system.clusters.merged_layout)}.values()
    models = [layout.model for layout in layouts]
    before = [prints(model) for model in models]
    runs = use(system)
    assert all(x.model is model for x, model in zip(layouts, models, strict=True))
    assert [prints(model) for model in models] == before
    if system.clusters.layout.labels:  # what this is about has happened
        assert runs[0].events


PACKAGE = Path(qp.__file__).parent


def assigned(path: Path) -> list[str]:
    """What a module assigns to elements of, as it is written."""
    out = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            out.append(ast.unparse(node.value))
    return out


def test_conditions_are_set_by_engines_and_kernels_alone() -> None:
    """Beside those nobody assigns to them, and nobody to what a model holds, but for batches, which
    write the numbers of each run into models of their own (`with_own_numbers`)."""
    mine = PACKAGE / "mechanics" / "engine.py", PACKAGE / "kernels"
    batches = mine[1] / "step" / "batch.py"
    found = {path: assigned(path) for path in sorted(PACKAGE.rglob("*.py"))}
    assert "self.conditions.near" in found[mine[0]]
    assert "conditions.stops" in found[mine[1] / "step" / "impacts.py"]
    for path, names in found.items():
        kept = [n for n in names if "model." in n or n.startswith(("stops.", "joints."))]
        assert not kept or path == batches, path
        if path != mine[0] and mine[1] not in path.parents:
            assert not [n for n in names if "conditions." in n], path
