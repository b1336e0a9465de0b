"""Force, torque and energy of dipoles, against values computed to forty digits from U by
differentiation.

mu0 / (4 pi) = 1e-7 exactly.  Pinned magnets stand over the plane z = 0, frozen at (x0, m0).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import quirkpy as qp

PAIRS: list[Any] = [
    dict(
        m1=(-0.102, 0.63, 0.666),
        r1=(-0.045, 0.062, 0.038),
        m2=(-1.43, -1.957, -0.501),
        r2=(0.22, 0.023, 0.065),
        U=-9.536437082697218e-06,
        F2=(-0.000104057094718102181, -0.0000104765554090632557, -0.0000534358077314090134),
        T2=(5.57861710026621286e-6, -4.47159619629592438e-6, 1.54389481590906111e-6),
        T1=(-7.94548059783587229e-6, -6.87935129513870528e-6, 5.290619061498687e-6),
    ),
    dict(
        m1=(-1.757, 1.66, 0.036),
        r1=(-0.077, -0.015, -0.073),
        m2=(-1.636, 1.949, 1.787),
        r2=(0.163, 0.049, -0.135),
        U=3.978144310880191e-06,
        F2=(0.000126641580011715741, -0.000392845179784430225, -0.000107782987677940808),
        T2=(0.0000376451260857407884, -0.0000100159575040849953, 0.0000453880959438912063),
        T1=(-6.3906137277179026e-6, -8.000181577894423e-6, 0.0000569998083251218553),
    ),
    dict(
        m1=(0.787, -1.795, -1.315),
        r1=(0.019, -0.005, -0.023),
        m2=(1.263, -0.398, -0.325),
        r2=(0.106, 0.091, 0.187),
        U=1.4642969118523066e-05,
        F2=(-0.0000925366653381367208, 0.000118198343320972619, 0.0001934883632436844),
        T2=(6.92764678667900642e-6, 2.72275673337313e-05, -6.42139663769068515e-6),
        T1=(-6.80877560668458016e-7, 9.038619989477953e-6, -0.0000127453791036950579),
    ),
]
PINNED: list[Any] = [
    dict(
        x0=(0, 0, 0.02),
        m0=(0, 0, 0.8),
        x=(0, 0, 0.025),
        m=(0, 0, 0.8),
        U=-0.0008926639231824417,
        F=(0, 0, -0.0322042615454961134),
        T=(0, 0, 0),
    ),
    dict(
        x0=(0, 0, 0.02),
        m0=(0, 0, 0.8),
        x=(0.003, -0.001, 0.018),
        m=(0, 0, 0.8),
        U=-0.0009131186900353635,
        F=(-0.0283349009384574578, 0.00944496697948581928, 0.050725455472761712),
        T=(0.0000905052576397069869, 0.000271515772919120961, 0),
    ),
    dict(
        x0=(0, 0, 0.02),
        m0=(0, 0, 0.8),
        x=(0, 0, 0.02),
        m=(0.2, 0, 0.7745966692414834),
        U=-0.0009677416731037084,
        F=(0.01875, 0, 0.0000756245172218708381),
        T=(0, -0.000257938540862036437, 0),
    ),
]


def close(found: Any, known: Any) -> None:
    np.testing.assert_allclose(found, known, rtol=0.0, atol=2e-12 * np.abs(known).max() + 1e-18)


@pytest.mark.parametrize("case", PAIRS, ids=["first", "second", "third"])
def test_pairs_of_dipoles(case: Any) -> None:
    one, two = (
        qp.Body.sphere(name, 0.01, 1.0, position=case[r])
        for name, r in (("one", "r1"), ("two", "r2"))
    )
    magnets = [
        qp.Magnet(f"of {body.name}", body.site("s", z=m), float(np.linalg.norm(m)))
        for body, m in ((one, case["m1"]), (two, case["m2"]))
    ]
    loads = qp.Multibody(one, two, qp.Dipoles(magnets)).initial.instant().loads
    assert loads.potential[0] == pytest.approx(case["U"], rel=1e-12)
    close(loads.wrench[1, :3], case["F2"])
    close(loads.wrench[0, :3], -np.array(case["F2"]))
    close(loads.wrench[1, 3:], case["T2"])
    close(loads.wrench[0, 3:], case["T1"])


@pytest.mark.parametrize("case", PINNED, ids=["raised", "moved", "tilted"])
def test_pinned_dipole_over_a_plane(case: Any) -> None:
    size = float(np.linalg.norm(case["m"]))
    body = qp.Body.sphere("ball", 0.001, 1.0, position=case["x"])
    magnet = qp.Magnet("magnet", body.site("s", z=case["m"]), size)
    frozen = (((*case["x0"], *(np.array(case["m0"]) / size).tolist()),),)
    pinning = qp.FluxPinning(
        qp.Superconductor("cold", qp.GROUND.site("face")), magnet, frozen=frozen
    )
    loads = qp.Multibody(body, pinning).initial.instant().loads
    assert loads.potential.sum() == pytest.approx(case["U"], rel=1e-12)
    close(loads.wrench[0, :3], case["F"])
    close(loads.wrench[0, 3:], case["T"])


def test_two_magnets_in_line_attract_with_the_hand_calculated_force() -> None:
    """F = 6 (mu0 / 4 pi) m1 m2 / d^4 along their common axis."""
    one, two = (
        qp.Body.sphere("one", 0.01, 1.0),
        qp.Body.sphere("two", 0.01, 1.0, position=(0, 0, 0.2)),
    )
    pair = qp.Dipoles([qp.Magnet("a", one.site("s"), 5.7), qp.Magnet("b", two.site("s"), 3.0)])
    wrench = qp.Multibody(one, two, pair).initial.instant().loads.wrench
    np.testing.assert_allclose(wrench[1], (0, 0, -6e-7 * 5.7 * 3.0 / 0.2**4, 0, 0, 0), rtol=1e-14)


def test_earths_field_at_the_equator_and_above_the_pole() -> None:
    """0.3 G at the surface of the equator, pointing north, twice as much at the poles; torque m x
    B."""
    strength = 1e-7 * 7.8e22 / 6.4e6**3
    for place, field in (((6.4e6, 0, 0), (0, 0, strength)), ((0, 0, 6.4e6), (0, 0, -2 * strength))):
        body = qp.Body.sphere("cube", 0.1, 1.0, position=place)
        rod = qp.Electromagnet("rod", body.site("s"), (0.2, 0.1, 0.0))
        loads = qp.Multibody(body, qp.PlanetField(rod, (0, 0, -7.8e22))).initial.instant().loads
        np.testing.assert_allclose(
            loads.wrench[0, 3:], np.cross((0.2, 0.1, 0.0), field), rtol=1e-12, atol=1e-20
        )
        assert loads.potential[0] == pytest.approx(0.0, abs=1e-20)


def test_a_magnet_near_the_face_is_warned_of() -> None:
    """1.5 radii of a neodymium magnet 19.05 mm wide and long, 5.70 A m2, are 14.3 mm."""
    cold = qp.Superconductor("cold", qp.GROUND.site("face"))
    cases = ((0.0142, None, True), (0.0144, None, False), (0.02, 0.014, True), (0.02, 0.013, False))
    for height, radius, warned in cases:
        body = qp.Body.sphere("ball", 0.001, 1.0, position=(0, 0, height))
        magnet = qp.Magnet("magnet", body.site("s"), 5.7, radius=radius)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            qp.FluxPinning(cold, magnet)
        assert bool(told) == warned
        assert not told or (told[0].filename == __file__ and "1.5 radii" in str(told[0].message))
