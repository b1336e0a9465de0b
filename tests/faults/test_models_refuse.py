"""Files of models that are refused, and what of a file that is read is told of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import quirkpy as qp
from quirkpy.formats.models.xml import MOST_DEPTH
from tests.faults.sentence import case, check_refused

MODELS = Path(__file__).parents[1] / "truths" / "models"
LINK = '<link name="a"><inertial><mass value="1"/><inertia {}/></inertial></link>'
GOOD = 'ixx="1" iyy="1" izz="1"'
BOMB = '<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'


def link(name: str = "a", moments: str = GOOD) -> str:
    """A link of one kilogram."""
    return LINK.format(moments).replace('"a"', f'"{name}"')


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    """A joint between two links."""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def robot(*parts: str, head: str = "") -> str:
    """A URDF of some parts."""
    return f"{head}<robot name='r'>{''.join(parts)}</robot>"


def model(inside: str, head: str = "") -> str:
    """An MJCF whose world holds something."""
    return f"<mujoco>{head}<worldbody>{inside}</worldbody></mujoco>"


def body(inside: str, name: str = "b") -> str:
    """A ball, and more."""
    return f'<body name="{name}"><geom size="0.1"/>{inside}</body>'


URDFS = [
    case(robot(link(), head=BOMB), "document type", "take it out", id="entities"),
    case("<robot>", "no XML", id="open"),
    case("", "no XML", id="empty"),
    case("<mujoco/>", "begins with <robot>", id="other"),
    case(robot(), "no link", id="nothing"),
    case(robot(link(), link()), "two links", "'a'", id="twice"),
    case(robot(link("a"), joint("j", "a", "c")), "its child is 'c'", id="nowhere"),
    case(robot(link("a"), link("b"), joint("j", "a", "b", "wobbly")), "'wobbly'", id="kind"),
    case(robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), "no first link",
         id="ring"),
    case(robot(link("a"), link("b"), link("c"), joint("j", "a", "c"), joint("k", "b", "c")),
         "two parents", id="loop"),
    case(robot(link("a"), link("b"), joint("j", "a", "b", inside='<axis xyz="0 0 0"/>')),
         "its axis is 0 0 0", id="axis"),
    case(robot(link("a"), link("b"), joint("j", "a", "b", inside='<origin xyz="0 one 0"/>')),
         "'0 one 0'", "numbers", id="words"),
    case(robot(link("a"), link("b", 'ixx="-1" iyy="1" izz="1"'), joint("j", "a", "b")),
         "negative", "'b'", id="moments"),
    case(robot(link("a").replace('value="1"', 'value="-1"')), "none can", id="mass"),
    case(robot('<xacro:x xmlns:xacro="u"/>'), "xacro", id="template"),
    case(robot("<a>" * MOST_DEPTH + "</a>" * MOST_DEPTH), "within each other", id="deep"),
]  # fmt: skip
MJCFS = [
    case("<!DOCTYPE a>" + model(body("")), "document type", id="entities"),
    case("<robot/>", "begins with <mujoco>", id="other"),
    case(model(""), "no body", id="nothing"),
    case(model(body("<joint type='wobbly'/>")), "'wobbly'", id="kind"),
    case(model(body("<composite/>")), "<composite>", id="recipe"),
    case(model(body("<geom type='box' size='1 1'/>")), "3 positive sizes", "'b'", id="sizes"),
    case(model(body("<geom class='c' size='1'/>")), "'c'", id="class"),
    case(model(body(""), "<compiler coordinate='global'/>"), "global", id="global"),
    case(model(body("<geom size='1'/>"), "<compiler angle='radians'/>"), "'radians'", "'radian'",
         id="unit"),
    case(model(body("<geom size='1' euler='0 0 1'/>"), "<compiler eulerseq='tip'/>"), "'tip'",
         "three letters", id="sequence"),
    case(model(body("<geom size='1' euler='0 0 1'/>"), "<compiler eulerseq='xy'/>"), "'xy'",
         "three letters", id="short"),
    case(model(body("<geom size='1'/>"), "<compiler settotalmass='all'/>"), "'all'", "settotalmass",
         id="settings"),
    case(model(body("<geom size='1'/>"), "<compiler boundmass='nan'/>"), "'nan'", "boundmass",
         id="bounds"),
    case(model(body("<geom size='1'/>"), "<compiler inertiagrouprange='1'/>"), "inertiagrouprange",
         id="groups"),
    case(model(body("<body><freejoint/><geom size='1'/></body>")), "in a body of the world",
         id="floating"),
    case(model(body("")).replace("<worldbody>", "<include file='/etc/passwd'/><worldbody>"),
         "cannot be included", "outside", id="escape"),
    case(model(body("")).replace("<worldbody>", "<include file='model.xml'/><worldbody>"),
         "includes more than", id="itself"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "words"), URDFS)
def test_urdfs_are_refused_in_a_sentence(
    tmp_path: Path, text: Any, name: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "model.urdf").write_text(text, encoding="utf-8")
    check_refused(lambda: qp.read_urdf(tmp_path / "model.urdf"), name, words)


@pytest.mark.parametrize(("text", "name", "words"), MJCFS)
def test_mjcfs_are_refused_in_a_sentence(
    tmp_path: Path, text: Any, name: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "model.xml").write_text(text, encoding="utf-8")
    check_refused(lambda: qp.read_mjcf(tmp_path / "model.xml"), name, words)


def test_only_trees_are_written(tmp_path: Path) -> None:
    bar, rod = (qp.Body.box(n, (1, 1, 1), 1.0) for n in ("bar", "rod"))
    locks = [qp.Fixed(n, bar, rod) for n in ("one", "two")]
    check_refused(
        lambda: qp.write_urdf(qp.Multibody(bar, rod, *locks), tmp_path / "x.urdf"),
        "two", ("closes a loop",),
    )  # fmt: skip
    check_refused(
        lambda: qp.write_urdf(3, tmp_path / "x.urdf"),  # type: ignore[arg-type]
        "system", ("is 3",),
    )  # fmt: skip
    assert not (tmp_path / "x.urdf").exists()
    odd = qp.Multibody(bar, rod, qp.Parallel("odd", bar, rod, axis=(0, 0, 1)))
    check_refused(lambda: qp.write_urdf(odd, tmp_path / "x.urdf"), "odd", ("no such joint",))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "far", (1.0, 2.0), None])
@pytest.mark.parametrize("what", ["coordinates", "rates"])
def test_coordinates_of_a_file_are_numbers(tmp_path: Path, what: str, value: Any) -> None:
    (tmp_path / "model.urdf").write_text(
        robot(link("a"), link("b"), joint("j", "a", "b", "continuous")), encoding="utf-8"
    )
    made = qp.read_urdf(tmp_path / "model.urdf")
    check_refused(lambda: made.state(**{what: {"j": value}}), "j is", ())


# --- what is told ---------------------------------------------------------------------------------
def test_meshes_are_read_only_below_a_folder(tmp_path: Path) -> None:
    """A path that leads out of it is told, links followed; the same file within it is read."""
    inside = tmp_path / "robot" / "urdf"
    inside.mkdir(parents=True)
    ball = "<collision><geometry><mesh filename='{}'/></geometry></collision>"
    tetrahedron = "solid x\n" + "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in face)
        + "endloop\nendfacet\n"
        for face in (
            ((0, 0, 0), (0, 1, 0), (1, 0, 0)), ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
            ((0, 0, 0), (0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        )
    ) + "endsolid x\n"  # fmt: skip
    for folder in (tmp_path, inside):
        (folder / "t.stl").write_text(tetrahedron, encoding="ascii")
    (inside / "link.stl").symlink_to(tmp_path / "t.stl")

    def read(name: str, **more: Any) -> qp.Imported:
        text = robot(link().replace("</link>", ball.format(name) + "</link>"))
        (inside / "r.urdf").write_text(text, encoding="utf-8")
        return qp.read_urdf(inside / "r.urdf", free=True, **more)

    assert isinstance(read("t.stl").system["a"].shape, qp.Mesh)
    for name in ("../../t.stl", "link.stl", str(tmp_path / "t.stl")):
        found = read(name)
        assert found.system["a"].shape is None
        assert any("outside" in one.sentence for one in found.findings), name
        assert isinstance(read(name, root=tmp_path).system["a"].shape, qp.Mesh)
    assert any("ends in none of" in one.sentence for one in read("notes.txt").findings)


@pytest.mark.parametrize("name", sorted(p.name for p in MODELS.iterdir() if p.suffix != ".json"))
def test_nothing_of_a_file_is_dropped_without_a_word(tmp_path: Path, name: str) -> None:
    """Whatever element and attribute is put anywhere into a model that is read is told of."""
    text = (MODELS / name).read_text(encoding="utf-8")
    reader = qp.read_urdf if name.endswith(".urdf") else qp.read_mjcf
    tags = sorted(set(re.findall(r"<(\w+)[ />]", text)) - {"xml"})
    assert len(tags) > 8
    for tag in tags:
        changed = re.sub(rf"<{tag}(?=[ />])", f'<{tag} strange="1"', text, count=1)
        (tmp_path / name).write_text(changed, encoding="utf-8")
        told = [one.sentence for one in reader(tmp_path / name).findings]
        shown = any(f"strange of <{tag}>" in one or f"<{tag}> in" in one for one in told)
        assert shown, (tag, told)
    end = text.rindex("</")
    (tmp_path / name).write_text(f"{text[:end]}<stranger/>{text[end:]}", encoding="utf-8")
    assert any("<stranger>" in one.sentence for one in reader(tmp_path / name).findings)


def test_findings_have_codes_and_name_their_parts() -> None:
    arm = {one.code: one for one in qp.read_urdf(MODELS / "arm.urdf").findings}
    assert arm["limit"].part == "shoulder"
    assert "'shoulder'" in arm["limit"].sentence
    assert {"friction", "drives"} <= arm.keys()
    chain = {one.code for one in qp.read_mjcf(MODELS / "chain.xml").findings}
    assert {"massless", "rotor", "gear"} <= chain
