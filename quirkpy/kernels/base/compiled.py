"""Decorators of kernels: compilation at the first call, a cache on disk, and IEEE arithmetic
without reordering."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit, types
from numba.core import event

from quirkpy.kernels.base.ingredients import (
    IngredientCompiler,
    KernelCompiler,
    StandingCompiler,
)
from quirkpy.kernels.base.machine_code import (
    DIGEST,
    TURNS,
    KernelCache,
    forget_stale_machine_code,
    why_unused,
)

#: Division by zero gives inf or NaN, as in NumPy.  No fastmath flag, not even "contract": where
#: LLVM may fuse a * b + c the last bit depends on what it has inlined, and a process that compiles
#: differs from one that reads the cache.
SETTINGS: dict[str, Any] = {"error_model": "numpy"}
#: Kernels are given every array that they need, and numba need not count who holds them.
GIVEN: dict[str, Any] = {**SETTINGS, "_nrt": False}


def compile_with(kind: Any, **options: Any) -> Callable[[Any], Any]:
    """A decorator that compiles a function by numba with a given compiler, and caches the machine
    code."""

    def decorate(function: Any) -> Any:
        """Make a kernel of a function."""
        made: Any = njit(pipeline_class=kind, **options)(function)
        if made is not function:  # not where compilation is switched off
            made._cache = KernelCache(function)
            made.get_call_template = partial(plain_template, made.get_call_template)
        return made

    return decorate


def plain_template(ask: Any, arguments: Any, named: dict[str, Any]) -> Any:
    """The callee's template for a call from another kernel, in which literal numbers are treated as
    ordinary ones; otherwise numba would compile a kernel anew for each literal."""
    plain = {name: types.unliteral(kind) for name, kind in named.items()}
    return ask(tuple(types.unliteral(kind) for kind in arguments), plain)


WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
#: The decorator of kernels that Python calls.
kernel: Any = compile_with(StandingCompiler, **GIVEN)
#: Of one that threads call side by side: Python goes on meanwhile.
side_by_side: Any = compile_with(StandingCompiler, **GIVEN, nogil=True)
#: Of those that make arrays.
allocating: Any = compile_with(StandingCompiler, **SETTINGS)
#: Of those that only kernels call, and that become a part of each of these.
inner: Any = compile_with(IngredientCompiler, **GIVEN, **WITHOUT_WRAPPERS)
#: Of long ones that only kernels call: machine code of their own, once, which these call.
shared: Any = compile_with(StandingCompiler, **GIVEN, **WITHOUT_WRAPPERS)
#: Of those that LLVM is to write into their callers: a call hands over every array as seven
#: numbers.
woven: Any = compile_with(IngredientCompiler, **GIVEN, **WITHOUT_WRAPPERS, forceinline=True)
#: The same for kernels that Python calls as well.
woven_kernel: Any = compile_with(KernelCompiler, **GIVEN, forceinline=True)


class Notice(event.Listener):
    """One line for each process, printed before a kernel is really compiled rather than read from
    disk, here or in another process."""

    def __init__(self) -> None:
        self.given = False

    def on_start(self, compilation: Any) -> None:
        """numba begins to compile a function, after a cache miss."""
        kernel = compilation.data["dispatcher"]
        if isinstance(kernel._cache, KernelCache):  # a user's law is made in a moment, and not kept
            self.tell("compiling its kernels", kernel._cache.cache_path)

    def on_end(self, compilation: Any) -> None:
        """A compilation has ended; if it failed, another process may try."""
        kernel = compilation.data["dispatcher"]
        if isinstance(kernel._cache, KernelCache) and not kernel.overloads.get(
            tuple(compilation.data["args"])
        ):
            TURNS.leave(kernel._cache)

    def wait(self, folder: str) -> None:
        """Another process is compiling a kernel that this one needs."""
        self.tell("waiting for another process that compiles its kernels", folder)

    def tell(self, what: str, folder: str | None) -> None:
        """Print the reason for the wait, and where the machine code will be kept."""
        if self.given or sys.stderr is None:
            return
        self.given = True
        why = why_unused()
        with contextlib.suppress(OSError):
            print(f"quirkpy: {what}, {_fate(folder)}{f' ({why})' if why else ''}", file=sys.stderr)


def _fate(folder: str | None) -> str:
    """Where the machine code will be kept, in words."""
    if folder is not None:
        return f"up to a minute and once; they are kept in {folder}"
    return (
        "up to a minute, as every process will: no folder can be written to in which they would "
        "be kept; NUMBA_CACHE_DIR names one"
    )


forget_stale_machine_code(digest=DIGEST)
NOTICE = Notice()
TURNS.told = NOTICE.wait
listen: Any = event.register
listen("numba:compile", NOTICE)
