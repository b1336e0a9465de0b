"""One module knows how a site moves, and what a load or a row at one does to its body
(`quirkpy/kernels/place/sites.py`); everybody else asks it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import pytest

import quirkpy
import quirkpy as qp
from quirkpy.kernels.base.arrays import (
    AXES,
    FRAME_WIDTH,
    POSITION,
    SPIN,
    VELOCITY,
    Sites,
    Vec,
)
from quirkpy.kernels.base.states import OMEGA, STATE_WIDTH, Q, R, V
from quirkpy.kernels.place.kinematics import frames_of, sites_along
from quirkpy.kernels.place.sites import (
    act_at,
    add_act_at,
    add_turn_at,
    join_to_site,
    load_at,
    load_point,
    power_at,
    site_motion,
    turn_at,
)
from quirkpy.maths.types import Floats
from tests.contracts.catalogue import ARM, EAST, HUB

PACKAGE = Path(quirkpy.__file__).parent
SOURCES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
OWN = "kernels/place/sites.py"
#: Modules that use where sites lie on their bodies: those that make, vary or draw them.
WRITERS = {"kernels/users/packing.py", "explore/run/variations.py", "views/report.py"}


def nodes(name: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(SOURCES[name].read_text(encoding="utf-8")))


def word(node: ast.AST) -> str:
    """The last name of an expression, such as place for model.sites.place."""
    return getattr(node, "id", getattr(node, "attr", ""))


def called(name: str, functions: set[str], first: str) -> int:
    """How often a module calls one of some functions with an array of that name."""
    return sum(
        isinstance(node, ast.Call)
        and word(node.func) in functions
        and bool(node.args)
        and word(node.args[0]) == first
        for node in nodes(name)
    )


def those_who(reads: dict[str, bool]) -> set[str]:
    return {name for name, does in reads.items() if does}


# --- who knows ------------------------------------------------------------------------------------
def test_one_module_reads_where_sites_lie_on_their_bodies() -> None:
    def reads(name: str) -> bool:
        columns = any(
            isinstance(node, ast.alias) and node.name in ("PLACE_POINT", "PLACE_AXES")
            for node in nodes(name)
        )
        taken = any(
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "place"
            and word(node.value.value) == "sites"
            for node in nodes(name)
        )
        return columns or taken

    assert those_who({name: reads(name) for name in SOURCES}) == {OWN}


def test_others_do_not_read_the_tables_of_sites() -> None:
    def reads(name: str) -> bool:
        return any(
            isinstance(node, ast.Attribute) and node.attr in ("site_point", "site_axes")
            for node in nodes(name)
        )

    found = those_who({name: reads(name) for name in SOURCES})
    assert {name for name in found if not name.startswith("tables/")} == WRITERS


def test_one_module_turns_offsets_into_n() -> None:
    """Of steps.py and ledger.py these are spins of bodies and their rates."""
    found = those_who({name: called(name, {"turn"}, "frames") > 0 for name in SOURCES})
    assert found == {OWN, "kernels/step/ledger.py", "kernels/step/steps.py"}


def test_one_module_adds_loads_at_sites_to_bodies() -> None:
    """Beside what acts on masses, and at no site."""
    adding = {"add3", "put3"}
    found = those_who({name: called(name, adding, "wrench") > 0 for name in SOURCES})
    assert found == {OWN, "kernels/act/wrenches.py"}
    assert those_who({name: called(name, adding, "rows") > 0 for name in SOURCES}) == {OWN}


def test_arms_are_read_by_the_tree_alone() -> None:
    def reads(name: str) -> bool:
        return any(isinstance(node, ast.Attribute) and node.attr == "arm" for node in nodes(name))

    found = those_who({name: reads(name) for name in SOURCES if name.startswith("kernels/")})
    assert found == {OWN, "kernels/tree/recursion.py"}


# --- that it is right -----------------------------------------------------------------------------
def drawn(seed: int) -> tuple[np.random.Generator, Floats, Sites]:
    """States of three bodies that move as they like, and sites on all of them and on the ground."""
    draw = np.random.default_rng(seed)
    y = draw.uniform(-1.0, 1.0, (3, STATE_WIDTH))
    y[:, Q:V] /= np.linalg.norm(y[:, Q:V], axis=1)[:, None]
    axes = [np.linalg.qr(draw.standard_normal((3, 3)))[0].reshape(9) for _ in range(8)]
    place = np.concatenate([draw.uniform(-1.0, 1.0, (8, 3)), np.array(axes)], axis=1)
    return draw, y, Sites(np.arange(8) % 4, place)


def later(y: Floats, h: float) -> Floats:
    """Each body moved on at its velocities, for a short time."""
    out = y.copy()
    out[:, R:Q] += h * y[:, V:OMEGA]
    w, v, omega = y[:, Q : Q + 1], y[:, Q + 1 : V], y[:, OMEGA:]
    out[:, Q : Q + 1] -= 0.5 * h * (v * omega).sum(axis=1, keepdims=True)
    out[:, Q + 1 : V] += 0.5 * h * (w * omega + np.cross(v, omega))
    out[:, Q:V] /= np.linalg.norm(out[:, Q:V], axis=1)[:, None]
    return out


@pytest.mark.parametrize("seed", range(6))
def test_velocities_are_how_places_change(seed: int) -> None:
    _, y, sites = drawn(seed)
    which, h = np.arange(8)[::-1].copy(), 1e-5
    states = np.array([later(y, s * h) for s in (0.0, -1.0, 1.0)])
    at, before, after = sites_along(states, which, sites)
    rate = (after - before) / (2.0 * h)
    np.testing.assert_allclose(
        at[:, VELOCITY:AXES], rate[:, POSITION:VELOCITY], rtol=0.0, atol=1e-8
    )
    spun = np.cross(
        at[:, SPIN:, None], at[:, AXES:SPIN].reshape(8, 3, 3), axisa=1, axisb=1, axisc=1
    )
    np.testing.assert_allclose(spun, rate[:, AXES:SPIN].reshape(8, 3, 3), rtol=0.0, atol=1e-8)
    ground = sites.body[which] == 3
    np.testing.assert_array_equal(at[ground, POSITION:VELOCITY], sites.place[which[ground], :3])
    assert not at[ground, VELOCITY:AXES].any()


@numba.njit
def act(
    site: int, x: Vec, f: Vec, torque: Vec, sites: Sites, frames: Floats, wrench: Floats,
    rows: Floats,
) -> tuple[Vec, Vec, float]:  # fmt: skip
    """A load at a point carried by a site, and rows that pull and turn it in the same way; returns
    velocity and spin of the point, and the power."""
    at = join_to_site(site_motion(site, sites, frames), x, frames)
    load_at(at, f, torque, wrench)
    act_at(at, f, rows, 0, 0)
    turn_at(at, torque, rows, 1, 0)
    add_act_at(at, 3.0, f, rows, 2, 0)
    add_turn_at(at, -2.0, torque, rows, 2, 0)
    return at.velocity, at.spin, power_at(at, f, torque)


@pytest.mark.parametrize("seed", range(6))
def test_loads_and_rows_do_to_bodies_what_they_do_at_sites(seed: int) -> None:
    """Virtual power: what acts at a site does with its motion what the body's columns do with the
    body's."""
    draw, y, sites = drawn(seed)
    frames = frames_of(y)
    for site in range(8):
        b, wrench, rows = int(sites.body[site]), np.zeros((4, 6)), np.zeros((3, 6))
        x, f, torque = (tuple(draw.uniform(-1.0, 1.0, 3)) for _ in range(3))
        u, w, power = act(site, x, f, torque, sites, frames, wrench, rows)
        motion = np.concatenate([frames[b, VELOCITY:AXES], frames[b, SPIN:]])
        pulls, turns = np.dot(f, u), np.dot(torque, w)
        assert power == pytest.approx(pulls + turns, abs=1e-15)
        assert wrench[b] @ motion == pytest.approx(power, abs=1e-14)
        assert rows @ motion == pytest.approx([pulls, turns, 3.0 * pulls - 2.0 * turns], abs=1e-14)
        assert not np.delete(wrench, b, axis=0).any()
        again = np.zeros((4, 6))
        load_point(b, x, f, torque, frames, again)
        np.testing.assert_array_equal(again, wrench)


def test_columns_of_sites_are_those_of_bodies() -> None:
    """A site in the mass centre, along the axes of its body, moves as that does."""
    _, y, _ = drawn(0)
    place = np.concatenate([np.zeros((3, 3)), np.tile(np.eye(3).reshape(9), (3, 1))], axis=1)
    frames = frames_of(y)
    at = sites_along(y[None], np.arange(3), Sites(np.arange(3), place))[0]
    assert at.shape == (3, FRAME_WIDTH)
    np.testing.assert_array_equal(at, frames[:3])


def test_all_who_are_asked_for_a_site_say_the_same() -> None:
    """Tables, parts and users' Python; on a body that moves and on one that is fixed."""
    post = qp.Body("post", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 2.0, 3.0),
                   orientation=qp.rotation((1.0, 1.0, 0.0), 0.5), fixed=True)  # fmt: skip
    top = post.site("top", at=(0.1, -0.2, 0.3), z=(1.0, 0.2, 0.0))
    at = qp.Multibody(HUB, ARM, post, qp.Spring("spring", EAST, top, stiffness=1.0)).instant()
    tables, asked = at.selection.tables, at.at_sites(EAST, top)
    rows = [tables.element_site1[0], tables.element_site2[0]]
    np.testing.assert_array_equal(at.sites.rows[rows], asked.rows)
    for k, site in enumerate((EAST, top)):
        seen, body = at.view[site], at.view[site.body]
        arm = body.axes @ np.array(site.at)
        assert_near = functools.partial(np.testing.assert_allclose, rtol=0.0, atol=4e-15)
        assert_near(seen.position, body.position + arm)
        assert_near(seen.axes, body.axes @ site.axes)
        assert_near(seen.velocity, body.velocity + np.cross(body.angular_velocity, arm))
        assert_near(seen.angular_velocity, body.angular_velocity)
        for mine, theirs in zip(seen, (asked.position, asked.axes, asked.velocity, asked.spin)):
            np.testing.assert_array_equal(mine, theirs[k])
