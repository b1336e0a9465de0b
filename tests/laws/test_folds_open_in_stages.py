"""Sheets that begin exactly shut, touch, and are latched when flat: what latches take is the energy
that was left, stage by stage."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.families.origami import Fold

STIFFNESS = 0.1  # of every crease [N m/rad]


def opened(fold: Fold, seconds: float) -> qp.Trajectory:
    """A run that ends flat and at rest, with nothing unaccounted for and no panel in another."""
    run = fold.system.simulate(seconds, rtol=1e-10, atol=1e-12, progress=False)
    assert run.stop is qp.Stop.END
    assert len(run.t) < 500
    ledger = run.energy + run.dissipated + run.lost - run.work
    assert abs(ledger - ledger[0]).max() < 1e-8 * run.energy[0]
    gaps = [abs(fold.system.residual(state).position).max() for state in run.states]
    assert max(gaps) < 1e-10
    assert run.energy[-1] < 1e-12
    for hinge in fold.hinges:
        sense = np.sign(run[hinge.name].angle[0])
        assert (sense * run[hinge.name].angle).min() > -1e-9
        assert (sense * run[hinge.name].angle).max() < math.pi + 1e-9
    return run


@pytest.mark.parametrize(("columns", "rows"), [(2, 4), (3, 3), (4, 4)])
def test_a_map_opens_in_two_stages(columns: int, rows: int) -> None:
    """Columns first; when the last of them is caught nothing moves: latches have taken all that
    the springs of columns had. Then rows begin at rest, and the rest is taken."""
    fold = qp.origami.map_fold(
        columns, rows, 2.0, math.pi, stiffness=STIFFNESS, latch=0.0, contact=True
    )
    run = opened(fold, 60.0)
    each = 0.5 * STIFFNESS * math.pi**2
    between = {"x": (columns - 1) * rows, "y": columns * (rows - 1)}
    assert run.energy[0] == pytest.approx(each * sum(between.values()), rel=1e-12)
    caught = {family: [e.t for e in run.events if e.name.startswith(f"latch {family}")]
              for family in between}  # fmt: skip
    assert max(caught["x"]) < min(caught["y"])
    stage = int(np.searchsorted(run.t, max(caught["x"]), side="right")) - 1
    assert run.dissipated[stage] == pytest.approx(each * between["x"], rel=1e-8)
    assert run.kinetic[stage] < 1e-12
    assert run.dissipated[-1] == pytest.approx(run.energy[0], rel=1e-8)


def test_a_sheet_of_one_freedom_is_caught_by_one_latch() -> None:
    """A Miura pattern, short of flat: afloat and without momentum nothing moves any more; latch
    and springs have what there was."""
    fold = qp.origami.miura(4, 4, 2.0, fold=3.0, stiffness=STIFFNESS)
    crease = next(hinge for hinge in fold.hinges if hinge.name == "y 0,0")
    system = fold.system.with_(qp.Latch("latch", crease, at=0.1))
    run = system.simulate(6.0, rtol=1e-10, atol=1e-12, progress=False)
    minor = 2.0 * math.atan(0.5 * math.tan(0.05))
    left = 0.5 * STIFFNESS * (12 * 0.1**2 + 12 * minor**2)
    assert run.kinetic[-1] < 1e-16
    assert run.potential[-1] == pytest.approx(left, rel=1e-8)
    assert run.dissipated[-1] == pytest.approx(run.energy[0] - left, rel=1e-8)
