"""Explorations in the processes of an MPI job, as docs/clusters.md writes them; where MPI is
installed, as on Linux."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import quirkpy as qp
from tests.studies import far_pair

pytest.importorskip("mpi4py")
MPIEXEC = shutil.which(
    "mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec")]
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import os, sys
from mpi4py.futures import MPIPoolExecutor
from quirkpy.explore.run.workers import workers_of
from tests.studies import far_pair

def die():
    os.kill(os.getpid(), 9)

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        assert workers_of(pool) == 2
        kill = "kill" in sys.argv

        def strike(count):
            return kill and count.runs >= 4 and pool.submit(die)

        far_pair().explore(sys.argv[1], workers=pool, progress=strike)
"""


def explored(path: Path, *words: str) -> int:
    """Two workers and the process of the script; what the job ends with."""
    script = path.with_name("explore.py")
    script.write_text(SCRIPT)
    command = [
        str(MPIEXEC),
        "-n",
        "3",
        sys.executable,
        "-m",
        "mpi4py.futures",
        str(script),
        str(path),
        *words,
    ]
    variables = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, env=variables, cwd=ROOT, capture_output=True, timeout=300
    ).returncode


def test_the_graph_of_an_mpi_job_is_the_same(tmp_path: Path) -> None:
    """Also when a process was killed, which ends the job, and the same command has gone on."""
    path, whole = tmp_path / "pair.db", far_pair().explore().to_json()
    assert explored(path, "kill") != 0
    assert explored(path) == 0
    assert qp.ReconfigurationGraph.load(path).to_json() == whole
