"""Implicit steps: the same motion, events and ledger as by explicit ones, and few where these would
be many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import config
from scipy.linalg import expm

import quirkpy as qp
from benchmarks.stiff import pinned_pair, t_bar
from quirkpy.kernels.base.factors import factorize, solve_factors
from quirkpy.motion.notes import TOOK_HOLD
from quirkpy.motion.stiff import EXPLICIT_STEPS, IMPLICIT_STEPS
from tests.motion import TIGHT, apart, compiled_system, floating_chain
from tests.random_systems import FAMILIES, seeds
from tests.truths.test_joint_stops import FALL, drop
from tests.truths.test_row_of_four_bars import row
from tests.user_parts import Drag
from tests.workshop import World


# --- what stiff systems are made of ---------------------------------------------------------------
def honey(damping: float) -> qp.Multibody:
    """A pendulum that falls in honey."""
    rod = qp.Body.rod("rod", (0, 0, 0), (1, 0, 0), 1.0)
    hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0, 0, 0), axis=(0, 0, 1))
    thick = qp.HingeSpring("honey", hinge, stiffness=0.0, damping=damping)
    return qp.Multibody(rod, hinge, thick, qp.Gravity((0, -9.81, 0)))


SPRINGS = ((1.0, 0.1), (1e8, 1e5), (30.0, 0.0), (1e6, 20.0))  # N/m, N s/m


def train() -> qp.Multibody:
    """Four wagons on rails between springs, some of which are stiff."""
    wagons = [
        qp.Body.sphere(f"wagon {k}", 0.1, 1.0 + k, position=(1.0 + k, 0, 0)) for k in range(4)
    ]
    rails = [
        qp.Prismatic(f"rail {k}", qp.GROUND, w, at=(1.0 + k, 0, 0), axis=(1, 0, 0))
        for k, w in enumerate(wagons)
    ]
    springs = [
        qp.Spring(f"spring {k}", before, w, stiffness=s, damping=d, rest_length=1.0)
        for k, (before, w, (s, d)) in enumerate(zip([qp.GROUND, *wagons], wagons, SPRINGS))
    ]
    push = qp.Load("push", wagons[3], force=(5.0, 0, 0))
    return qp.Multibody(*wagons, *rails, *springs, push)


def where_the_train_is(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Displacements [m] and velocities [m/s] of the wagons, by the matrix exponential."""
    M, K, D = np.diag([1.0, 2.0, 3.0, 4.0]), np.zeros((4, 4)), np.zeros((4, 4))
    for k, (s, d) in enumerate(SPRINGS):
        way = np.zeros(4)
        way[k] = 1.0
        way[k - 1] -= 1.0 if k else 0.0
        K, D = K + s * np.outer(way, way), D + d * np.outer(way, way)
    A = np.zeros((9, 9))
    A[:4, 4:8], A[4:8, :4], A[4:8, 4:8] = np.eye(4), -np.linalg.solve(M, K), -np.linalg.solve(M, D)
    A[7, 8] = 5.0 / 4.0
    moved = expm(A * t)[:, 8]
    return moved[:4], moved[4:8]


def spinning_pair(stiffness: float, damping: float, spin: float = 1.0) -> qp.Multibody:
    """Two boxes that go round each other, a stiff spring between them."""
    boxes = [
        qp.Body.box(
            name, (0.1, 0.1, 0.1), mass, position=(x, 0, 0), velocity=(0, x * spin, 0),
            angular_velocity=(0, 0, spin),
        )
        for name, mass, x in (("a", 1.0, 0.5), ("b", 2.0, -0.5))
    ]  # fmt: skip
    rod = qp.Spring("rod", *boxes, stiffness=stiffness, damping=damping, rest_length=0.999)
    return qp.Multibody(*boxes, rod)


# --- the equations --------------------------------------------------------------------------------
@pytest.mark.kernels
@pytest.mark.skipif(not config.DISABLE_JIT, reason="Python cannot call what kernels alone call")
@pytest.mark.parametrize("kind", [float, complex])
def test_factors_solve(kind: Any) -> None:
    """Systems whose first pivots are nothing, against LAPACK."""
    draw = np.random.default_rng(3)
    for n in (1, 2, 5, 12):
        a = draw.normal(size=(n, n)).astype(kind)
        a += 1j * draw.normal(size=(n, n)) if kind is complex else 0.0
        a[0, 0] = 0.0 if n > 1 else a[0, 0]
        b = draw.normal(size=n).astype(kind)
        known, pivots = np.linalg.solve(a, b), np.zeros(n, dtype=np.int64)
        factorize(a, pivots)
        solve_factors(a, pivots, b)
        np.testing.assert_allclose(b, known, rtol=1e-9)


# --- the motion of explicit steps -----------------------------------------------------------------
@pytest.mark.kernels
@pytest.mark.parametrize("drift", ["project", "none", "baumgarte"])
def test_a_floating_chain_moves_as_by_explicit_steps(drift: Any) -> None:
    """Hinge, ball and free bodies; where joints are not put back, slips grow alike."""
    known = floating_chain().simulate(0.1, drift=drift, **TIGHT)
    run = floating_chain().simulate(0.1, drift=drift, method="radau")
    assert apart(run.final, known.final) < 1e-8
    assert run.counts.steps < 40


@seeds(12, 2)
@pytest.mark.parametrize("family", FAMILIES)
def test_random_systems_move_as_by_explicit_steps(family: str, seed: int) -> None:
    """Trees, loops and redundant rows, by all joints."""
    system = compiled_system(family, seed)
    known = system.simulate(0.05, **TIGHT)
    if any(event.name == TOOK_HOLD for event in known.events):
        return  # that is no motion: joints could not be held
    run = system.simulate(0.05, method="radau", rtol=1e-10, atol=1e-12)
    assert run.stop is known.stop is qp.Stop.END
    assert apart(run.final, known.final) < 1e-5
    assert abs(system.residual(run.final).position).max(initial=0.0) < 1e-9


def shoved(case: int) -> qp.Multibody:
    """Two damped arms, the last of which is pushed now this way, now that."""
    draw = np.random.default_rng(case)
    ends = np.cumsum([np.zeros(3), *(draw.normal(size=(2, 3)) * 0.2 + (0.5, 0, 0))], axis=0)
    arms = [qp.Body(f"arm {k}", mass=float(draw.uniform(0.5, 2.0)), inertia=(0.05, 0.06, 0.07),
                    position=(0.5 * (ends[k] + ends[k + 1])).tolist())
            for k in range(2)]  # fmt: skip
    pairs = zip([qp.GROUND, arms[0]], arms, ends, strict=False)
    hinges = [
        qp.Revolute(f"hinge {k}", *pair, at=at.tolist(), axis=draw.normal(size=3).tolist())
        for k, (*pair, at) in enumerate(pairs)
    ]
    springs = [qp.HingeSpring(f"spring {k}", hinge, stiffness=float(10 ** draw.uniform(-1, 1)),
                              damping=0.1, rest_angle=float(draw.normal()))
               for k, hinge in enumerate(hinges)]  # fmt: skip
    pushes = draw.normal(scale=2.0, size=(5, 3)).tolist()
    shove = qp.Load("shove", arms[1], force=qp.Schedule((0.1, 0.3, 0.5, 0.7, 0.8), pushes, "hold"))
    return qp.Multibody(*arms, *hinges, *springs, shove)


@pytest.mark.parametrize("method", ["radau", "auto"])
@seeds(30, 6)
def test_loads_may_jump_between_steps(seed: int, method: Any) -> None:
    """After a knot at which a load jumps nothing is known of rates before it: motion and ledger as
    by explicit steps, at loose tolerances and at tight ones."""
    system = shoved(seed)
    known = system.simulate(1.0, **TIGHT).final
    for rtol in (1e-5, 1e-6, 1e-7):
        run = system.simulate(1.0, method=method, rtol=rtol, atol=1e-2 * rtol)
        assert apart(run.final, known) < 100.0 * rtol
        assert np.ptp(run.energy + run.dissipated - run.work) < 100.0 * rtol


@pytest.mark.parametrize("family", ["trees", "linkages"])
def test_turned_copies_move_alike(family: str) -> None:
    """The same steps, and the same places seen from elsewhere."""
    world = World(qp.rotation((1, -2, 0.5), 1.1), (0.3, -0.2, 0.5))
    one, two = (compiled_system(family, 3, w).simulate(0.1, method="radau") for w in (None, world))
    assert one.counts.steps == two.counts.steps
    there = two.final.r - two.start.r
    np.testing.assert_allclose(there, (one.final.r - one.start.r) @ world.matrix.T, atol=1e-8)


def test_loops_are_kept_shut() -> None:
    system = row(2, 1.2, -1.0)
    run, known = system.simulate(0.3, method="radau"), system.simulate(0.3, **TIGHT)
    assert apart(run.final, known.final) < 1e-6
    assert abs(system.residual(run.final).position).max() < 1e-10
    assert apart(run.at(0.21), known.at(0.21)) < 1e-6
    assert run.energy[-1] == pytest.approx(run.energy[0], abs=1e-6)


def test_a_flat_pose_is_passed_and_told() -> None:
    run = row(1, 0.1, -1.5).simulate(0.2, method="radau")
    assert [e.name for e in run.events] == ["singular pose"]
    known = row(1, 0.1, -1.5).simulate(0.2, **TIGHT)
    assert run.events[0].t == pytest.approx(known.events[0].t, abs=1e-3)
    assert apart(run.final, known.final) < 1e-4


@pytest.mark.kernels
def test_events_are_located_and_bounces_bounce() -> None:
    run = drop(0.5).simulate(1.0, method="radau", rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose([e.t for e in run.events], [FALL, 2.0 * FALL], rtol=0.0, atol=1e-8)
    half = qp.When("half way", lambda state: state["body"].position[2] - 0.5)
    run = drop(0.5).simulate(1.0, method="radau", rtol=1e-9, atol=1e-11, stop=[half])
    assert run.stop is qp.Stop.EVENT
    assert run.t[-1] == pytest.approx(FALL * np.sqrt(0.5), abs=1e-8)


def test_users_python_is_asked() -> None:
    mechanism = row(1, 1.2, -1.0)
    over: Any = mechanism["over0"]
    system = mechanism.with_(Drag("air", over, 0.5, 0.1))
    assert apart(system.simulate(0.1, method="radau").final, system.simulate(0.1).final) < 1e-6


def test_many_runs_are_single_runs() -> None:
    """To the bit, with samples."""
    system = train()
    runs = system.simulate_many(
        parameters={"spring 0.stiffness": [1.0, 2.0]}, duration=0.5, samples=[0.2], method="radau"
    )
    single = system.simulate(0.5, method="radau")
    np.testing.assert_array_equal(runs.final[0].r, single.final.r)
    assert runs.final[1].r[0, 0] != runs.final[0].r[0, 0]
    assert runs.samples["wagon 3"].position[0, 0, 0] == single.at(0.2)["wagon 3"].position[0]


@pytest.mark.parametrize("method", ["radau", "auto"])
def test_no_fixed_step_is_taken(method: Any) -> None:
    with pytest.raises(qp.PartError, match="chooses its own steps"):
        floating_chain().simulate(1.0, method=method, step=0.1)


# --- stiff motion ---------------------------------------------------------------------------------
@pytest.mark.kernels
def test_a_stiff_damper_costs_few_steps() -> None:
    """A pendulum 1e6 times slower than its own time constant: steps follow the slow motion."""
    run = honey(3e5).simulate(1e4, method="radau", rtol=1e-6, atol=1e-9)
    assert run.counts.steps < 40  # explicit methods: some 1e9
    # c phi' = -m g cos(phi) / 2: phi = -gd(m g t / 2 c)
    s = 0.5 * 9.81 * 1e4 / 3e5
    assert run.final["hinge"].angle == pytest.approx(-2.0 * np.arctan(np.tanh(0.5 * s)), abs=1e-7)
    assert run.energy[-1] + run.dissipated[-1] == pytest.approx(run.energy[0], abs=1e-5)


@pytest.mark.parametrize("t", [0.01, 2.0, 50.0])
def test_a_train_moves_as_the_matrix_exponential_says(t: float) -> None:
    """Time constants from 1e-5 s to a minute, with the ledger."""
    run = train().simulate(t, method="radau", rtol=1e-10, atol=1e-12)
    x, v = where_the_train_is(t)
    np.testing.assert_allclose(run.final.r[:, 0] - train().initial.r[:, 0], x, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.final.v[:, 0], v, rtol=0, atol=1e-6)
    lost = run.energy + run.dissipated - run.work
    np.testing.assert_allclose(lost, lost[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("stiffness", "damping"), [(30.0, 0.1), (1e6, 2e3)])
def test_the_order_does_not_collapse(stiffness: float, damping: float) -> None:
    """Error against steps: of order five where nothing is stiff, and above three where the spring
    is a million times stiffer."""
    system = spinning_pair(stiffness, damping)
    truth = system.simulate(1.0, method="radau", rtol=1e-12, atol=1e-13).final
    figures = []
    for rtol in (1e-5, 1e-9):
        run = system.simulate(1.0, method="radau", rtol=rtol, atol=0.01 * rtol)
        figures.append((math.log(run.counts.steps), math.log(apart(run.final, truth))))
    (few, coarse), (many, fine) = figures
    assert (coarse - fine) / (many - few) > (4.2 if stiffness < 1e3 else 3.0)


def test_a_stiff_bar_that_turns_costs_few_steps() -> None:
    """It keeps its direction beside the carrier of what floats: as many steps as a soft one, the
    motion and the momenta of explicit steps, and its ledger."""
    system = spinning_pair(1e6, 2e3)
    run, known = system.simulate(1.0, method="radau"), system.simulate(1.0, rtol=1e-11, atol=1e-13)
    assert run.counts.steps < 0.1 * known.counts.steps
    assert apart(run.final, known.final) < 1e-6
    assert run.energy[-1] + run.dissipated[-1] == pytest.approx(run.energy[0], abs=1e-6)
    spun = [run.angular_momentum[k] for k in (0, -1)]
    np.testing.assert_allclose(spun[1], spun[0], atol=1e-6)


def test_pins_ring_out_in_an_orbit_as_by_explicit_steps() -> None:
    """Hertz beside an hour and a half, in the Hill frame, with the ledger."""
    system = pinned_pair()
    run = system.simulate(3000.0, method="radau")
    known = system.simulate(3000.0, rtol=1e-11, atol=1e-13, keep="ends")
    assert apart(run.final, known.final) < 1e-6
    assert run.counts.steps < 0.3 * known.counts.steps
    kept = run.energy + run.dissipated
    np.testing.assert_allclose(kept, kept[0], rtol=0, atol=1e-7 * abs(kept).max())


def test_bars_of_aluminium_come_to_rest() -> None:
    """A tensegrity of which the bars give way at 2000 rad/s; explicit steps use up their bound."""
    system = t_bar("aluminium").with_(qp.ViscousHinges(20.0))
    rest = system.settle(evaluations=400_000)
    assert rest.verdict == "stable"
    assert IMPLICIT_STEPS in [event.name for event in rest.run.events]  # type: ignore[union-attr]
    explicit = system.settle(evaluations=400_000, method="dop853")
    assert explicit.verdict == "never settles"


class Relaxing(qp.CompiledJointLaw):
    """Van der Pol's oscillator, x'' = mu (1 - x^2) x' - x: what damps a wide motion drives a
    narrow one."""

    mu: float

    @staticmethod
    def load(t, x, rate, mu):  # type: ignore[no-untyped-def]
        """The force on a mass of one kilogram [N]."""
        return mu * (1.0 - x * x) * rate - x


def test_relaxation_has_its_period() -> None:
    """Of a wagon by a law of a user's own: T = (3 - 2 ln 2) mu + 7.0143 mu^(-1/3) and less
    (Dorodnicyn); between the jumps explicit steps would be 1e5 times as many."""
    wagon = qp.Body.sphere("wagon", 0.1, 1.0, velocity=(1e-3, 0, 0))
    way = qp.Prismatic("way", qp.GROUND, wagon, at=(0, 0, 0), axis=(1, 0, 0))
    mu = 1000.0
    system = qp.Multibody(wagon, way, Relaxing("relaxing", way, mu))
    run = system.simulate(4000.0, method="radau", rtol=1e-7, atol=1e-9)
    x = run["wagon"].position[:, 0]
    up = [float(np.interp(0.0, x[k : k + 2], run.t[k : k + 2])) for k in range(len(x) - 1)
          if x[k] < 0.0 <= x[k + 1]]  # fmt: skip
    period = (3.0 - 2.0 * math.log(2.0)) * mu + 7.0143 * mu ** (-1.0 / 3.0)
    assert np.diff(up) == pytest.approx(period, rel=1e-4)
    assert run.counts.steps < 3000


# --- which method a run needs ---------------------------------------------------------------------
def test_auto_is_explicit_where_nothing_is_stiff() -> None:
    """To the bit, without a word."""
    one, two = (floating_chain().simulate(3.0, method=m) for m in ("auto", "dop853"))
    np.testing.assert_array_equal(one.course.states, two.course.states)
    assert one.events == two.events
    assert apart(one.at(1.23), two.at(1.23)) == 0.0


def test_auto_finds_out_that_a_motion_is_stiff_and_says_so() -> None:
    run = honey(300.0).simulate(100.0, method="auto")
    assert [e.name for e in run.events] == [IMPLICIT_STEPS]
    assert 0.0 < run.events[0].t < 10.0
    assert run.counts.steps < 700
    known = honey(300.0).simulate(100.0, method="radau")
    assert apart(run.final, known.final) < 1e-7
    assert apart(run.at(50.0), known.at(50.0)) < 1e-7


def test_auto_goes_back_where_implicit_steps_do_not_pay() -> None:
    """Fast springs that nothing damps swing, and are to be followed whatever the method."""
    run = spinning_pair(1e6, 0.0).simulate(3.0, method="auto", rtol=1e-5, atol=1e-7)
    names = [e.name for e in run.events]
    assert names == [IMPLICIT_STEPS, EXPLICIT_STEPS][: len(names)] * (len(names) // 2)
    assert run.stop is qp.Stop.END
