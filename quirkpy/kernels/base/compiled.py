"""How every kernel is compiled: on first use, cached on disk, with IEEE arithmetic, operation by
operation."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event

#: Division by zero gives inf or NaN, as in NumPy.  No fastmath flag, not even "contract": where
#: LLVM may fuse a * b + c the last bit depends on what it has inlined, and a process that compiles
#: differs from one that reads the cache.
SETTINGS: dict[str, Any] = {"cache": True, "error_model": "numpy"}


def check_cache() -> None:
    """Do without files of machine code where numba finds no folder for them, and say what that
    costs."""

    def probe() -> None:
        """A function of this module, whose folder is that of all kernels."""

    try:
        njit(cache=True)(probe)
    except RuntimeError as error:
        SETTINGS["cache"] = False
        said = " ".join(str(error).split())
        print(
            "quirkpy: no folder can be written to in which compiled kernels would be kept "
            f"({said}), so every process "
            "compiles them anew, up to a minute; NUMBA_CACHE_DIR names a folder for them.",
            file=sys.stderr,
        )


check_cache()
#: Kernels are given every array that they need, and numba need not count who holds them.
GIVEN: dict[str, Any] = {**SETTINGS, "_nrt": False}
WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
#: The decorator of kernels that Python calls.
kernel: Any = njit(**GIVEN)
#: Of those that make arrays.
allocating: Any = njit(**SETTINGS)
#: Of those that only kernels call: without the wrapper through which Python would, they compile
#: faster.
inner: Any = njit(**GIVEN, **WITHOUT_WRAPPERS)
#: Of those that LLVM is to write into their callers: a call hands over every array as seven
#: numbers.
woven: Any = njit(**GIVEN, **WITHOUT_WRAPPERS, forceinline=True)
#: The same for kernels that Python calls as well.
woven_kernel: Any = njit(**GIVEN, forceinline=True)
#: Of long ones with one caller: numba writes them into the caller.  Otherwise all that they call
#: would be translated for both: every kernel carries its own copy of what it calls.
inlined: Any = njit(**GIVEN, inline="always")

PACKAGE = Path(__file__).resolve().parents[2]
#: Sources whose code ends up inside compiled kernels.
SOURCES = ("kernels/**/*.py", "maths/quat.py", "maths/tapes.py", "tables/tables.py")


def forget_stale_machine_code(package: Path = PACKAGE) -> None:
    """Delete numba's files when a source differs from what it was when they were written.

    numba looks only at the file of each kernel itself, so the machine code of its callers would
    outlive a change of a helper, and an update of the package would meet classes that are no longer
    there.  Where the folder cannot be written to, nothing happens: numba then keeps its files
    elsewhere."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in package.glob(pattern)):
        digest.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    stamp = package / "kernels" / "__pycache__" / "compiled-sources.sha256"
    with contextlib.suppress(OSError):
        if stamp.is_file() and stamp.read_text() == digest.hexdigest():
            return
        for path in package.rglob("*.nb[ic]"):
            path.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(digest.hexdigest())


class Notice(event.Listener):
    """One line a process, before the wait, when a kernel of ours is really compiled and not read
    from disk."""

    def __init__(self) -> None:
        self.given = False

    def on_start(self, compilation: Any) -> None:
        """numba begins to compile something, having looked in vain for its machine code."""
        kernel = compilation.data["dispatcher"]
        if self.given or not str(kernel.__module__).startswith("quirkpy.") or sys.stderr is None:
            return
        with contextlib.suppress(OSError):
            folder = kernel.stats.cache_path
            if folder is None:  # what calls a user's law: made in a moment, and not kept
                return
            self.given = True
            print(
                "quirkpy: compiling its kernels, up to a minute and once; they are kept in "
                f"{folder}",
                file=sys.stderr,
            )

    def on_end(self, compilation: Any) -> None:
        """Nothing to say."""


forget_stale_machine_code()
NOTICE = Notice()
listen: Any = event.register
listen("numba:compile", NOTICE)
