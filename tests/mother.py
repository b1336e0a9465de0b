"""``python -m tests.mother``: has everything imported and loaded, forks a process for each
exploration that it is told of, and answers with its number."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any

from tests.studies import far_pair


def main() -> None:
    far_pair().explore(progress=False)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    while True:
        try:
            told = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pid = os.fork()
        if pid == 0:
            explore(*told)
        print(pid, flush=True)


def explore(make: Any, path: Any, workers: int) -> None:
    """In the child: no way leads back."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        make().explore(path, workers=workers, progress=False)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
