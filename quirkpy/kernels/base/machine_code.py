"""Where the machine code of kernels lies: in a folder of the user, where numba finds one, and in
the package itself, where a wheel has brought it.

Numba's own cache, with three differences.  What is kept is void as soon as any source of a kernel
differs, not only the file of the kernel itself.  Where nothing was made for this very processor,
code for `LEVEL` will do, if the processor has what that asks for.  And of several processes that
need the same kernel one compiles it, while the others wait."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import sys
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from quirkpy.kernels.base import ingredients

fcntl: Any = None  # there is none on Windows, where two processes may compile the same
with contextlib.suppress(ImportError):
    fcntl = importlib.import_module("fcntl")

PACKAGE = Path(__file__).resolve().parents[2]
#: Sources whose code ends up inside compiled kernels.
SOURCES = ("kernels/**/*.py", "maths/quat.py", "maths/tapes.py", "tables/tables.py")
#: What a wheel has brought; in a clone there is none.
SHIPPED = PACKAGE / "machine_code"
#: In words, what the code there was made with.
MADE_WITH = "made-with.txt"
#: The processors for which code is made that others are to use, as LLVM calls them, and what they
#: all have beyond the first of their family.
LEVEL = "x86-64-v3"
NEEDED = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")
#: What a process is told to compile for that level.
FOR_LEVEL = {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": ""}


def digest_of(package: Path) -> str:
    """A number for all sources of kernels: another one as soon as one of them differs."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in package.glob(pattern)):
        digest.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


DIGEST = digest_of(PACKAGE)


def forget_stale_machine_code(package: Path = PACKAGE, digest: str | None = None) -> None:
    """Delete the files of machine code that were made of other sources: nobody would read them, and
    under the names of what is gone they would stay.

    What came with the package stays, for it is not ours to delete.  Where the folder cannot be
    written to, nothing happens: numba then keeps its files elsewhere."""
    digest = digest or digest_of(package)
    stamp = package / "kernels" / "__pycache__" / "compiled-sources.sha256"
    with contextlib.suppress(OSError):
        if stamp.is_file() and stamp.read_text() == digest:
            return
        for path in package.rglob("*.nb[ic]"):
            if path.parent != package / SHIPPED.name:
                path.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(digest)


def made_with() -> str:
    """With what machine code is made here."""
    return f"numba {numba.__version__} for Python {sys.version_info[0]}.{sys.version_info[1]}"


def why_unused() -> str:
    """Why what a wheel has brought does not serve here; empty where it would, or brought none."""
    with contextlib.suppress(OSError):
        then = (SHIPPED / MADE_WITH).read_text(encoding="utf-8").strip()
        if then != made_with():
            return f"the wheel brought those of {then}, and this is {made_with()}"
        if not host_has_level():
            return f"the wheel brought those for {LEVEL}, which this processor is not"
    return ""


@cache
def host_has_level() -> bool:
    """Whether this processor has all that `LEVEL` asks for."""
    if not llvmlite.binding.get_process_triple().startswith("x86_64"):
        return False
    has = llvmlite.binding.get_host_cpu_features()
    return all(has.get(name, False) for name in NEEDED)


# --- files ----------------------------------------------------------------------------------------
class CodeFile(IndexDataCacheFile):
    """An index of one kernel's machine code and the code itself; void with other sources, before
    anything in it is looked at: it may speak of classes that are no longer there."""

    def __init__(self, folder: str, name: str) -> None:
        super().__init__(folder, name, source_stamp=DIGEST)
        self._version = f"{numba.__version__} {DIGEST}"


def shipped_file(code: KernelCode, folder: Path = SHIPPED) -> CodeFile:
    """The file of one kernel among those that a wheel brings, all in one folder."""
    room = Path(code.source).parent.name
    return CodeFile(str(folder), f"{room}.{code.filename_base}")


class Nowhere:
    """In place of a folder of the user, where none can be written to."""

    @classmethod
    def from_function(cls, function: Any, source: str) -> Nowhere:
        """For whatever kernel."""
        del source
        return cls(function)

    def __init__(self, function: Any) -> None:
        self.line = function.__code__.co_firstlineno

    def get_cache_path(self) -> None:
        """There is none."""

    def get_disambiguator(self) -> str:
        """The line of the function, by which files of functions of one name differ."""
        return str(self.line)


class KernelCode(CompileResultCacheImpl):
    """What is written of a kernel, and where: nowhere, if numba finds no folder."""

    def __init__(self, function: Any) -> None:
        self._locator_classes: list[Any] = [*type(self)._locator_classes, Nowhere]
        self.source = function.__code__.co_filename
        super().__init__(function)

    def reduce(self, made: Any) -> Any:
        """What is kept of what was compiled."""
        return ingredients.reduce(made)

    def rebuild(self, context: Any, kept: Any) -> Any:
        """What was compiled, with all that it calls; None where that cannot be."""
        return super().rebuild(context, kept[-1]) if ingredients.prepare(context, *kept) else None


class KernelCache(FunctionCache):
    """The machine code of one kernel, as numba asks for it."""

    def __init__(self, function: Any) -> None:
        self._py_func = function
        self._name = repr(function)
        self._impl = KernelCode(function)
        self._cache_path = self._impl.locator.get_cache_path()
        self.shipped = shipped_file(self._impl)
        self.kept = self._cache_path and CodeFile(self._cache_path, self._impl.filename_base)
        self._cache_file = self.kept
        self.enable()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """What was compiled for a signature, also by another process that is at it now; None where
        it falls to this one."""
        context.refresh()
        found = self.find(signature, context.codegen())
        if found is None and self.kept:
            TURNS.take(self)
            found = self.find(signature, context.codegen())
            if found is not None:
                TURNS.leave(self)
        return None if found is None else self._impl.rebuild(context, found)

    def find(self, signature: Any, codegen: Any) -> Any:
        """The code for a signature, in the folder of the user or in that of the package."""
        own = self._index_key(signature, codegen)
        places = [(file, key) for file in (self.kept, self.shipped) if file for key in keys(own)]
        return next((code for file, key in places if (code := file.load(key)) is not None), None)

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep what was compiled, and let those who wait for it have it."""
        if not self.kept:
            return
        try:
            super().save_overload(signature, made)
        finally:
            TURNS.leave(self)

    def ship(self, folder: Path) -> int:
        """Copy what was made for `LEVEL` to where a wheel brings it from; how many signatures."""
        if not self.kept:
            return 0
        made = [key for key in self.kept._load_index() if key == for_level(key)]
        for key in made:
            shipped_file(self._impl, folder).save(key, self.kept.load(key))
        return len(made)


def keys(own: Any) -> Iterator[Any]:
    """Under which code may lie that runs here: for this processor, and for its level."""
    yield own
    if host_has_level():
        yield for_level(own)


def for_level(key: Any) -> Any:
    """The key of a kernel as numba writes it, with the processor exchanged."""
    signature, (system, *_), sources = key
    return signature, (system, LEVEL, ""), sources


# --- several processes ----------------------------------------------------------------------------
class Turns:
    """Which kernels this process is compiling: nobody else does so meanwhile.

    A lock on one byte for each kernel of a file in its folder.  The system takes it back when the
    process ends, however it does.  Whoever compiles a kernel may wait for one that it calls, and
    these calls go in no circle: so no two processes wait for each other."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        #: Who is to be told that one waits, with the folder.
        self.told: Any = None

    def take(self, kernel: KernelCache) -> None:
        """Wait for one's turn, where somebody else is at it; where there are no locks, go on."""
        if fcntl is None:
            return
        with contextlib.suppress(OSError):
            try:
                self._lock(kernel, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self.told is not None:
                    self.told(kernel.cache_path)
                self._lock(kernel, fcntl.LOCK_EX)

    def leave(self, kernel: KernelCache) -> None:
        """Let others have their turn."""
        if kernel.cache_path in self.files:
            with contextlib.suppress(OSError):
                self._lock(kernel, fcntl.LOCK_UN)

    def _lock(self, kernel: KernelCache, how: int) -> None:
        folder = kernel.cache_path
        if folder not in self.files:
            self.files[folder] = os.open(Path(folder) / "kernels.lock", os.O_RDWR | os.O_CREAT)
        fcntl.lockf(self.files[folder], how, 1, zlib.crc32(kernel._impl.filename_base.encode()))


TURNS = Turns()
