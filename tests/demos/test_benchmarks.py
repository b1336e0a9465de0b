"""The measuring scripts run, and what they measure is about right; how fast it is, is not
tested."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics import equation

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    for name in [n for n in sys.modules if n.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that has none of the other programs."""
    from benchmarks import peers

    monkeypatch.setattr(peers, "present", dict)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """One turn for each work that is timed, and the smallest systems."""
    from benchmarks import evaluators, timing

    monkeypatch.setattr(timing.race, "__defaults__", (1,))
    for name in ("BATCH", "SPENT"):
        monkeypatch.setattr(timing, name, 0.0)
    small = [problem._replace(sizes=problem.sizes[:1]) for problem in evaluators.PROBLEMS]
    monkeypatch.setattr(evaluators, "PROBLEMS", small)


@pytest.mark.usefixtures("alone", "hasty")
def test_tables_are_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import __main__
    from benchmarks.problems import PROBLEMS

    page = tmp_path / "benchmarks.md"
    page.write_text(f"# Ours\n\n{__main__.BEGIN}\nold\n{__main__.END}\n\nThe end.\n")
    __main__.main(["cubes", "references", "--quick", "--out", str(tmp_path)])
    printed, written = capsys.readouterr().out, page.read_text()
    assert "MuJoCo, Pinocchio, Exudyn, Drake, PyBullet; pip install" in printed
    assert all(problem.name in printed and problem.name in written for problem in PROBLEMS)
    assert "two cubes, error of the end angle" in printed
    assert written.startswith("# Ours\n")
    assert written.endswith("The end.\n")
    assert "old" not in written


def test_some_tables_are_renewed_among_others(tmp_path: Path) -> None:
    from benchmarks import __main__ as benchmarks
    from benchmarks.tables import Sheet

    page, heads = tmp_path / "benchmarks.md", ["what", "s"]
    benchmarks.write(["all"], [Sheet("Targets", heads, [["a", 1], ["b", 2]]), Sheet("A", heads,
    [["x", 1]]),
                               Sheet("B", heads, [["y", 2]])], page, everything=True)  # fmt: skip
    benchmarks.write(["some"], [Sheet("Targets", heads, [["b", 3], ["c", 4]]), Sheet("B", heads,
    [["y", 5]]),
                                Sheet("C", heads, [["z", 6]])], page, everything=False)  # fmt: skip
    text = page.read_text()
    assert [
        line
        for line in text.split("\n")
        if line.startswith(("| a", "| b", "| c", "| x", "| y", "| z"))
    ] == ["| a | 1 |", "| b | 3 |", "| c | 4 |", "| x | 1 |", "| y | 5 |", "| z | 6 |"]
    assert text.index("all") < text.index("### Targets") < text.index("### A") < text.index("### C")
    assert text.count("some") == 2


def test_time_within_is_not_counted_twice() -> None:
    from benchmarks.mission import Clocks

    clocks = Clocks()

    def spend(seconds: float, inner: Callable[[], None] | None = None) -> None:
        import time

        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        if inner is not None:
            inner()

    inside = clocks.timed(lambda: spend(0.04), "inside")
    clocks.timed(lambda: spend(0.02, inside), "outside")()
    assert clocks.spent["inside"] == pytest.approx(0.04, abs=0.01)
    assert clocks.spent["outside"] == pytest.approx(0.02, abs=0.01)


def test_every_function_that_is_timed_exists() -> None:
    """A function that has got another name would not be timed any more."""
    from benchmarks.mission import RUNNER, clocks
    from quirkpy.explore.run import runner

    before = {name: getattr(runner, name) for names in RUNNER.values() for name in names}
    with clocks():
        assert all(getattr(runner, name) is not kept for name, kept in before.items())
    assert all(getattr(runner, name) is kept for name, kept in before.items())


def test_what_is_settled_by_hand_ends_in_the_shapes_that_are_explored() -> None:
    """Motions that go on after joints have taken hold are among them, and shapes where nothing can
    move."""
    from benchmarks.by_hand import ByHand
    from demos.cubesat_pair import pair
    from quirkpy.explore.scope.identity import poses_of

    study = pair(0.2)
    hand = ByHand(study)
    with hand.noting():
        graph = study.explore(progress=False)
    ends = [hand.settled(motion) for motion in hand.noted]
    assert {(motion.node is None, motion.before is None) for motion in hand.noted} == {
        (False, True),
        (True, False),
    }
    for node in graph.nodes.values():
        pose, like = (
            poses_of(node.state.r, node.state.q),
            [end for end in ends if end.verdict == node.verdict],
        )
        near = [
            end
            for end in like
            if study.shapes.distance(pose, poses_of(end.state.r, end.state.q)) < 1e-6
        ]
        assert any(end.energy == pytest.approx(node.energy, abs=1e-12) for end in near)
    hand.settle()
    assert (hand.motions, hand.noted) == (len(ends), [])
    assert hand.seconds > 0.0


def test_a_made_up_journal_holds_as_many_edges_as_it_says(tmp_path: Path) -> None:
    import quirkpy as qp
    from benchmarks.mission import synthetic

    synthetic(tmp_path / "made_up.db", 3000)
    graph = qp.ReconfigurationGraph.load(tmp_path / "made_up.db")
    assert (len(graph.nodes), len(graph.edges)) == (3, 3072)
    assert graph.coverage == 1.0


def test_a_section_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import __main__

    with pytest.raises(SystemExit):
        __main__.main(["cube"])
    assert "there is no section cube; there are evaluation, " in capsys.readouterr().err


@pytest.mark.usefixtures("alone", "hasty")
def test_the_two_cubes_end_where_the_single_equation_says() -> None:
    from benchmarks import cubes

    sheets, figures = cubes.measure(quick=True)
    assert all(len(row) == len(sheets[0].heads) for row in sheets[0].rows)
    assert all(error < cubes.EXACT for _, error, *_ in sheets[0].rows)
    assert figures["cubes error"] < 1e-9


def test_what_is_settled_is_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import settling

    monkeypatch.setattr(settling, "FEW", 1)
    sheets, figures = settling.measure(quick=True)
    assert [len(row) for row in sheets[0].rows] == [len(sheets[0].heads)] * 3
    assert figures["settle / simulate"] > 1.0


def test_samples_are_measured_with_safety_and_without() -> None:
    from benchmarks import robustness

    (sheet,), figures = robustness.measure(quick=True)
    assert [row[0] for row in sheet.rows] == ["with safety", "without"]
    assert figures["robustness"] == pytest.approx(sheet.rows[0][-1], rel=1e-12)
    for _, bare, flown, rate, share in sheet.rows:
        assert bare > 0.0
        assert rate == pytest.approx(1e3 / flown)
        assert share == pytest.approx(bare / flown)


def test_what_is_explored_has_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cubes have one shape, and four options under each of two springs."""
    from benchmarks import exploring

    monkeypatch.setattr(exploring, "CUBES", (2,))
    sheets, figures = exploring.measure(quick=False)
    (row,) = sheets[0].rows
    assert len(row) == len(sheets[0].heads)
    assert list(row[:3]) == ["2 cubes", 1, 8]
    assert figures["explored with an outcome"] == 1.0


def test_reductions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for each case; the more is on, the more edges for each run."""
    from benchmarks import reductions

    few = {name: reductions.CASES[name] for name in ("no symmetry", "no body symmetry")}
    monkeypatch.setattr(reductions, "CASES", few)
    monkeypatch.setattr(reductions, "FEW", 30)
    monkeypatch.setattr(reductions, "WORKERS", 1)
    sheets, figures = reductions.measure(quick=True)
    assert [row[4] for row in sheets[0].rows] == [30, 30]
    assert all(len(row) == len(sheets[0].heads) for row in sheets[0].rows)
    assert 1.0 < figures["edges per run, no symmetry"] < figures["edges per run, no body symmetry"]
    assert [row[3] for row in sheets[1].rows] == [30, 30]
    assert figures["in orbit, 4"] > 0.0


def test_workers_are_busy_for_as_long_as_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from benchmarks import scheduling

    monkeypatch.setattr(scheduling, "FEW", 10)
    monkeypatch.setattr(
        scheduling, "pools", lambda: {"threads": lambda study: ThreadPoolExecutor(2)}
    )
    (sheet,), figures = scheduling.measure(quick=True)
    assert [row[1] for row in sheet.rows] == [20, 20]
    assert sheet.rows[1][2] == 20  # tasks, one by one
    assert all(0.0 < share <= 1.0 for share in figures.values())


def test_panels_mirror_each_other() -> None:
    """Both are held at their roots, and their tips go opposite ways."""
    from benchmarks import panels

    system = panels.spacecraft()
    frequencies = [system[name].modal.frequencies for name in panels.SIDES]
    assert frequencies[0] == pytest.approx(frequencies[1], rel=1e-9)
    final = system.simulate(1.0, progress=False).final
    left, right = panels.watched(system, final).reshape(2, 3)
    assert abs(final["hub"].position).max() < 1e-12
    assert left[0] < -1.0 < 1.0 < right[0]


def test_methods_for_bodies_that_bend_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uncompiled, at a state of the four bodies: Kane's equations with a dense mass matrix as the
    package, the efficient speeds of the paper to what they neglect."""
    from benchmarks import flexible, flexible_chains

    for name in ("skew", "matrix_of", "put_rate", "turned_by", "turning_bias", "driven"):
        monkeypatch.setattr(flexible_chains, name, getattr(flexible_chains, name).py_func)
    system, chain = flexible.linked(), flexible.linked_chain()
    push = qp.Load("push", system["b3"], force=(0.0, 0.3, -0.2), at=system["b3"].end)
    state = system.with_(push).simulate(0.5, progress=False).final
    y = flexible.chain_state(system, state)
    found = equation.solve_dense(state.instant(system.selection))
    root, modes = found.acceleration[0], found.further
    load = system.reactions(state, axes="joint")["drive"].torque[2]
    first = len(y) - flexible_chains.speeds_of(chain)
    assert abs(state["b3"].tip).max() > 1e-3
    for method, bound in ((flexible.kane, 1e-8), (flexible.efficient, 3e-2)):
        out, held = np.zeros_like(y), np.zeros(1)
        method.py_func(state.t, y, chain, out, held)
        assert abs(out[first : first + 6] - root).max() < bound * abs(root).max()
        assert abs(out[-len(modes) :] - modes).max() < bound * abs(modes).max()
        assert held[0] == pytest.approx(load, rel=bound)


def test_stiffness_is_the_one_in_closed_form() -> None:
    from benchmarks import stiffness

    for case in (
        stiffness.pendulum(1.0),
        stiffness.loop(),
        stiffness.attitude(),
        stiffness.pinned(0.02),
    ):
        assert stiffness.error(case) < 1e-11


@pytest.mark.usefixtures("alone")
def test_the_watched_points_are_found_by_every_motion() -> None:
    from benchmarks import precision, trees

    for motion in precision.motions():
        run = trees.system(motion.tree).simulate(
            motion.duration, rtol=1e-12, atol=1e-12, keep="ends"
        )
        assert np.linalg.norm(trees.tip(motion.tree, run.final) - motion.truth) < 1e-8
        assert {name for name, _, _ in precision.candidates(motion)} == set(precision.OURS)


def test_four_bars_reach_the_angle_in_closed_form() -> None:
    from benchmarks import fourbars

    assert fourbars.miss(fourbars.ours(1, 1e-10, "conserve")(), fourbars.angle(1)) < 1e-8


@pytest.mark.usefixtures("alone", "hasty")
def test_the_printed_method_is_the_same_mechanics(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of panels whose creases are cut, spun and folded, ends where ours does."""
    from benchmarks import as_printed, folding, sheets

    sheet = sheets.map_fold(3)
    assert len(sheet.cuts) == 4
    ours, theirs = folding.ours(sheet, 1e-12, 0.02)(), as_printed.run(sheet, 0.02)
    assert theirs.angle == pytest.approx(ours.angle, abs=1e-12)
    assert abs(ours.angle - sheets.FOLD) > 1e-5
    assert max(ours.gap, theirs.gap) < 1e-12
    monkeypatch.setattr(folding, "DURATION", 0.1)
    measured = folding.measure(quick=True)
    assert [row[1] for row in measured.sheets[0].rows] == ["quirkpy"] * len(folding.TOLERANCES) + [
        folding.NAME
    ]
    assert measured.figures["sheet 3 / as"] > 1.0


@pytest.mark.usefixtures("alone", "hasty")
@pytest.mark.parametrize("loop", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])
def test_evaluations_have_a_row_each(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import evaluation, trees

    if loop == "interpreted":  # to compile it takes seconds
        monkeypatch.setattr(
            evaluation, "_repeat", getattr(evaluation._repeat, "py_func", evaluation._repeat)
        )

    figures: dict[str, float] = {}
    row = evaluation._row("hub with panels", 4, trees.hub(4), {}, figures)
    assert len(row) == 7  # system, size, three times, difference, share of the processor
    assert figures["hub with panels 4"] > 0.0
    monkeypatch.setattr(evaluation, "LATTICES", (2, 3))
    sheet = evaluation._lattices(figures, quick=True)
    assert all(len(row) == len(sheet.heads) for row in sheet.rows)
    assert figures["lattice 3 error"] < 1e-9


def test_trees_begin_on_their_joints() -> None:
    from benchmarks import problems, trees

    systems = [
        trees.system(t)
        for t in (trees.ball_chain(4), trees.hinge_chain(4), trees.hub(), trees.free_body())
    ]
    for system in [*systems, problems.hinged_lattice(4)]:
        residual = system.residual()
        assert max(abs(np.concatenate([residual.position, residual.velocity])), default=0.0) < 1e-14


def test_times_are_read_off_between_the_points() -> None:
    from benchmarks.precision import Point, time_to
    from benchmarks.timing import Cost

    line = [Point("ours", 0.0, 10.0**-k, Cost(10.0**k, 0.0)) for k in (2, 4, 6)]
    assert time_to(1e-5, line) == pytest.approx(1e5)
    assert time_to(1e-1, line) == 1e2
    assert time_to(1e-9, line) is None


def test_targets_are_judged() -> None:
    from benchmarks.targets import TARGETS, Target, sheet

    assert [row[-1] for row in sheet({}).rows] == ["not measured"] * len(TARGETS)
    assert len({t.figure for t in TARGETS}) == len(TARGETS)
    faster = Target("faster", "ratio", ">=", 4.0)
    assert [faster.verdict({"ratio": r})[-1] for r in (4.0, 2.0)] == [
        "met",
        "missed by a factor of 2",
    ]
    assert faster.verdict({"ratio": float("nan")})[-1].startswith("missed")
    assert Target("small", "x", "<=", 4.0).verdict({"x": 6.0})[-1] == "missed by a factor of 1.5"


def test_truths_of_the_cutoffs() -> None:
    from benchmarks import cutoffs, problems

    for build, truth in (
        (problems.ball_chain, cutoffs.eliminated),
        (problems.hinge_chain, cutoffs.eliminated),
        (problems.lattice, cutoffs.one_rigid_body),
        (problems.door, cutoffs.about_its_edge),
        (problems.four_bars, cutoffs.parallelogram),
    ):
        system = build(3)
        assert cutoffs.error(system.acceleration(), truth(system)) < 1e-12
        assert abs(system.residual().velocity).max() < 1e-14


@pytest.mark.usefixtures("hasty")
def test_a_controller_is_timed_against_its_commands() -> None:
    """What it commands flies as schedules with the same bits, and holds the bus."""
    import quirkpy as qp
    from benchmarks import controllers

    (sheet,), figures = controllers.measure(quick=True)
    assert len(sheet.rows) == 1
    assert figures["bus and arm, in Python, against no control"] > 1.0
    parts, hold = controllers.craft(1)
    run, free = (qp.Multibody(*some).simulate(5.0) for some in ((*parts, hold), parts))
    again = qp.Multibody(*run.system.parts).simulate(5.0)
    np.testing.assert_array_equal(run.course.states, again.course.states)
    turned, loose = (one["bus"].orientation[-1].z for one in (run, free))
    assert abs(turned) < 0.5 * abs(loose)


def test_the_other_measurements_run(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import cutoffs, gradient, quirk_rows

    for measure in (lambda: cutoffs.main(quick=True), quirk_rows.main, gradient.main):
        measure()
        assert "error" in capsys.readouterr().out


def test_error_over_time_is_drawn(tmp_path: Path) -> None:
    """A line for each method in each panel, with its numbers; and a name for each in the legend."""
    pytest.importorskip("matplotlib")
    from benchmarks import precision, timing

    cost = timing.Cost(2e-3, 1e-3)
    line = [precision.Point("a", tolerance, tolerance, cost) for tolerance in (1e-6, 1e-9)]
    drawing = precision.drawn(
        {"top": {"quirkpy dop853": line, "other": line[:1]}, "chain": {"other": line}}
    )
    drawing.save(tmp_path / "x.png")
    first, second = drawing.figure.axes
    assert [len(axes.lines) for axes in (first, second)] == [2, 1]
    np.testing.assert_allclose(first.lines[0].get_xydata(), [(2.0, 1e-6), (2.0, 1e-9)])
    (legend,) = drawing.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["quirkpy dop853", "other"]


def test_a_t_bar_as_the_paper_prints_it_moves_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import tensegrity

    monkeypatch.setattr(tensegrity, "GOAL", 1e-8)
    made = tensegrity.qp.tensegrities.t_bar(bar=tensegrity.WOOD, string=tensegrity.SPRINGS)
    end, steps = tensegrity.Printed.of(made, [0, 1]).simulate(made.places().ravel(), 0.5)
    run = made.system.simulate(0.5)
    assert steps > 10
    np.testing.assert_allclose(end[:12], made.places(run.final).ravel(), rtol=0, atol=1e-7)


def test_each_correction_keeps_what_it_corrects() -> None:
    """Lengths from positions and velocities, energy from that of energy, with any weight; ours
    holds both to rounding."""
    from benchmarks import corrections

    made = {case.way: case for case in corrections.cases(0.5, 1e-6, 2.0)}
    free, joints = made["printed, no correction"], made["printed, eq. 33: joints"]
    assert joints.length < 1e-9 < free.length
    assert joints.energy > 1e-6
    for name in ("printed, eq. 45: and energy", "eq. 45 weighted by mass"):
        assert made[name].energy < 1e-9
        assert made[name].length < 1e-9
    ours = made["here, energy held"]
    assert ours.energy < 1e-12 * 400.0
    assert ours.length < 1e-13
    assert ours.energy < made["here"].energy


def test_compressible_t_bars_beside_the_paper() -> None:
    """Masses of its table 2; soft bars deviate as far as its figure 15 says from rigid ones; the
    compliance hardly depends on the material, as in its figure 19; its kinetic energy changes the
    motion a little."""
    from benchmarks import compressible

    soft, hard = (
        compressible.t_bar(compressible.MATERIALS[name]) for name in ("HDPE", "aluminium")
    )
    for made, mass in ((soft, 75.39), (hard, 212.05)):
        bodies = [part for part in made.system.parts if isinstance(part, compressible.qp.Body)]
        assert sum(body.mass for body in bodies) == pytest.approx(mass, abs=0.01)
    assert compressible.off_rigid(hard, 2700.0, 1.0) < 1e-5
    assert 1e-9 < compressible.off_printed(compressible.MATERIALS["HDPE"], 0.2) < 1e-4
