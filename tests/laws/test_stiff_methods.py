"""SciPy's implicit integrators in a run: the same motion, events and ledger as by the compiled
steps."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.motion.settings import StiffMethod
from tests.motion import TIGHT, apart, floating_chain
from tests.truths.test_joint_stops import FALL, drop
from tests.truths.test_row_of_four_bars import row
from tests.user_parts import Drag

METHODS = get_args(StiffMethod)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "make", [floating_chain, lambda: row(2, 1.2, -1.0)], ids=["chain", "loops"]
)
def test_stiff_methods_move_as_the_others(make: Any, method: Any) -> None:
    system = make()
    known = system.simulate(0.3, **TIGHT)
    run = system.simulate(0.3, method=method, rtol=1e-8, atol=1e-10)
    assert run.stop is qp.Stop.END
    assert apart(run.final, known.final) < 1e-5
    assert abs(system.residual(run.final).position).max() < 1e-10
    assert apart(run.at(0.21), known.at(0.21)) < 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_a_stiff_damper_costs_few_steps(method: Any) -> None:
    """A pendulum in honey, 1e6 times slower than its own time constant: steps follow the slow
    motion."""
    rod = qp.Body.rod("rod", (0, 0, 0), (1, 0, 0), 1.0)
    hinge = qp.Revolute("hinge", qp.GROUND, rod, at=(0, 0, 0), axis=(0, 0, 1))
    honey = qp.HingeSpring("honey", hinge, stiffness=0.0, damping=3e5)
    system = qp.Multibody(rod, hinge, honey, qp.Gravity((0, -9.81, 0)))
    run = system.simulate(1e4, method=method, rtol=1e-6, atol=1e-9)
    assert run.counts.steps < 1000  # explicit methods: some 1e9
    # c phi' = -m g cos(phi) / 2: phi = -gd(m g t / 2 c)
    s = 0.5 * 9.81 * 1e4 / 3e5
    assert run.final["hinge"].angle == pytest.approx(-2.0 * np.arctan(np.tanh(0.5 * s)), abs=1e-5)
    assert run.energy[-1] + run.dissipated[-1] == pytest.approx(run.energy[0], abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_stiff_methods_locate_events_and_bounce(method: Any) -> None:
    run = drop(0.5).simulate(1.0, method=method, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose([e.t for e in run.events], [FALL, 2.0 * FALL], rtol=0.0, atol=1e-6)
    half = qp.When("half way", lambda state: state["body"].position[2] - 0.5)
    run = drop(0.5).simulate(1.0, method=method, rtol=1e-9, atol=1e-11, stop=[half])
    assert run.stop is qp.Stop.EVENT
    assert run.t[-1] == pytest.approx(FALL * np.sqrt(0.5), abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_stiff_methods_ask_users_python(method: Any) -> None:
    mechanism = row(1, 1.2, -1.0)
    over: Any = mechanism["over0"]
    system = mechanism.with_(Drag("air", over, 0.5, 0.1))
    run, known = system.simulate(0.1, method=method), system.simulate(0.1)
    assert apart(run.final, known.final) < 1e-5


def test_a_stiff_method_takes_no_fixed_step() -> None:
    with pytest.raises(qp.PartError, match="chooses its own steps"):
        floating_chain().simulate(1.0, method="radau", step=0.1)


def test_bdf_begins_with_nothing_that_was_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy takes differences of rows that it has not filled yet; garbage in them once made a run
    fail now and then."""

    class Dirty:
        """NumPy, whose new arrays hold what they may."""

        def __getattr__(self, name: str) -> Any:
            return signalling if name == "empty" else getattr(np, name)

    def signalling(shape: Any, **_: Any) -> Any:
        return np.full(shape, 0x7FF0000000000001, dtype=np.uint64).view(float)

    monkeypatch.setattr("scipy.integrate._ivp.bdf.np", Dirty())
    run = drop(0.5).simulate(0.1, method="bdf")
    assert run.stop is qp.Stop.END
