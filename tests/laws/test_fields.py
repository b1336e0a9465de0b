"""Fields, magnets and bushings keep what physics keeps, also where locks make one body of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.tables import compile
from tests.assemblies import kept_apart, moving
from tests.contracts.catalogue import ARM, CHARGES, COUPLED, EAST, HUB, MAGNETS, WEST
from tests.motion import TIGHT
from tests.random_systems import seeds

COIL = qp.Electromagnet("coil", EAST, qp.Schedule((0, 1), ((9, 0, 0), (0, 900, 0)), "linear"))
INTERNAL: tuple[qp.Force, ...] = (
    qp.Coulomb(CHARGES, debye_length=0.5),
    qp.Coulomb(CHARGES, name="vacuum"),
    qp.Dipoles(MAGNETS),
    qp.Bushing("bushing", EAST, WEST, stiffness=COUPLED),
)
internal = pytest.mark.parametrize("force", INTERNAL, ids=lambda force: force.name)


@internal
def test_energy_and_both_momenta_are_kept(force: qp.Force) -> None:
    run = qp.Multibody(HUB, ARM, force).simulate(0.5, **TIGHT)
    assert np.ptp(run.energy) < 1e-9 * max(1.0, run.kinetic.max())
    assert np.ptp(run.kinetic) > 1e-3
    assert np.ptp(run.momentum, axis=0).max() < 1e-12 * max(1.0, abs(run.momentum).max())
    assert np.ptp(run.angular_momentum, axis=0).max() < 1e-11 * max(
        1.0, abs(run.angular_momentum).max()
    )


def test_what_a_bushing_takes_is_dissipated() -> None:
    bushing = qp.Bushing(
        "bushing", HUB, ARM, at=(0.0, 0.1, 0.3), stiffness=COUPLED, damping=0.05 * COUPLED
    )
    run = qp.Multibody(HUB, ARM, bushing).simulate(2.0, **TIGHT)
    assert (np.diff(run.dissipated) > 0.0).all()
    np.testing.assert_allclose(run.energy + run.dissipated, run.energy[0], rtol=0.0, atol=1e-9)


def test_a_bushing_of_bodies_is_at_rest_as_they_were_written() -> None:
    at_rest = qp.Bushing("bushing", HUB, ARM, at=(0.0, 0.1, 0.3), stiffness=(1e3,) * 6)
    np.testing.assert_allclose(
        qp.Multibody(HUB, ARM, at_rest).initial.instant().loads.wrench, 0.0, atol=1e-12
    )


def test_scheduled_charges_do_work() -> None:
    """Their force is that of the charges of the moment; what they do counts as work, also where one
    is constant."""
    bodies = (
        qp.Body.sphere("one", 0.1, 1.0),
        qp.Body.sphere("two", 0.1, 1.0, position=(0.0, 0.3, 0.0)),
    )
    sites = [body.site("s") for body in bodies]
    ramp = qp.Schedule((0.0, 1.0), (2e-6, 6e-6), "linear")

    def system(charge: Any) -> qp.Multibody:
        return qp.Multibody(
            *bodies, qp.Coulomb([qp.Charge("a", sites[0], charge), qp.Charge("b", sites[1], 3e-6)])
        )

    for t, charge in ((0.0, 2e-6), (0.5, 4e-6), (2.0, 6e-6)):
        moving, still = (
            s.initial.replace(t=t).instant(s.selection).loads for s in map(system, (ramp, charge))
        )
        np.testing.assert_allclose(moving.wrench, still.wrench, rtol=1e-14)
        assert moving.potential.tolist() == [0.0]
    run = system(ramp).simulate(0.5, **TIGHT)
    np.testing.assert_allclose(run.energy - run.work, run.energy[0], rtol=0.0, atol=1e-10)
    assert run.work[-1] > 1e-2
    copy = qp.from_json(qp.to_json(system(ramp)))
    np.testing.assert_array_equal(copy.acceleration(), system(ramp).acceleration())


def test_debye_shielding() -> None:
    """F = k q1 q2/d^2 exp(-d/l) (1 + d/l), along the line."""
    one, two = (
        qp.Body.sphere("one", 0.1, 1.0),
        qp.Body.sphere("two", 0.1, 1.0, position=(0.0, 0.3, 0.0)),
    )
    some = [qp.Charge("a", one.site("s"), 2e-6), qp.Charge("b", two.site("s"), 3e-6)]
    for length, factor in ((None, 1.0), (0.2, np.exp(-1.5) * 2.5)):
        force = (
            qp.Multibody(one, two, qp.Coulomb(some, debye_length=length))
            .initial.instant()
            .loads.wrench[1, :3]
        )
        np.testing.assert_allclose(
            force, (0, 8.9875517923e9 * 6e-12 / 0.09 * factor, 0), rtol=1e-13
        )


@pytest.mark.parametrize(
    "force",
    [
        qp.Dipoles((MAGNETS[1], COIL)),
        qp.PlanetField(MAGNETS, (1e5, 2e5, -3e5), orbit=qp.Orbit.circular(5.0, 4.0)),
        qp.GravityGradient(qp.Orbit.circular(5.0, 4.0)),
        qp.Thruster("jet", EAST, (1.0, 2.0, 3.0)),
    ],
    ids=lambda force: type(force).__name__,
)  # fmt: skip
def test_what_has_no_potential_counts_as_work(force: qp.Force) -> None:
    run = qp.Multibody(HUB, ARM, force).simulate(0.8, **TIGHT)
    assert not run.potential.any()
    np.testing.assert_allclose(run.kinetic - run.kinetic[0], run.work, rtol=0.0, atol=1e-9)
    assert abs(run.work[-1]) > 1e-4


def test_a_constant_electromagnet_is_a_magnet() -> None:
    magnet, coil = (
        qp.Magnet("m", EAST, 300.0),
        qp.Electromagnet("m", EAST, 300.0, holding_power=4.0),
    )
    one, two = (
        qp.Multibody(HUB, ARM, qp.Dipoles((MAGNETS[1], m))).simulate(0.2).final
        for m in (magnet, coil)
    )
    np.testing.assert_array_equal(one.r, two.r)


# --- a potential of one's own ---------------------------------------------------------------------
def bowl(at: qp.MotionView) -> float:
    """U = 3 |r|^2 of the arm, and something that turns it."""
    arm = at[ARM]
    return float(3.0 * arm.position @ arm.position + 0.5 * arm.axes[0, 2])


def bowl_wrenches(at: qp.MotionView) -> dict[qp.Body, qp.Wrench]:
    arm = at[ARM]
    return {ARM: qp.Wrench(-6.0 * arm.position, -0.5 * np.cross(arm.axes[:, 2], (1.0, 0.0, 0.0)))}


def test_a_potential_gives_its_load_by_itself_or_as_written() -> None:
    derived, written = (
        qp.Potential("bowl", bowl),
        qp.Potential("bowl", bowl, wrenches=bowl_wrenches),
    )
    one, two = (
        qp.Multibody(HUB, ARM, force).initial.instant().loads for force in (derived, written)
    )
    np.testing.assert_allclose(one.wrench, two.wrench, rtol=0.0, atol=1e-9)
    assert (
        one.potential
        == two.potential
        == pytest.approx(bowl(qp.Multibody(ARM).initial.instant().view))
    )
    runs = [qp.Multibody(HUB, ARM, force).simulate(0.5, **TIGHT) for force in (derived, written)]
    np.testing.assert_allclose(runs[0].final.r, runs[1].final.r, rtol=0.0, atol=1e-8)
    assert max(np.ptp(run.energy) for run in runs) < 1e-9
    assert not any(run.work.any() for run in runs)


# --- clusters -------------------------------------------------------------------------------------
def block(*more: qp.Part, grounded: bool = False) -> qp.Multibody:
    """Three cubes, two of them locked, one hinged; off the origin and tumbling."""
    rng, cubes = np.random.default_rng(3), []
    for k in range(3):
        cubes.append(
            qp.Body.box(
                f"cube {k}",
                (0.1, 0.2, 0.3),
                1.0 + k,
                position=(0.3 + 0.2 * k, 0.1 * k, -0.2),
                orientation=qp.rotation(rng.normal(size=3), 1.0 + k),
            )
        )
    parts: list[qp.Part] = [*cubes, qp.Fixed("lock", cubes[0], cubes[1])]
    parts += [qp.Revolute("hinge", cubes[1], cubes[2], at=(0.6, 0.1, -0.2), axis=(0, 1, 1))]
    parts += [qp.Fixed("bolt", qp.GROUND, cubes[0])] if grounded else []
    return qp.Multibody(*parts, *more)


def test_a_cluster_in_the_hill_frame_moves_as_its_members() -> None:
    """The frame's loads are linear in position, so those on the whole are the sum of those on the
    parts."""
    system = block(qp.HillFrame(0.8))
    assert moving(system) == 2
    run, known = (one.simulate(2.0, **TIGHT) for one in (system, kept_apart(system)))
    np.testing.assert_allclose(run.final.r, known.final.r, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.final.omega, known.final.omega, rtol=0.0, atol=1e-9)
    for one in (run, known):
        assert np.ptp(one.energy) < 1e-9
    np.testing.assert_allclose(run.energy[0], known.energy[0], rtol=1e-12)


def test_sites_in_a_cluster_carry_their_magnets_wheels_and_jets() -> None:
    cubes: Any = [block()[f"cube {k}"] for k in range(3)]
    magnets = [
        qp.Magnet(f"m{k}", cubes[k].site("s", at=(0.1, 0, 0.05), z=(1, k, 0)), 300.0 + k)
        for k in (1, 2)
    ]
    cold = qp.Superconductor("cold", cubes[1].site("face", z=cubes[1].matrix.T @ (1.0, 0.0, 0.0)))
    forces = (
        qp.Dipoles(magnets),
        qp.FluxPinning(cold, magnets),
        qp.Thruster("jet", cubes[1].site("n", z=(1, 2, 0)), 2.0),
        qp.ReactionWheel("wheel", cubes[1].site("w", z=(0, 1, 0)), 0.3),
        qp.Bushing(
            "pad",
            cubes[1],
            cubes[2],
            at=(0.6, 0.1, -0.2),
            stiffness=COUPLED,
            damping=0.01 * COUPLED,
        ),
        qp.PlanetField(magnets, (1e6, 0.0, 0.0), centre=(1.0, 2.0, 9.0)),
    )
    system = block(*forces)
    assert moving(system) == 2
    run, known = (one.simulate(0.3, **TIGHT) for one in (system, kept_apart(system)))
    np.testing.assert_allclose(run.final.r, known.final.r, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(
        run.energy, run.energy[0] + run.work - run.dissipated, rtol=0.0, atol=1e-8
    )


def test_bodies_stay_apart_where_a_field_does_not_add_up() -> None:
    assert moving(block(qp.PointGravity(5.0, (9.0, 0.0, 0.0)))) == 3
    assert moving(block(qp.GravityGradient(qp.Orbit.circular(5.0, 9.0)))) == 3
    assert moving(block(qp.HillFrame(0.3), grounded=True)) == 3
    assert moving(block(grounded=True)) == 1


def test_frames_that_count_a_planet_twice_are_refused_in_any_selection() -> None:
    hill, gradient = qp.HillFrame(0.3), qp.GravityGradient(qp.Orbit.circular(5.0, 9.0))
    system = qp.Multibody(HUB, ARM, hill, candidates=[gradient])
    for forces in (["hill frame", "gravity gradient"], None):
        with pytest.raises(
            qp.PartError, match=r"HillFrame 'hill frame'.*GravityGradient 'gravity gradient'.*one"
        ):
            system.tables.select(forces=forces)
    assert system.tables.select(forces=["gravity gradient"]).elements.tolist() == [1]
    with pytest.raises(qp.PartError, match="planet's pull"):
        qp.Multibody(HUB, gradient, qp.PointGravity(1.0))
    qp.Multibody(HUB, qp.PointGravity(1.0), qp.PointGravity(2.0, (5, 5, 5), name="moon"))


@seeds(6, 2)
def test_parameters_write_the_numbers_of_every_field_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, k, rate = rng.uniform(1.0, 2.0, 3).tolist()
    for force, changes in (
        (qp.Coulomb(CHARGES), {"debye_length": q}),
        (qp.HillFrame(0.4), {"rate": rate}),
        (qp.Bushing("bushing", EAST, WEST, stiffness=COUPLED), {"stiffness": k * COUPLED}),
        (
            qp.Dipoles(MAGNETS),
            {"magnets": [qp.Magnet(m.name, m.site, k * m.moment) for m in MAGNETS]},
        ),
    ):
        tables = compile((HUB, ARM, force))
        changed = compile((HUB, ARM, type(force)(**{**vars_of(force), **changes})))
        rewritten = tables.select(parameters={force.name: changes}).tables
        np.testing.assert_array_equal(rewritten.element_numbers, changed.element_numbers)


def vars_of(force: Any) -> dict[str, Any]:
    """The fields of a part."""
    return dict(force.__getstate__())


# --- evaluators -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "frame", [qp.HillFrame(0.8), qp.Gravity((0.3, -0.2, -0.8))], ids=["turning", "inertial"]
)
def test_evaluators_agree_in_every_field(frame: qp.Force) -> None:
    """Spin and Coriolis terms included: the printed equation, null space and recursion, with a
    loop; wheels store momentum where N does not turn."""
    system: Any = block(frame)
    cubes = [system[f"cube {k}"] for k in range(3)]
    magnets = [qp.Magnet(f"m{k}", cubes[k].site("s", at=(0.1, 0, 0.05)), 300.0 + k) for k in (1, 2)]
    bar = qp.Distance("bar", cubes[0], cubes[2], at1=(0.2, 0.3, 0.1), at2=(0.9, 0.4, 0.2))
    fields = qp.Dipoles(magnets), qp.PlanetField(magnets, (1e6, 0.0, 0.0), centre=(1.0, 2.0, 9.0))
    wheel = qp.ReactionWheel("wheel", cubes[2].site("w", z=(0, 1, 0)), 0.3)
    acting = [bar, *fields] if isinstance(frame, qp.HillFrame) else [bar, *fields, wheel]
    moving_on = system.with_(*acting).simulate(0.2, **TIGHT).final
    whole = system.with_(*acting).at(moving_on)
    known = whole.acceleration(evaluator="recursive")
    for evaluator in ("dense", "literal"):
        np.testing.assert_allclose(
            whole.acceleration(evaluator=evaluator), known, rtol=0.0, atol=1e-8
        )
