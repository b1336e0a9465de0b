"""Rules for selections: what they let through, what they refuse, and that counting agrees with
listing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import quirkpy as qp
from demos.lattice import lattice

LOCK, HINGE, FREE = ("lock", 0), ("hinge 1", 1), ("free", 6)


class NothingFree(qp.Choosing):
    """Every pair in range is held."""

    def allows(self, chosen: Sequence[qp.Chosen], bodies: Sequence[str]) -> bool:
        return all(pair.freedoms < 6 for pair in chosen)


def selection(**pairs: tuple[str, int]) -> list[qp.Chosen]:
    """ab=LOCK: what becomes of the pair of bodies a and b."""
    return [qp.Chosen(*bodies, *what) for bodies, what in pairs.items()]


@pytest.mark.parametrize(
    ("pairs", "passes"),
    [
        (dict(ab=LOCK, bc=HINGE), True),
        (dict(ab=LOCK, bc=LOCK), False),  # nothing moves
        (dict(ab=HINGE, bc=HINGE), False),  # two hinges
        (dict(ab=FREE, bc=HINGE), False),  # a is on its own
        (dict(ab=LOCK, bc=LOCK, ca=HINGE), False),  # the hinge stands within one cluster
        (dict(ab=LOCK, bc=FREE, ca=HINGE), True),  # free across the cut
        (
            dict(ab=LOCK, bc=LOCK, cd=HINGE, ac=FREE),
            False,
        ),  # free within a cluster: another selection says the same
    ],
)
def test_one_hinge_between_two_clusters(pairs: dict[str, tuple[str, int]], passes: bool) -> None:
    bodies = sorted(set("".join(pairs)))
    assert qp.OneHinge().allows(selection(**pairs), bodies) is passes


@pytest.mark.parametrize(
    "rules", [(), (qp.OneHinge(),), (NothingFree(),), (qp.OneHinge(), NothingFree())], ids=str
)
def test_counts_agree_with_lists(rules: tuple[qp.Choosing, ...]) -> None:
    study = lattice(3, choosing=rules)
    graph = study.explore(budget=0, progress=False)
    start = graph.nodes["n0"]
    assert study.count(start) == len(study.choices(start)) == graph.choices
    assert study.count(start) == {"()": 32, "(OneHinge(),)": 8, "(NothingFree(),)": 18}.get(
        str(rules), 8
    )


def test_rules_are_part_of_the_study() -> None:
    one, all_of_them = lattice(3), lattice(3, choosing=())
    assert one.digest != all_of_them.digest
    again = qp.from_json(qp.to_json(one))
    assert again.choosing == (qp.OneHinge(),)
    assert again.digest == one.digest


def test_what_is_no_rule_is_refused() -> None:
    with pytest.raises(qp.PartError, match="choosing has 'one', which is no Choosing"):
        lattice(2, choosing=("one",))  # type: ignore[arg-type]
