"""No machine code is older than the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from quirkpy.kernels.compiled import forget_stale_machine_code


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in which numba has left its files."""
    for name in ("kernels/rows.py", "quat.py", "tables/tables.py", "tables/compile.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x = 1\n")
    forget_stale_machine_code(tmp_path)
    leave_machine_code(tmp_path)
    return tmp_path


def leave_machine_code(package: Path) -> None:
    for name in ("kernels/__pycache__/rows.nbi", "kernels/__pycache__/rows.1.nbc", "__pycache__/quat.1.nbc"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text("code")


def left(package: Path) -> int:
    return sum(1 for path in package.rglob("*.nb?"))


@pytest.mark.parametrize("source", ["kernels/rows.py", "quat.py", "tables/tables.py"])
def test_forgotten_when_a_compiled_source_changes(package: Path, source: str) -> None:
    (package / source).write_text("x = 2\n")
    forget_stale_machine_code(package)
    assert left(package) == 0


def test_forgotten_when_a_source_comes_or_goes(package: Path) -> None:
    (package / "kernels" / "new.py").write_text("x = 1\n")
    forget_stale_machine_code(package)
    assert left(package) == 0
    leave_machine_code(package)
    (package / "kernels" / "new.py").unlink()
    forget_stale_machine_code(package)
    assert left(package) == 0


def test_kept_when_nothing_compiled_has_changed(package: Path) -> None:
    (package / "tables" / "compile.py").write_text("x = 2\n")
    (package / "kernels" / "rows.py").touch()
    forget_stale_machine_code(package)
    assert left(package) == 3
