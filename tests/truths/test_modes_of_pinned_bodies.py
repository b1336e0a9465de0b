"""Flux pinning as a joint: five stiff directions and the free spin about the magnet's axis, found
as neutral."""

from __future__ import annotations

import numpy as np
import pytest

import quirkpy as qp
from tests.truths.test_flux_pinning import CUBE, PINNING, at_the_magnet

LEVER = -0.05


def stiffnesses() -> np.ndarray:
    """Squares of the frequencies of the pinned cube, in closed form."""
    to_magnet = np.eye(6)
    to_magnet[:3, 3:] = ((0.0, LEVER, 0.0), (-LEVER, 0.0, 0.0), (0.0, 0.0, 0.0))
    mass = np.diag([1.3] * 3 + [1.3 * 0.01 / 6.0] * 3)
    return np.sort(
        np.linalg.eigvals(np.linalg.solve(mass, to_magnet.T @ at_the_magnet() @ to_magnet)).real
    )


def test_a_pinned_cube_has_five_stiff_directions_and_a_neutral_spin() -> None:
    found = qp.Multibody(CUBE, PINNING).settle()
    assert found.verdict == "stable"
    np.testing.assert_allclose(
        [m.frequency for m in found.modes], np.sqrt(stiffnesses()[1:]), rtol=1e-7
    )
    (spin,) = found.neutral
    assert spin.moving == ("cube turns",)
    np.testing.assert_allclose(spin.shape, [[0, 0, 0, 0, 0, 1]], atol=1e-7)
    assert not found.marginal


def pair(*fields: qp.Force, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> qp.Multibody:
    """The superconductor on a body of its own, nothing held; the magnet's axis along x."""
    base = qp.Body.box("base", (0.1, 0.1, 0.1), 1.3, velocity=velocity, position=(-0.065, 0, 0))
    top = qp.Body.box("top", (0.1, 0.1, 0.1), 1.3, velocity=velocity, position=(0.065, 0, 0))
    cold = qp.Superconductor("cold", base.site("face", at=(0.05, 0, 0), z=(1, 0, 0), x=(0, 1, 0)))
    magnet = qp.Magnet("magnet", top.site("below", at=(-0.05, 0, 0), z=(1, 0, 0), x=(0, 1, 0)), 5.7)
    return qp.Multibody(base, top, qp.FluxPinning(cold, magnet), *fields)


@pytest.mark.parametrize("velocity", [(0.0, 0.0, 0.0), (0.02, -0.3, 0.1)])
def test_a_free_pair_has_the_same_five_and_whole_motions_beside_the_spin(
    velocity: tuple[float, float, float],
) -> None:
    """Stretching along the axis: 0.75 C / z0^5 on the reduced mass; the drift of the pair is no
    motion beside it."""
    found = pair(velocity=velocity).settle()
    assert found.verdict == "stable"
    assert len(found.modes) == 5
    assert len(found.neutral) == 7
    stretch = np.sqrt(0.75e-7 * 5.7**2 / 0.03**5 / 0.65)
    assert min(abs(m.frequency - stretch) for m in found.modes) < 1e-7 * stretch
    spins = [m for m in found.neutral if abs(abs(m.shape[:, 3]) @ [1.0, 1.0]) > 0.5]
    assert len(spins) == 2  # both bodies together, and one against the other


def test_in_orbit_the_pair_hangs_along_the_radius_and_its_spin_is_neutral_or_weakly_held() -> None:
    """Cubes have three moments alike, so that nothing in the gradient sees the spin; it is neutral
    there as well."""
    found = pair(qp.HillFrame(1.1e-3)).settle(nudge=0.0)
    assert found.verdict == "stable"
    assert any(abs(m.shape[0, 3] - m.shape[1, 3]) > 0.5 for m in found.neutral)
    slow = [m for m in found.modes if m.frequency < 0.1]
    assert all(0.5e-3 < m.frequency < 4e-3 for m in slow)
