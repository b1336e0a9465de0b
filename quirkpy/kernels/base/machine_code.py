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
    """A hash of all sources of kernels."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in SOURCES for path in package.glob(pattern)):
        digest.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


DIGEST = digest_of(PACKAGE)


def forget_stale_machine_code(package: Path = PACKAGE, digest: str | None = None) -> None:
    """Delete cached machine code of other sources: it is never read again, and files of functions
    that no longer exist would stay.

    Machine code that came with the package is not deleted.  If the folder is read-only nothing
    happens, and numba caches elsewhere."""
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
    """The version of numba and Python with which machine code is made here."""
    return f"numba {numba.__version__} for Python {sys.version_info[0]}.{sys.version_info[1]}"


def why_unused() -> str:
    """Why the machine code of a wheel cannot be used here; empty if it can, or if there is none."""
    with contextlib.suppress(OSError):
        then = (SHIPPED / MADE_WITH).read_text(encoding="utf-8").strip()
        if then != made_with():
            return f"the wheel brought those of {then}, and this is {made_with()}"
        if not host_has_level():
            return f"the wheel brought those for {LEVEL}, which this processor is not"
    return ""


@cache
def host_has_level() -> bool:
    """Whether this processor supports all features of `LEVEL`."""
    if not llvmlite.binding.get_process_triple().startswith("x86_64"):
        return False
    has = llvmlite.binding.get_host_cpu_features()
    return all(has.get(name, False) for name in NEEDED)


# --- files ----------------------------------------------------------------------------------------
class CodeFile(IndexDataCacheFile):
    """The index of one kernel's machine code, and the code itself.  If the sources differ it is
    invalid before anything of it is unpickled, since it may refer to classes that no longer
    exist."""

    def __init__(self, folder: str, name: str) -> None:
        super().__init__(folder, name, source_stamp=DIGEST)
        self._version = f"{numba.__version__} {DIGEST}"


def shipped_file(code: KernelCode, folder: Path = SHIPPED) -> CodeFile:
    """The file of one kernel in the folder of a wheel."""
    room = Path(code.source).parent.name
    return CodeFile(str(folder), f"{room}.{code.filename_base}")


class Nowhere:
    """A cache locator for the case that no folder is writable."""

    @classmethod
    def from_function(cls, function: Any, source: str) -> Nowhere:
        """A locator for any function."""
        del source
        return cls(function)

    def __init__(self, function: Any) -> None:
        self.line = function.__code__.co_firstlineno

    def get_cache_path(self) -> None:
        """None: there is no folder."""

    def get_disambiguator(self) -> str:
        """The line of the function, which distinguishes files of functions with equal names."""
        return str(self.line)


class KernelCode(CompileResultCacheImpl):
    """How a kernel is cached, and in which folder, if numba finds one."""

    def __init__(self, function: Any) -> None:
        self._locator_classes: list[Any] = [*type(self)._locator_classes, Nowhere]
        self.source = function.__code__.co_filename
        super().__init__(function)

    def reduce(self, made: Any) -> Any:
        """A compile result as it is cached."""
        return ingredients.reduce(made)

    def rebuild(self, context: Any, kept: Any) -> Any:
        """A cached compile result with all that it calls; None if it cannot be used here."""
        return super().rebuild(context, kept[-1]) if ingredients.prepare(context, *kept) else None


class KernelCache(FunctionCache):
    """The cache of one kernel, in numba's interface."""

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
        """The machine code for a signature, also if another process is compiling it now; None if
        this process must compile it."""
        context.refresh()
        found = self.find(signature, context.codegen())
        if found is None and self.kept:
            TURNS.take(self)
            found = self.find(signature, context.codegen())
            if found is not None:
                TURNS.leave(self)
        return None if found is None else self._impl.rebuild(context, found)

    def find(self, signature: Any, codegen: Any) -> Any:
        """The machine code for a signature, from the folder of the user or of the package."""
        own = self._index_key(signature, codegen)
        places = [(file, key) for file in (self.kept, self.shipped) if file for key in keys(own)]
        return next((code for file, key in places if (code := file.load(key)) is not None), None)

    def save_overload(self, signature: Any, made: Any) -> None:
        """Cache a compile result, and release the lock for processes that wait for it."""
        if not self.kept:
            return
        try:
            super().save_overload(signature, made)
        finally:
            TURNS.leave(self)

    def ship(self, folder: Path) -> int:
        """Copy the machine code made for `LEVEL` to the folder that a wheel contains; returns the
        number of signatures."""
        if not self.kept:
            return 0
        made = [key for key in self.kept._load_index() if key == for_level(key)]
        for key in made:
            shipped_file(self._impl, folder).save(key, self.kept.load(key))
        return len(made)


def keys(own: Any) -> Iterator[Any]:
    """The cache keys under which machine code for this processor may be found: its own, and that of
    `LEVEL`."""
    yield own
    if host_has_level():
        yield for_level(own)


def for_level(key: Any) -> Any:
    """A cache key with the processor replaced by `LEVEL`."""
    signature, (system, *_), sources = key
    return signature, (system, LEVEL, ""), sources


# --- several processes ----------------------------------------------------------------------------
class Turns:
    """Locks on the kernels that this process is compiling, so that no other process compiles them.

    Each kernel has one byte of a lock file in its folder; the operating system releases the lock
    when a process ends.  A process that compiles a kernel may wait for one that it calls; as the
    call graph has no cycles there is no deadlock."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        #: Who is to be told that one waits, with the folder.
        self.told: Any = None

    def take(self, kernel: KernelCache) -> None:
        """Wait for the lock of a kernel; without locks on this system, go on."""
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
        """Release the lock of a kernel."""
        if kernel.cache_path in self.files:
            with contextlib.suppress(OSError):
                self._lock(kernel, fcntl.LOCK_UN)

    def _lock(self, kernel: KernelCache, how: int) -> None:
        folder = kernel.cache_path
        if folder not in self.files:
            self.files[folder] = os.open(Path(folder) / "kernels.lock", os.O_RDWR | os.O_CREAT)
        fcntl.lockf(self.files[folder], how, 1, zlib.crc32(kernel._impl.filename_base.encode()))


TURNS = Turns()
