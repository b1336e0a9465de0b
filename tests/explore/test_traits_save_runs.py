"""What rules and options declare saves runs, and the graph is the same without; what is untrue is
caught."""

from __future__ import annotations

import random

import numpy as np
import pytest

import quirkpy as qp
from demos.cubesat_pair import pair
from demos.lattice import lattice
from quirkpy.explore.reduce.reductions import Reductions, select_reductions
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.options import mating_frame
from quirkpy.explore.scope.safety import KeepOut, forbids_parting
from quirkpy.mechanics.system import System
from tests.contracts.catalogue import label
from tests.contracts.test_traits import off
from tests.explore.test_reductions import check_same, exact, labels
from tests.studies import Ball, block, changed


# --- what rules and options save ------------------------------------------------------------------
class Slower(qp.Safety):
    """A limit of speed, written by a user who says what it is."""

    traits = qp.SafetyTraits(sees="motion", invariant_under="rigid", exchanged="same")
    value: float

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        found = qp.Limit("speed", self.value).first(run)
        return None if found is None else found._replace(reason="too fast")


class Silent(Slower):
    """The same, and says nothing."""


class NotSouth(qp.Safety):
    """No mass centre gets south of a line: that knows places in N, and the one who wrote it says
    otherwise."""

    traits = qp.SafetyTraits(sees="motion", invariant_under="rigid", exchanged="same")
    line: float

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        south = (run.states[-1].r[:, 1] < self.line).nonzero()[0]
        names = tuple(run.system.bodies[k] for k in south)
        return qp.Violation("south", float(run.t[-1] - run.t[0]), names) if names else None


class OnlyFirst(qp.Safety):
    """The first cube alone keeps a limit, and the one who wrote it says that all are alike to
    it."""

    traits = qp.SafetyTraits(sees="motion", invariant_under="rigid", exchanged="same")
    value: float

    def first(self, run: qp.Trajectory) -> qp.Violation | None:
        speed = np.linalg.norm(np.array([state.v[0] for state in run.states]), axis=1)
        fast = run.t[speed > self.value]
        return (
            qp.Violation("first too fast", float(fast[0] - run.t[0]), ("c0",))
            if len(fast)
            else None
        )


def cubes(*rules: qp.Safety) -> qp.Study:
    study = exact(lattice(3, alike=2))
    return changed(study, safety=[*study.safety, *rules])


def saves_truly(study: qp.Study) -> dict[str, int]:
    """What reductions save, if the graph is the same without any."""
    with_, without = (study.explore(progress=False, reductions=some) for some in (True, False))
    check_same(without, with_)
    return dict(with_.saved)


#: Speeds [m/s] that all motions of three cubes exceed, and none.
FAST, FASTEST = 0.1, 0.12
EYE = qp.GROUND.site("eye", at=(0.1, -0.2, 0.0), z=(0.0, 1.0, 0.0))


@pytest.mark.parametrize(
    ("value", "saves"), [(FAST, {"symmetry"}), (FASTEST, {"symmetry", "cache"})]
)
def test_a_rule_of_a_users_own_is_shared_where_it_says_so(value: float, saves: set[str]) -> None:
    assert set(saves_truly(cubes(Slower(value)))) == saves


def test_a_rule_that_says_nothing_is_never_shared_and_the_report_says_so() -> None:
    assert saves_truly(cubes(Silent(FASTEST))) == {}
    graph = cubes(Silent(FAST)).explore(progress=False)
    assert "nothing is known of:\n  Silent without traits (docs/extending.md)" in graph.report()
    assert "nothing is known" not in cubes(Slower(FAST)).explore(progress=False).report()


def test_a_cone_that_stands_in_space_tells_places_apart() -> None:
    """Exchanges of cubes would carry the whole about; it stays."""
    assert saves_truly(cubes(qp.KeepOut(EYE, 0.6, 0.12))).get("cache", 0) == 0


@pytest.mark.parametrize("rule", [NotSouth(-0.06), OnlyFirst(FAST)], ids=label)
def test_a_rule_that_lies_is_caught(rule: qp.Safety) -> None:
    with pytest.raises(AssertionError):
        saves_truly(cubes(rule))


def test_a_cone_that_lies_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KeepOut, "traits", qp.SafetyTraits("poses", "rigid", "carried"))
    with pytest.raises(AssertionError):
        saves_truly(cubes(qp.KeepOut(EYE, 0.6, 0.12)))


class Loose(qp.StayTogether):
    """Bodies may come apart, though it derives from the rule by which they may not."""

    traits = qp.SafetyTraits(sees="motion", invariant_under="rigid", exchanged="same")

    def before(self, system: System) -> qp.Violation | None:
        return None


def test_what_a_rule_derives_from_does_not_say_what_it_forbids() -> None:
    """Only a `StayTogether` that is asked nothing else settles choices that let bodies part."""
    rules = qp.StayTogether(), qp.StayTogether(apart=0.1), Loose(), Slower(FAST)
    assert [forbids_parting(rule) for rule in rules] == [True, False, False, False]
    saved = {}
    for rule in (qp.StayTogether(), Loose()):
        study = changed(exact(pair()), safety=[rule])
        node = study.explore(budget=0, progress=False).nodes["n0"]
        made = Reductions(study, select_reductions(["rigid"]), [node]).tickets(node)
        saved[type(rule)] = sum(ticket.carried is not None for ticket in made)
    assert saved[Loose] == 0 < saved[qp.StayTogether]


# --- what options say -----------------------------------------------------------------------------
class Bolt(qp.Option):
    """A lock, written by a user who says what it is."""

    traits = qp.OptionTraits(holds="as one", exchanged="same")

    def parts(self, name: str, one: qp.Site, two: qp.Site) -> tuple[qp.Part, ...]:
        return (qp.Fixed(name, one, two),)


class Knuckle(qp.Option):
    """A ball joint, of which it is known that it is no more."""

    traits = qp.OptionTraits(holds="freedoms", exchanged="same")

    def parts(self, name: str, one: qp.Site, two: qp.Site) -> tuple[qp.Part, ...]:
        return (qp.Spherical(name, one, two),)


class Wobbly(Knuckle):
    """The same, and the one who wrote it says that it holds the two as one."""

    traits = qp.OptionTraits(holds="as one", exchanged="same")


class Edge(qp.Hinge):
    """A hinge about an edge, and the one who wrote it says that it is the same from both sides."""

    traits = qp.OptionTraits(holds="hinge", exchanged="same")


OPTIONS = (qp.Free(), qp.Lock(), qp.Hinge(1), qp.Hinge(3), qp.Pin(2.0), Ball(), Bolt(), Knuckle())


def facing() -> list[qp.Sensor]:
    """Two cubes, face to face."""
    cubes = [qp.Body.box(name, (0.1, 0.1, 0.1), 1.0, position=(x, 0, 0))
             for name, x in (("one", 0.0), ("two", 0.1))]  # fmt: skip
    return [
        qp.Sensor(f"{cube.name} face", cube.site("face", at=(s, 0, 0), z=(s, 0, 0), x=(0, 0, 1)))
        for cube, s in zip(cubes, (0.05, -0.05), strict=True)
    ]


def holds_truly(option: qp.Option) -> bool:
    """Whether the parts of an option are what it says that it holds."""
    one, two = facing()
    made = option.parts("held", one.site, mating_frame(two, 0.0))
    says, freedoms = option.traits.holds, [getattr(part, "freedoms", None) for part in made[:1]]
    stops = all(isinstance(part, qp.JointStop) for part in made[1:])
    return {
        "nothing": not made,
        "as one": freedoms == [()] and len(made) == 1,
        "hinge": [type(part) for part in made[:1]] == [qp.Revolute] and stops,
        "freedoms": isinstance(made[0] if made else None, qp.Joint) and stops,
        "unknown": True,
    }[says]


def unlike_from_the_other_side(option: qp.Option) -> float:
    """How far accelerations are from those with the two sites exchanged."""
    one, two = facing()
    bodies = [sensor.site.body for sensor in (one, two)]
    push = qp.Load("push", bodies[1], force=(1.0, 2.0, -0.5), torque=(0.3, 0.1, -0.2))
    both = [option.parts("held", a.site, mating_frame(b, 0.0)) for a, b in ((one, two), (two, one))]
    a, b = (qp.Multibody(*bodies, push, *parts).acceleration() for parts in both)
    return off(a, b)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.label)
def test_options_hold_what_they_say(option: qp.Option) -> None:
    assert holds_truly(option)
    if option.traits.exchanged == "same":
        assert unlike_from_the_other_side(option) < 1e-12


def test_options_that_lie_are_caught() -> None:
    assert not holds_truly(Wobbly())
    assert unlike_from_the_other_side(Edge(1)) > 1e-2


def two_cubes(option: qp.Option) -> qp.Study:
    """The pair, with another option in place of its lock."""
    study = exact(pair())
    options = {
        kinds: [option if isinstance(one, qp.Lock) else one for one in chosen]
        for kinds, chosen in study.options.items()
    }
    return changed(study, options=options)


def test_an_option_of_a_users_own_saves_runs_where_it_says_so() -> None:
    assert saves_truly(two_cubes(Bolt())) == saves_truly(two_cubes(qp.Lock())) == {"rigid": 12}
    graph = two_cubes(Ball()).explore(progress=False)  # of it nothing is known
    assert {edge.kind for edge in graph.edges if edge.carried is not None} == {"rejected"}


def test_an_option_that_lies_changes_the_graph() -> None:
    with pytest.raises(AssertionError):
        saves_truly(two_cubes(Wobbly()))


def test_freedoms_within_a_cluster_need_no_run_of_their_own() -> None:
    """A ball joint within three cubes that locks hold together anyway, beside a fourth that
    swings."""
    options = {("face", "face"): [qp.Free(), qp.Lock(), qp.Hinge(1), Knuckle()]}
    study = exact(block(5), options=options)
    node = study.explore(budget=0, progress=False).nodes["n0"]
    made = Reductions(study, select_reductions(["clusters"]), [node]).tickets(node)
    tickets = [
        t for t in made
        if t.carried is not None and t.asked.potential == "apart"
        and "knuckle" in dict(t.asked.joints).values()
        and "knuckle" not in dict(t.choice.joints).values()
    ]  # fmt: skip
    assert len(tickets) > 5
    for ticket in random.Random(1).sample(tickets, 3):
        own, run = (run_choice(study, node, choice) for choice in (ticket.asked, ticket.choice))
        assert [labels(o) for o in ticket.answer(run).outcomes] == [labels(o) for o in own.outcomes]
