"""Panels of some thickness: how they lie on each other when shut, and how they swing about hinges
on their surfaces; tape springs, stops and contact in their creases."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.families.origami import Fold

THICK = 0.02  # [m]


def heights(fold: Fold) -> list[float]:
    """Of the mass centres of panels, along the normal of the first, in thicknesses."""
    first = fold.panels[0]
    return [
        float((np.array(panel.position) - first.position) @ first.matrix[:, 2]) / THICK
        for panel in fold.panels
    ]


@pytest.mark.parametrize("signs", list(itertools.product((1.0, -1.0), repeat=2)))
def test_layers_lie_on_each_other_when_shut(signs: tuple[float, float]) -> None:
    """Each in a layer of its own, without a gap; the crease between two panels leads around those
    between them, and never through one."""
    a, b = signs
    shut = {
        "map": qp.origami.map_fold(
            3, 4, fold=(a * math.pi, b * math.pi), thickness=THICK, offset="layers"
        ),
        "miura": qp.origami.miura(3, 4, fold=a * math.pi, thickness=THICK, offset="layers"),
    }
    for fold in shut.values():
        layers = heights(fold)
        assert sorted(layers) == pytest.approx(np.arange(12.0) + min(layers), abs=1e-9)
        folds = {body.name: layer for body, layer in zip(fold.panels, layers, strict=True)}
        spans: dict[str, list[tuple[float, float]]] = {}
        for hinge in fold.hinges:
            ends = sorted(folds[body.name] for body in hinge.bodies)
            even = int(hinge.name[2:].split(",")[hinge.name[0] == "y"]) % 2
            spans.setdefault(f"{hinge.name[0]}{even}", []).append((ends[0], ends[1]))
        for spread in spans.values():  # creases that lie at one side of the stack
            for (low, high), (low2, high2) in itertools.combinations(spread, 2):
                inside = [low < x < high for x in (low2, high2)]
                assert inside[0] == inside[1]


def test_layers_move_as_if_they_had_no_thickness() -> None:
    """The same freedoms in every pose, and corners that stay closed while all creases open."""
    for fold in (0.0, 2.0, (math.pi, 1.0), math.pi):
        thin = qp.origami.map_fold(3, 3, fold=fold).system
        thick = qp.origami.map_fold(3, 3, fold=fold, thickness=THICK, offset="layers").system
        assert thick.mobility().degrees_of_freedom == thin.mobility().degrees_of_freedom
    made = qp.origami.miura(3, 3, fold=2.5, thickness=THICK, offset="layers", stiffness=0.1)
    run = made.system.simulate(1.2, rtol=1e-10, atol=1e-12, progress=False)
    ledger = run.energy + run.dissipated + run.projected - run.work
    assert abs(ledger - ledger[0]).max() < 1e-9 * run.energy[0]
    assert abs(run["y 0,0"].angle[-1]) < 2.0
    assert run.drift[:, 0].max() < 1e-10
    for name in ("x 0,0", "x 1,2"):
        tangent = 0.5 * np.tan(0.5 * abs(run["y 0,0"].angle))
        assert np.tan(0.5 * abs(run[name].angle)) == pytest.approx(tangent, rel=1e-7)


def test_layers_in_a_file_come_back(tmp_path: Path) -> None:
    """A file knows creases alone; with the same offsets they make the same sheet."""
    fold = qp.origami.map_fold(3, 2, fold=2.0, thickness=THICK, offset="layers")
    path = tmp_path / "thick.fold"
    qp.origami.write_fold(fold.system, path)
    again = qp.origami.read_fold(path, thickness=THICK, offset=offsets_of(fold))
    for one, two in zip(fold.panels, again.panels, strict=True):
        assert two.position == pytest.approx(one.position, abs=1e-12)


def offsets_of(fold: Fold) -> list[float]:
    """How far creases lie below the panels of a sheet."""
    out = {}
    for hinge in fold.hinges:
        for site in hinge.sites:
            out[site.body.name] = -float(site.at[2])
    return [out[panel.name] for panel in fold.panels]


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_a_thick_panel_swings_about_its_surface(restitution: float) -> None:
    """J = m (L^2 + t^2) / 3 about an edge; when it is flat its side meets that of its neighbour,
    which leaves restitution^2 of its energy."""
    side, thick, mass, k, start = 1.0, 0.3, 2.0, 0.1, 2.0
    fold = qp.origami.map_fold(
        2, 1, side, start, thickness=thick, mass=mass, stiffness=k, hinges="surface", free=False,
        contact=True, restitution=restitution,
    )  # fmt: skip
    omega = math.sqrt(k / (mass * (side**2 + thick**2) / 3.0))
    flat = 0.5 * math.pi / omega
    run = fold.system.simulate(1.5 * flat, rtol=1e-11, atol=1e-13, progress=False)
    before = run.t < flat - 1e-6
    expected = start * np.cos(omega * run.t[before])
    assert run["x 0,0"].angle[before] == pytest.approx(expected, abs=1e-8)
    assert run["x 0,0"].angle.min() > -1e-9
    energy = 0.5 * k * start**2
    assert run.energy[-1] == pytest.approx(restitution**2 * energy, abs=1e-9)
    assert run.dissipated[-1] == pytest.approx((1.0 - restitution**2) * energy, abs=1e-9)


def test_surfaces_are_flush_when_flat_and_when_shut() -> None:
    for angle, levels in ((0.0, [0.0] * 4), (math.pi, [0.0, 1.0, 2.0, 3.0])):
        fold = qp.origami.map_fold(4, 1, fold=angle, thickness=THICK, hinges="surface")
        assert heights(fold) == pytest.approx(levels, abs=1e-12)


def test_tapes_stops_and_inertias_of_a_sheet() -> None:
    """A tape in every crease holds what one holds; valleys and mountains stop at flat, each from
    its side; one panel is a hub."""
    tape = {"stiffness": 0.5, "peak": 0.2, "plateau": 0.05, "damping": 0.02}
    fold = qp.origami.map_fold(
        3,
        1,
        fold=2.5,
        tape=tape,
        stop="flat",
        mass=(100.0, 1.0, 1.0),
        inertia={"p0,0": (66.7,) * 3},
    )
    system = fold.system
    one = next(part for part in system.parts if isinstance(part, qp.TapeSpring))
    assert float(system.energy()) == pytest.approx(2.0 * one.energy(2.5), rel=1e-12)
    assert np.diag(fold.panels[0].inertia_matrix) == pytest.approx([66.7] * 3)
    assert fold.panels[1].inertia_matrix[2, 2] == pytest.approx(1.0 / 6.0)
    run = system.simulate(20.0, progress=False)
    assert run["x 0,0"].angle.min() > -1e-9
    assert run["x 1,0"].angle.max() < 1e-9
    ledger = run.energy + run.dissipated
    assert ledger == pytest.approx(np.full(len(ledger), ledger[0]), rel=1e-6)
