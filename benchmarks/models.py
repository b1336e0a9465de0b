"""Models that nobody here wrote: ``python -m benchmarks.models FOLDER ...`` reads every URDF and
MJCF file below some folders, and prints the score: read, refused in one sentence, and equal to the
peer on the same file.

Wheels hold thousands: ``pip download --no-deps pybullet example-robot-data dm_control
gymnasium-robotics genesis-world robosuite``, unpacked.  Accelerations are those of all bodies at a
random pose in motion, of mass centres [m/s2] and of turns [rad/s2], and count as equal where they
differ by less than 1e-9 of the largest."""

from __future__ import annotations

import argparse
import collections
import json
import sys
import time
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import quirkpy as qp
from benchmarks import peers
from benchmarks.comparing import Sample, Unable, difference, plain

#: Differences below these count as none, and as rounding of the peer: the principal axes that
#: MuJoCo keeps are good to 1e-8.
EQUAL, NEAR = 1e-9, 1e-6


class Score(NamedTuple):
    """What became of one file.

    outcome: read | refused | crashed; peer: equal | near | differs | cannot, and why; error: the
    largest difference, relative."""

    path: Path
    outcome: str
    sentence: str = ""
    peer: str = ""
    why: str = ""
    error: float = 0.0
    seconds: float = 0.0


def models_below(folder: Path) -> Iterator[Path]:
    """URDF files, and XML files that are models of MuJoCo in themselves."""
    yield from sorted(folder.rglob("*.urdf"))
    for path in sorted(folder.rglob("*.xml")):
        try:
            root = ET.parse(path).getroot()
        except ET.ParseError:
            continue
        if root.tag == "mujoco":
            yield path


def score(path: Path, root: Path) -> Score:
    """Read a file, and compare it with the peer that reads such files."""
    started = time.perf_counter()
    reader, compare = _ways(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            imported = reader(path, root)
    except qp.PartError as error:
        return Score(path, "refused", str(error), seconds=time.perf_counter() - started)
    except Exception as error:
        return Score(path, "crashed", f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - started
    if compare is None:
        return Score(path, "read", peer="cannot", why="the peer is not installed", seconds=seconds)
    try:
        error = difference(compare(path, imported))
    except Unable as reason:
        return Score(path, "read", peer="cannot", why=str(reason), seconds=seconds)
    peer = "equal" if error < EQUAL else "near" if error < NEAR else "differs"
    return Score(path, "read", peer=peer, error=error, seconds=seconds)


def _ways(path: Path) -> tuple[Callable[[Path, Path], Any], Callable[[Path, Any], Sample] | None]:
    here = peers.present()
    if path.suffix == ".urdf":
        there = here.get("Pinocchio")
        return _read_urdf, None if there is None else there.sample_urdf
    there = here.get("MuJoCo")
    return _read_mjcf, None if there is None else there.sample_mjcf


def _read_urdf(path: Path, root: Path) -> Any:
    """With gravity as Pinocchio's, and afloat where the first link has mass, so that all moves."""
    return qp.read_urdf(path, free=has_heavy_root(path), gravity=(0.0, 0.0, -9.81), root=root)


def has_heavy_root(path: Path) -> bool:
    """Whether the first link of a URDF has mass; of a file that is no XML its reader says so."""
    try:
        robot = ET.parse(path).getroot()
    except ET.ParseError:
        return False
    children = {end.get("link") for end in robot.findall("joint/child")}
    for link in robot.findall("link"):
        mass = link.find("inertial/mass")
        if link.get("name") not in children:
            return mass is not None and float(mass.get("value", "0")) > 0.0
    return False


def _read_mjcf(path: Path, root: Path) -> Any:
    return qp.read_mjcf(path, root=root)


def record(paths: list[Path]) -> dict[str, Any]:
    """What the peers say of some models, as the tests keep it."""
    versions, kept = peers.versions(), {}
    for path in paths:
        reader, compare = _ways(path)
        if compare is None:
            raise SystemExit(f"{path}: its peer is not installed")
        sample = compare(path, reader(path, path.parent))
        peer = "Pinocchio" if path.suffix == ".urdf" else "MuJoCo"
        kept[path.name] = {
            "peer": f"{peer} {versions[peer]}",
            **{word: {n: plain(v) for n, v in getattr(sample, word).items()}
               for word in ("values", "rates", "theirs")},
        }  # fmt: skip
    return kept


def report(scores: list[Score]) -> str:
    """The score as a table, by folder and kind of file."""
    rows: dict[tuple[str, str], collections.Counter[str]] = {}
    for one in scores:
        key = one.path.parts[0], one.path.suffix[1:].replace("xml", "mjcf")
        rows.setdefault(key, collections.Counter()).update(
            ["files", one.outcome, *([one.peer] if one.peer else [])]
        )
    words = ("files", "read", "refused", "crashed", "equal", "near", "differs", "cannot")
    lines = [" | ".join(("where", "kind", *words))]
    for (where, kind), counts in rows.items():
        lines.append(" | ".join((where, kind, *(str(counts[word]) for word in words))))
    return "\n".join(lines)


def main() -> None:
    """Score every model below the folders that are given."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folders", nargs="+", type=Path)
    words.add_argument("--only", default="", help="only paths that hold this text")
    words.add_argument("--kind", choices=("urdf", "xml"), help="only files that end so")
    words.add_argument("--every", type=int, default=1, help="only every so many")
    words.add_argument("--all", action="store_true", help="a line for each that is not equal")
    words.add_argument("--record", type=Path, help="keep what the peers say of all in a JSON")
    asked = words.parse_args()
    if asked.record is not None:
        paths = [path for folder in asked.folders for path in models_below(folder)]
        asked.record.write_text(json.dumps(record(paths), indent=1) + "\n")
        return
    scores = []
    for folder in asked.folders:
        found = [p for p in models_below(folder) if asked.only in str(p)]
        found = [p for p in found if asked.kind in (None, p.suffix[1:])]
        for path in found[:: asked.every]:
            one = score(path, folder)
            scores.append(one._replace(path=path.relative_to(folder.parent)))
            if asked.all and one.peer != "equal":
                line = f"{path}: {one.outcome} {one.peer} {one.error:.1e} {one.why}{one.sentence}"
                print(line, file=sys.stderr, flush=True)
    print(report(scores))


if __name__ == "__main__":
    main()
