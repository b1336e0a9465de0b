"""Mechanisms followed through their motion, against references from two independent methods
each."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from tests.truths.test_double_pendulum import ENERGY, bars
from tests.truths.test_row_of_four_bars import row
from tests.truths.test_slider_crank import START, mechanism

#: The tolerances of every reference motion.
TIGHT = {"rtol": 1e-12, "atol": 1e-13}

# --- double pendulum ------------------------------------------------------------------------------
#: t, error allowed, and of both bars r, q, v, omega: Kane's equations in relative quaternions,
#: extrapolated in 80-bit arithmetic, agreeing with Lagrange's in Euler angles to 5e-14 (4e-12 at 5
#: s).
PENDULUM = [
    (
        1.0,
        1e-9,
        (
            (-0.31816349656004284, -0.0526118115553298, -0.3821046803449993),
            (0.3481585927886635, 0.24621555131098996, 0.6603689542400492, -0.6181232408152493),
            (0.2094298764138192, 0.14857580005470866, -0.1948413290590917),
            (1.8554096482294782, 0.2309889775516857, 0.6018631341709652),
        ),
        (
            (-1.0837532066432525, -0.05093102732595742, -0.9806859125270985),
            (0.11722504996726106, -0.19705855509722603, 0.2791819861500936, 0.9324610619926473),
            (-0.29579927407072815, 0.5492645201163645, 1.150646049049348),
            (-2.126065353788118, -3.0787117788818903, 1.5195978690819818),
        ),
    ),
    (
        2.0,
        1e-9,
        (
            (0.23118806018993088, 0.014946115193956605, -0.44308993947755787),
            (0.047459921260058796, -0.8537772637309569, 0.011308117234405335, 0.5183474378201189),
            (1.7010487935313034, 0.14843036573377702, 0.8925515859731977),
            (1.5477200176567152, 3.7978331368478986, -0.6522661151231106),
        ),
        (
            (0.655712520333765, 0.07363198868484974, -1.345209148171132),
            (0.6950658939658148, 0.4584973315073993, 0.48909901722536836, -0.25970319866200253),
            (2.2823324956033995, -0.6894684940596975, 1.2194896677226346),
            (-4.2809969326562305, -0.6547106566692767, -3.123764604672406),
        ),
    ),
    (
        5.0,
        1e-7,
        (
            (0.3470194779410521, -0.16777628011786774, -0.3184785734697555),
            (0.49027799205513484, 0.7788754511778101, 0.030065671808988663, -0.38996996991771316),
            (0.1728815273910346, -0.2617568744100592, 0.32626952241280366),
            (1.7633775089336325, -0.07188810729519145, 0.9023624772270583),
        ),
        (
            (0.9305977103220389, -0.5843954035175682, -1.0004364380211899),
            (0.056141969712594955, 0.8563917524572062, -0.261622734278714, -0.4415821446442266),
            (-0.9558479207843059, 0.004741006925724346, -0.5562227672566805),
            (-5.28877077682175, -3.647373880401062, -0.6588331539120739),
        ),
    ),
]


@pytest.mark.parametrize(("t", "allowed", "upper", "lower"), PENDULUM)
def test_double_pendulum_swings_as_kane_says(
    t: float, allowed: float, upper: tuple, lower: tuple
) -> None:
    run = bars().simulate(t, **TIGHT)
    state = run.final
    for k, (r, q, v, omega) in enumerate((upper, lower)):
        sign = math.copysign(1.0, state.q[k] @ q)
        got = np.concatenate([state.r[k], sign * state.q[k], state.v[k], state.omega[k]])
        np.testing.assert_allclose(got, [*r, *q, *v, *omega], rtol=0.0, atol=allowed)
    np.testing.assert_allclose(run.energy, ENERGY, rtol=1e-11)


# --- slider-crank ---------------------------------------------------------------------------------
#: t, crank angle and rate, place of the slider: quadrature of the energy integral in 34-digit
#: arithmetic.
CRANK = np.array([
    (0.1, 1.4212527389088212, 8.08337782761969, 0.787661550698581),
    (0.25, 3.2104564773311983, 19.173829227124614, 0.500444679693825),
    (0.5, 6.665418037282723, 13.958026584517796, 1.0704858791526466),
    (1.0, 12.781374815426355, 16.706230417092677, 1.0905281020068638),
    (2.0, 24.944810574791877, 18.02720145334626, 1.0927521133173157),
    (5.0, 61.78609436445281, 10.677232463850295, 0.9070851312245415),
    (10.0, 123.33282130032485, 15.257129413639282, 0.5631894434701336),
])  # fmt: skip


def test_slider_crank_turns_as_its_energy_integral_says() -> None:
    """Twenty revolutions in 10 s; the angle counts on.  Angle and place to 1e-9, the rate (up to 20
    rad/s) to 1e-8."""
    run = mechanism(*START).simulate(10.0, **TIGHT)
    states = [run.at(t) for t in CRANK[:, 0]]
    angle = [START[0] + state["main"].angle for state in states]
    np.testing.assert_allclose(angle, CRANK[:, 1], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(
        [s["slider"].position[0] for s in states], CRANK[:, 3], rtol=0.0, atol=1e-9
    )
    np.testing.assert_allclose([s["main"].rate for s in states], CRANK[:, 2], rtol=0.0, atol=1e-8)


# --- four-bars through their flat poses -----------------------------------------------------------
#: Windows -> t, angle and rate of the uprights: phi'' = -W cos phi in elliptic functions, 34
#: digits.
FOUR_BARS = {
    1: [
        (0.5, 0.7932784509595374, -2.7866116028263903),
        (1.0, -1.8345566611421613, -6.875591948593315),
        (2.0, -4.789550999536392, -1.0344348457960213),
        (5.0, -15.37448094142013, -5.678977607488002),
        (10.0, -30.343944970943127, -1.9669347194403195),
        (20.0, -63.118844095901096, -5.5864607424628145),
    ],
    2: [
        (0.5, 0.8019776992396905, -2.727308494277073),
        (1.0, -1.767074476310201, -6.807385240869445),
        (2.0, -4.770237034517435, -1.0189645914385368),
        (5.0, -15.083557159858586, -6.105067553519621),
        (10.0, -30.179800860191204, -1.5066421808418295),
        (20.0, -62.25787306635122, -3.3854425564292874),
    ],
}


def four_bars(windows: int) -> tuple[qp.Trajectory, float]:
    """20 s, over twenty flat poses; and the largest error of the first upright's angle at the
    reference times."""
    run = row(windows, 0.5 * math.pi, -1.0).simulate(20.0, max_steps=4000, **TIGHT)
    angle = [0.5 * math.pi + run.at(t)["foot0"].angle for t, _, _ in FOUR_BARS[windows]]
    return run, float(abs(np.array(angle) - [phi for _, phi, _ in FOUR_BARS[windows]]).max())


@pytest.mark.parametrize("windows", FOUR_BARS)
def test_four_bars_swing_through_their_flat_poses(windows: int) -> None:
    """The parallelogram is kept, to 1e-8 rad, in no more steps than such a motion needs."""
    run, off = four_bars(windows)
    assert run.stop is qp.Stop.END
    assert off < 1e-8
    assert run.counts.steps < 1500


# --- ball chain -----------------------------------------------------------------------------------
#: The free end after 5 s: extrapolated from runs of four integrators.
TIP = (-6.46661930312065, 4.303127178467408, -1.1481616601243552)


def ball_chain(n: int) -> qp.Multibody:
    """n rods of 1 x 0.05 x 0.05 m and 1 kg along +x from the origin, on ball joints, turning as one
    at 1 rad/s."""
    rods, joints = [], []
    for k in range(n):
        rods.append(
            qp.Body.box(
                f"rod{k}",
                (1.0, 0.05, 0.05),
                1.0,
                position=(k + 0.5, 0, 0),
                velocity=(0, k + 0.5, 0),
                angular_velocity=(0, 0, 1),
            )
        )
        joints.append(
            qp.Spherical(f"ball{k}", rods[k - 1] if k else qp.GROUND, rods[k], at=(k, 0, 0))
        )
    return qp.Multibody(*rods, *joints, qp.Gravity((0, 0, -9.81)))


def tip(state: qp.State) -> np.ndarray:
    """The free end of the last rod."""
    w, x, y, z = state.q[-1]
    return state.r[-1] + 0.5 * np.array(
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)]
    )


def test_chain_of_eight_rods_whips_its_tip_to_the_right_place() -> None:
    run = ball_chain(8).simulate(5.0, **TIGHT)
    np.testing.assert_allclose(tip(run.final), TIP, rtol=0.0, atol=1e-9)
