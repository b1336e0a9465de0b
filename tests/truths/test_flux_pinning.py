"""A magnet pinned over a superconductor, against what the images say in closed form (Kordyuk 1998).

C = mu0 m^2 / (4 pi), height z0; a dipole along the normal: k_normal 0.75 C/z0^5, k_lateral 0.375
C/z0^5, k_tilt C/(8 z0^3), lateral motion and tilt coupled by 0.1875 C/z0^4, spin free."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import least_squares

import quirkpy as qp
from quirkpy.maths.types import Floats
from tests.motion import TIGHT

MOMENT, HEIGHT = 5.7, 0.03
C = 1e-7 * MOMENT**2
#: A cube whose magnet sits in its lower face.
CUBE = qp.Body.box("cube", (0.1, 0.1, 0.1), mass=1.3, position=(0.0, 0.0, HEIGHT + 0.05))
MAGNET = qp.Magnet("magnet", CUBE.site("below", at=(0.0, 0.0, -0.05)), MOMENT)
COLD = qp.Superconductor("cold", qp.GROUND.site("face"))
PINNING = qp.FluxPinning(COLD, MAGNET)


def at_the_magnet() -> Floats:
    """The closed form, over displacement and turn of the magnet."""
    k = C / HEIGHT**5
    out = np.diag(
        [0.375 * k, 0.375 * k, 0.75 * k, C / (8.0 * HEIGHT**3), C / (8.0 * HEIGHT**3), 0.0]
    )
    coupled = 0.1875 * C / HEIGHT**4
    out[0, 4] = out[4, 0] = -coupled
    out[1, 3] = out[3, 1] = coupled
    return out


def accelerations_over_pose(system: qp.Multibody, h: float = 1e-6) -> Floats:
    """Derivative of the accelerations of one body over its position and a small turn (6, 6)."""
    name, out = system.bodies[0], np.empty((6, 6))
    rest = system.initial[name]
    for k in range(6):
        ends = []
        for step in (-2 * h, -h, h, 2 * h):
            change: dict[str, Any] = {}
            if k < 3:
                change["position"] = rest.position + step * np.eye(3)[k]
            else:
                change["orientation"] = qp.rotation(np.eye(3)[k - 3], step) * rest.orientation
            ends.append(system.acceleration(system.initial.replace({name: change}))[0])
        out[:, k] = (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12.0 * h)
    return out


def at_the_centre() -> tuple[Floats, Floats]:
    """Mass and stiffness of the cube, both about its mass centre: that of the magnet carried
    over."""
    to_magnet = np.eye(6)
    x, y, z = 0.0, 0.0, -0.05
    to_magnet[:3, 3:] = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))
    mass = np.diag([1.3] * 3 + [1.3 * 0.01 / 6.0] * 3)
    return mass, to_magnet.T @ at_the_magnet() @ to_magnet


def test_six_frequencies_of_a_pinned_cube() -> None:
    """Eigenvalues of M^-1 K with K carried from the magnet to the mass centre, lateral-tilt
    coupling included."""
    mass, stiffness = at_the_centre()
    known = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    found = np.sort(np.linalg.eigvals(-accelerations_over_pose(qp.Multibody(CUBE, PINNING))).real)
    np.testing.assert_allclose(found, known, rtol=1e-7, atol=1e-6)
    assert known[0] == pytest.approx(0.0, abs=1e-9)  # the spin
    diagonal = 0.75 * C / HEIGHT**5 / 1.3
    assert min(abs(known - diagonal)) < 1e-9 * diagonal
    uncoupled = np.sort(np.diag(np.linalg.solve(mass, stiffness)))
    assert abs(known - uncoupled).max() > 0.1 * known.max()


def rotation_vector(q: Any) -> Floats:
    """Of a small turn."""
    sine = float(np.linalg.norm(q.vec))
    return np.asarray(2.0 * math.asin(sine) / sine * q.vec if sine > 0.0 else q.vec)


@pytest.mark.parametrize("mode", range(6))
def test_a_pinned_cube_rings_at_its_six_frequencies(mode: int) -> None:
    """Struck in the shape of a mode it rings in that mode alone, for a hundred periods; the spin
    goes on for ever.  The frequency is read from the motion: that of the sine which fits it
    best."""
    mass, stiffness = at_the_centre()
    squares, shapes = eigh(stiffness, mass)  # shapes.T @ mass @ shapes = 1
    known, shape, small = math.sqrt(max(0.0, squares[mode])), shapes[:, mode], 2e-6
    system = qp.Multibody(CUBE, PINNING)
    struck: Any = {"cube": dict(velocity=small * shape[:3], angular_velocity=small * shape[3:])}
    span = 100.0 * 2.0 * math.pi / known if known > 1e-3 else 30.0
    run = system.at(system.initial.replace(struck)).simulate(span, **TIGHT | {"atol": 1e-15})
    turns = [rotation_vector(q) for q in run["cube"].orientation]
    pose = np.hstack([run["cube"].position - CUBE.position, turns])
    modes = pose @ mass @ shapes / small
    rest = np.delete(modes, mode, axis=1)
    if known < 1e-3:
        assert mode == 0
        np.testing.assert_allclose(modes[:, 0], run.t, rtol=1e-6, atol=1e-9)
    else:
        fit = least_squares(lambda x: x[0] * np.sin(x[1] * run.t) - modes[:, mode], (1.0 / known,
        known), x_scale="jac",
                            xtol=1e-15, ftol=1e-15, gtol=1e-15)  # fmt: skip
        assert fit.x[1] == pytest.approx(known, rel=1e-7)
        assert abs(fit.fun).max() < 1e-4 / known
    assert abs(rest).max() < 1e-3 * abs(modes[:, mode]).max()


def test_linearized_is_the_closed_form() -> None:
    np.testing.assert_allclose(
        PINNING.linearized("spring").stiffness, at_the_magnet(), rtol=1e-13, atol=1e-13
    )


def test_linearized_of_a_dipole_in_the_plane() -> None:
    """Along x: k_n .375, k_x .28125, k_y .09375 (C/z0^5); about y .25, about n .125 (C/z0^3); its
    own axis free."""
    magnet = qp.Magnet("magnet", CUBE.site("below", at=(0.0, 0.0, -0.05), z=(1, 0, 0)), MOMENT)
    found = np.diag(qp.FluxPinning(COLD, magnet).linearized("spring").stiffness)
    linear, angular = C / HEIGHT**5, C / HEIGHT**3
    known = [
        0.28125 * linear,
        0.09375 * linear,
        0.375 * linear,
        0.0,
        0.25 * angular,
        0.125 * angular,
    ]
    np.testing.assert_allclose(found, known, rtol=1e-13, atol=1e-12)


def test_stiffness_of_a_common_magnet() -> None:
    """A neodymium cylinder 19.05 mm wide and long: 762 N/m at 20 mm, 100 at 30, 7.8 at 50."""
    for height, stiffness in ((0.02, 762.0), (0.03, 100.0), (0.05, 7.8)):
        ball = qp.Body.sphere("ball", 0.01, 1.0, position=(0, 0, height))
        spring = qp.FluxPinning(COLD, qp.Magnet("m", ball.site("s"), 5.70)).linearized("spring")
        assert spring.stiffness[2][2] == pytest.approx(stiffness, rel=5e-3)


def test_the_linear_spring_moves_as_the_images_do() -> None:
    spring = PINNING.linearized("spring", damping=0.0)
    push: Any = {"cube": dict(velocity=(2e-5, -1e-5, 3e-5), angular_velocity=(1e-4, 2e-4, 1e-4))}
    runs = []
    for force in (PINNING, spring):
        system = qp.Multibody(CUBE, force)
        runs.append(system.at(system.initial.replace(push)).simulate(2.0, **TIGHT).final)
    np.testing.assert_allclose(runs[0].r, runs[1].r, rtol=0.0, atol=3e-8)
    assert abs(runs[0].r - CUBE.position).max() > 1e-6


def test_modal_damping_is_that_share_of_critical_in_every_mode() -> None:
    system = qp.Multibody(CUBE, PINNING.linearized("spring", damping=0.05))
    stiff = accelerations_over_pose(system)
    drag = np.empty((6, 6))
    for k in range(6):
        rates = np.eye(6)[k]
        state = system.initial.replace(
            {"cube": dict(velocity=rates[:3], angular_velocity=rates[3:])}
        )
        drag[:, k] = system.acceleration(state)[0]
    motion = np.block([[np.zeros((6, 6)), np.eye(6)], [stiff, drag]])
    roots = np.linalg.eigvals(motion)
    moving = roots[abs(roots) > 1e-2]
    assert len(moving) == 10
    np.testing.assert_allclose(-moving.real / abs(moving), 0.05, rtol=1e-6)


def test_spin_about_the_magnets_axis_is_free() -> None:
    """The flux-pinned hinge: a spinning cube goes on spinning, whatever else it does."""
    system = qp.Multibody(CUBE, PINNING)
    run = system.at(
        system.initial.replace({"cube": dict(angular_velocity=(0.0, 0.0, 3.0))})
    ).simulate(5.0, **TIGHT)
    np.testing.assert_allclose(run["cube"].angular_velocity[-1], (0, 0, 3.0), atol=1e-12)
    np.testing.assert_allclose(run["cube"].position[-1], CUBE.position, atol=1e-12)


def field(moment: Any, place: Any, at: Any) -> Floats:
    """B of a dipole."""
    d = np.subtract(at, place)
    r = np.linalg.norm(d)
    return np.asarray(1e-7 * (3.0 * d * (d @ moment) / r**5 - np.array(moment) / r**3))


def test_normal_field_on_the_face_stays_what_it_was_at_cooling() -> None:
    """What defines the images: magnet, mobile and frozen image together, anywhere on the face."""
    mirror = np.array([1.0, 1.0, -1.0])
    element = PINNING.elements()[0]
    image, moment = np.array(element.numbers[3:6]), np.array(element.numbers[6:9])
    x, m = np.array([0.004, -0.002, 0.034]), qp.rotation((1, 2, 0), 0.3)
    m = MOMENT * np.array(
        [
            2 * (m.x * m.z + m.w * m.y),
            2 * (m.y * m.z - m.w * m.x),
            m.w**2 - m.x**2 - m.y**2 + m.z**2,
        ]
    )
    for at in ((0.0, 0.0, 0.0), (0.01, -0.02, 0.0), (0.05, 0.03, 0.0)):
        now = field(m, x, at) + field(mirror * m, mirror * x, at) + field(moment, image, at)
        assert now[2] == pytest.approx(field((0, 0, MOMENT), (0, 0, HEIGHT), at)[2], rel=1e-12)


def free_pair(magnets: int = 2) -> qp.Multibody:
    """Two free bodies: superconductors on one, magnets on the other, turned and off every
    centre."""
    base = qp.Body.box(
        "base",
        (0.1, 0.1, 0.1),
        1.0,
        position=(0.2, 0.1, 0.0),
        orientation=qp.rotation((1, 2, 3), 0.4),
    )
    top = qp.Body.box(
        "top", (0.1, 0.1, 0.1), 1.2, position=base.position + 0.14 * base.matrix[:, 2],
        orientation=qp.rotation((1, 2, 3), 0.4), velocity=(0.01, 0.02, -0.01),
        angular_velocity=(0.1, -0.2, 0.1),
    )  # fmt: skip
    colds = [
        qp.Superconductor(f"cold {k}", base.site(f"f{k}", at=(0.02 * k, 0, 0.05), x=(1, 1, 0)))
        for k in range(2)
    ]
    some = [
        qp.Magnet(
            f"magnet {k}",
            top.site(f"m{k}", at=(0.03 * k, 0.01, -0.05), z=(0.2 * k, 0, 1 - 2 * k)),
            5.0,
        )
        for k in range(magnets)
    ]
    return qp.Multibody(base, top, qp.FluxPinning(colds, some, warm=("cold 1",)))


def test_both_momenta_and_energy_of_a_free_pair_are_kept() -> None:
    run = free_pair().simulate(3.0, **TIGHT)
    assert np.ptp(run.momentum, axis=0).max() < 1e-14
    assert np.ptp(run.angular_momentum, axis=0).max() < 1e-13
    assert np.ptp(run.energy) < 1e-10 * run.kinetic.max()
    assert np.ptp(run.kinetic) > 0.1 * run.kinetic.max()


def test_a_pinning_pair_is_at_rest_where_it_was_cooled() -> None:
    pair = free_pair()
    np.testing.assert_allclose(pair.initial.instant().loads.wrench, 0.0, atol=1e-14)


def test_a_magnet_on_the_superconductors_own_body_changes_nothing() -> None:
    """It never moves over the face, and its two images cancel each other for the other magnets."""
    pair: Any = free_pair()
    own = qp.Magnet("own", pair["base"].site("own", at=(0.0, 0.02, 0.09), z=(1, 0, 1)), 7.0)
    force = pair["flux pinning"]
    more = pair.without(force.name).with_(
        qp.FluxPinning(force.superconductors, [*force.magnets, own], warm=force.warm)
    )
    one, two = (system.simulate(0.3, **TIGHT).final for system in (pair, more))
    np.testing.assert_array_equal(one.r, two.r)


def test_cooling_again_and_warming_are_data_of_a_selection() -> None:
    pair: Any = free_pair()
    pinning, state = pair["flux pinning"], pair.simulate(0.4).final
    assert abs(state.instant().loads.wrench).max() > 1e-3

    def loads(parameters: Any) -> Any:
        return state.instant(pair.tables.select(parameters={pinning.name: parameters})).loads

    frozen = pinning.freezing(state)
    assert frozen["warm"] == ()
    np.testing.assert_allclose(loads(frozen).wrench, 0.0, atol=1e-13)
    assert loads(frozen).potential.sum() != 0.0
    assert not loads(pinning.warming()).wrench.any()
    assert loads(pinning.warming()).potential.tolist() == [0.0] * 8
    one = pinning.freezing(state, "cold 1")
    assert one["frozen"][0] == pinning.freezing(pair.initial)["frozen"][0]
    # the other goes on as it was; the one just cooled does nothing yet
    np.testing.assert_allclose(loads(one).wrench, state.instant().loads.wrench, atol=1e-13)
    refrozen = (
        pair.without(pinning.name)
        .at(state)
        .with_(qp.FluxPinning(pinning.superconductors, pinning.magnets, **frozen))
    )
    assert qp.from_json(qp.to_json(refrozen)) == refrozen
    again = refrozen["flux pinning"].linearized("spring", damping=0.0, state=state)
    system = refrozen.without(pinning.name).with_(again)
    np.testing.assert_allclose(system.initial.instant().loads.wrench, 0.0, atol=1e-12)


def test_a_ringing_pair_goes_round_the_earth_within_seconds() -> None:
    """Two cubes pinned at 30 mm ring at hertz while the field of the orbit takes hours: 6 of its 95
    minutes."""
    rate, along = 1.10678e-3, (0.0, 1.0, 0.0)
    one = qp.Body.box(
        "one", (0.1,) * 3, 1.0, position=(0.0, -0.065, 0.0), angular_velocity=(1e-4, 2e-4, -3e-4)
    )
    two = qp.Body.box(
        "two", (0.1,) * 3, 1.0, position=(0.0, 0.065, 0.0), velocity=(1e-3, -5e-4, 2e-4)
    )
    cold = qp.Superconductor("cold", one.site("face", at=(0, 0.05, 0), z=along))
    magnet = qp.Magnet("magnet", two.site("inner", at=(0, -0.05, 0), z=along), MOMENT)
    run = qp.Multibody(one, two, qp.HillFrame(rate), qp.FluxPinning(cold, magnet)).simulate(
        360.0, keep=20
    )
    assert np.ptp(run.energy) < 1e-4 * run.kinetic.max()
    assert (
        abs(np.linalg.norm(run["two"].position - run["one"].position, axis=1) - 0.13).max() < 5e-3
    )
    assert run.counts.steps > 1000
