"""Two hinged cubes swinging from one face alignment to the other: states and times by the study's
one equation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

import quirkpy as qp
from tests.truths.test_hinged_cubes import DAMPING, A, B, cubes

#: Times [s] at which the angle is known; the meeting of the faces comes later in some cases.
TIMES = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0)
NEAR, FAR = (0.1, 0.0, 0.0), (0.2, 0.0, 0.0)


class Swing(NamedTuple):
    """A start on the way to A, a well, a damping; when A is reached and at which rate; the angles
    at TIMES."""

    phi: float
    rate: float
    well: tuple[float, float, float]
    damping: float
    t: float
    rate_there: float
    angles: tuple[float, ...]

    def mirrored(self) -> Swing:
        """The same on the way to B: (x, y) -> (-y, -x)."""
        x, y, z = self.well
        angles = tuple(-0.5 * math.pi - phi for phi in self.angles)
        return Swing(
            -0.5 * math.pi - self.phi,
            -self.rate,
            (-y, -x, z),
            self.damping,
            self.t,
            -self.rate_there,
            angles,
        )


#: MOMENT phi'' = torque of the well - c phi', by Taylor series of order 30 in 40-digit arithmetic.
SWINGS = {
    "pushed": Swing(
        B,
        0.02,
        NEAR,
        DAMPING,
        24.511015131230703,
        0.3294080058369294,
        (
            -2.3363681421372866,
            -2.316393085767475,
            -2.2481422224580188,
            -2.0539295224272847,
            -1.6101790683645063,
            -0.6303207175845588,
            0.945059454966532,
            2.189127044942364,
        ),
    ),
    "pushed, undamped": Swing(
        B,
        0.02,
        NEAR,
        0.0,
        22.45053485247134,
        0.3878143885933063,
        (
            -2.3360692581326203,
            -2.315187046551651,
            -2.2398304824059907,
            -2.0062088922381798,
            -1.431666436578774,
            -0.1311751570271239,
            1.7362433467055272,
            3.0195188630266463,
        ),
    ),
    "off centre": Swing(
        B + 0.01,
        0.0,
        NEAR,
        DAMPING,
        37.117182729995044,
        0.32913764956396035,
        (
            -2.3460082746644217,
            -2.3454500816019572,
            -2.3413769800942537,
            -2.323292131108165,
            -2.2767840729715236,
            -2.1621902188817606,
            -1.8830759792683025,
            -1.2259692096702728,
        ),
    ),
    "off centre, undamped": Swing(
        B + 0.01,
        0.0,
        NEAR,
        0.0,
        34.51939151725087,
        0.3872934934016448,
        (
            -2.346006406686285,
            -2.3454350813364746,
            -2.3411292496027754,
            -2.3208028051097704,
            -2.264635880722935,
            -2.115956957970876,
            -1.7282580108202834,
            -0.7765946607284834,
        ),
    ),
    "far": Swing(
        B,
        0.0,
        FAR,
        DAMPING,
        11.326927871167443,
        0.47643223375695193,
        (
            -2.337514729857766,
            -2.280837580666582,
            -1.8410248463665533,
            0.1223224341501723,
            2.015086980047422,
            1.8507503110134382,
            0.010508568299695405,
            -1.1513499811338415,
        ),
    ),
    "far, undamped": Swing(
        B,
        0.0,
        FAR,
        0.0,
        10.783878700938955,
        0.5477225575051661,
        (
            -2.3373272323156873,
            -2.2793155523727826,
            -1.8143752254103342,
            0.3480118539565311,
            2.4804267143637615,
            2.9995327746078173,
            2.434711116270358,
            0.24298576969131605,
        ),
    ),
    "half way": Swing(
        -0.25 * math.pi,
        0.0,
        NEAR,
        DAMPING,
        10.121781070580756,
        0.2384686584727711,
        (
            -0.7668344812294875,
            -0.7118894784486866,
            -0.34233177040612883,
            0.7563067771843157,
            1.7214224096597508,
            1.9036478519376887,
            1.3112054336037922,
            0.41388711467288963,
        ),
    ),
    "half way, undamped": Swing(
        -0.25 * math.pi,
        0.0,
        NEAR,
        0.0,
        9.574400463750806,
        0.27386127875258304,
        (
            -0.7666483831201485,
            -0.7104122219437143,
            -0.3200441661456005,
            0.9018215794532283,
            2.0345739110395584,
            2.342609451371067,
            1.722899897308795,
            0.43926290461033557,
        ),
    ),
}


def simulated(swing: Swing, target: float) -> qp.Trajectory:
    """30 s or ten more than it takes; the hinge counts from A, so that the faces meet at target -
    A."""
    system = cubes(swing.phi, swing.rate, swing.well)
    if not swing.damping:
        system = system.without("drag")
    meet = qp.When("aligned", lambda state: state["hinge"].angle - (target - A), terminal=False)
    return system.simulate(max(30.0, swing.t + 1.0), stop=[meet], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("side", ["A", "B"])
@pytest.mark.parametrize("name", SWINGS)
def test_cubes_swing_and_meet_on_time(name: str, side: str) -> None:
    swing, target = (SWINGS[name], A) if side == "A" else (SWINGS[name].mirrored(), B)
    run = simulated(swing, target)
    first = run.events[0]
    assert first.name == "aligned"
    assert first.t == pytest.approx(swing.t, abs=1e-9)
    assert run.at(first.t)["hinge"].rate == pytest.approx(swing.rate_there, abs=1e-9)
    angles = [A + run.at(t)["hinge"].angle for t in TIMES]
    np.testing.assert_allclose(angles, swing.angles, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("phi", "well"), [(A, NEAR), (B, (0.0, -0.1, 0.0)), (B, NEAR), (A, (0.0, -0.1, 0.0))]
)
def test_cubes_at_rest_with_the_pull_through_the_hinge_stay(
    phi: float, well: tuple[float, ...]
) -> None:
    """The last two stand on an unstable equilibrium: rounding, 1e-17 m, grows with exp(0.387 t / s)
    at most."""
    run = cubes(phi, 0.0, well).simulate(20.0, rtol=1e-12, atol=1e-13)
    assert abs(run["hinge"].angle - (phi - A)).max() < 1e-12


def test_cubes_that_meet_stop_there() -> None:
    """A terminal event ends the run on the located state, and a study goes on from it."""
    swing = SWINGS["far"]
    meet = qp.When("aligned", lambda state: state["hinge"].angle)
    run = cubes(swing.phi, swing.rate, swing.well).simulate(
        60.0, stop=[meet], rtol=1e-12, atol=1e-13
    )
    assert run.stop is qp.Stop.EVENT
    assert run.t[-1] == run.events[-1].t == pytest.approx(swing.t, abs=1e-9)
    assert abs(run.final["hinge"].angle) < 1e-11
    on = run.system.at(run.final).simulate(1.0)
    assert on.at(run.t[-1]) == run.final
