"""A body pressed onto a stop far from the origin bounces as it does near it, and comes to rest."""

from __future__ import annotations

import pytest

import quirkpy as qp


@pytest.mark.parametrize("place", [1.0, 10.0, 150.0, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8])
def test_a_slide_comes_to_rest_at_its_stop(place: float, restitution: float) -> None:
    """Pressed by 1 N over half a metre it meets the stop after one second, and rests after (1 + e)
    / (1 - e)."""
    ball = qp.Body.sphere("ball", 0.1, 1.0)
    slide = qp.Prismatic("slide", qp.GROUND, ball, at=(0, 0, 0), axis=(1, 0, 0))
    stop = qp.JointStop("stop", slide, upper=place, restitution=restitution)
    system = qp.Multibody(ball, slide, stop, qp.Load("push", ball, force=(1.0, 0, 0)))
    start = system.initial.replace({"ball": {"position": (place - 0.5, 0, 0)}})
    run = system.at(start).simulate(20.0, progress=False, max_steps=3000)
    assert run.stop is qp.Stop.END
    assert len(run.t) < 100
    reached = [event.t for event in run.events if event.name == "stop reached"]
    assert reached[0] == pytest.approx(1.0, abs=1e-9 * place)
    assert reached[-1] == pytest.approx((1.0 + restitution) / (1.0 - restitution), abs=2e-3)
    assert run.final["ball"].position[0] == pytest.approx(place, abs=1e-15 * place)
    assert run.dissipated[-1] == pytest.approx(0.5, rel=1e-6)
