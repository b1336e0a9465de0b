"""What becomes of a kernel in LLVM's hands: its own machine code, or a part of its callers'.

Numba optimizes every function and turns it into machine code, and does both once more for each of
its callers, which hold a copy of it: so at every level of calls all below is done again.  Here

- a kernel that only kernels call is translated for LLVM and left as it is; it becomes machine code
  as a part of those that call it (`Ingredient`);
- a kernel that Python calls, or that is long, becomes machine code once, and other kernels call it
  there, by its name (`Standing`).  That name is the same in every process, and whoever is read from
  disk brings those that it calls (`Needs`).

Kernels that LLVM is to write into their callers and that Python calls as well are left to numba."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

import llvmlite.binding
from llvmlite import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from quirkpy.kernels.base import handing as handing  # tuples go by address

#: How numba names the place of a function's environment.
ENVIRONMENT = "_ZN08NumbaEnv"
POINTER = ir.IntType(8).as_pointer()
#: Kernels by their names in machine code: module, name there, and the types of the arguments.
Needs: TypeAlias = dict[str, tuple[str, str, Any]]
#: Kernels that stand in this process, by their names in machine code.
STANDING: Needs = {}


class Ingredient(JITCodeLibrary):
    """The LLVM code of a kernel for inlining into its callers; its own machine code is an almost
    empty module, because numba requires one."""

    def _optimize_final_module(self) -> None:
        """Keep the unoptimized module for callers, who optimize it together with their own code."""
        self._finalized = True
        self._shared_module = whole = self._get_module_for_linking()
        self._finalized = False
        self._final_module = llvmlite.binding.parse_assembly(str(self._empty_module(whole)))

    def _empty_module(self, whole: Any) -> Any:
        """A module that contains only the environments of functions, which numba writes to."""
        module = self._codegen._create_empty_module(self.name)
        for known in whole.global_variables:
            if known.name.startswith(ENVIRONMENT):
                place = ir.GlobalVariable(module, POINTER, known.name)
                place.linkage, place.initializer = "common", ir.Constant(POINTER, None)
        return module


class Standing(JITCodeLibrary):
    """A kernel with machine code of its own: callers link to its name."""

    def _get_module_for_linking(self) -> Any:
        """What callers link: an empty module, since they call the kernel by its name."""
        self._ensure_finalized()
        if self._shared_module is None:
            self._shared_module = llvmlite.binding.parse_assembly(
                str(self._codegen._create_empty_module(self.name))
            )
        return self._shared_module


class KernelCompiler(Compiler):
    """numba's compiler, except that names in machine code do not depend on how many functions were
    compiled before."""

    #: What becomes of a kernel; None: what numba makes of it.
    kind: Any = None

    def _compile_bytecode(self) -> Any:
        """Compile a function."""
        state = self.state
        state.func_id.unique_id = 0
        if self.kind is not None:
            state.library = self.kind(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        made = super()._compile_bytecode()
        if self.kind is Standing:
            remember(made.fndesc, made.signature.args)
        return made


class IngredientCompiler(KernelCompiler):
    """The compiler of kernels that are inlined into their callers."""

    kind = Ingredient


class StandingCompiler(KernelCompiler):
    """The compiler of kernels with machine code of their own."""

    kind = Standing


def remember(description: Any, arguments: Any) -> None:
    """Register a kernel whose machine code is in the memory of this process."""
    STANDING[description.mangled_name] = description.modname, description.qualname, arguments


def needs_of(library: Any) -> Needs:
    """The registered kernels that some code calls by name."""
    whole: Any = (
        library._shared_module if isinstance(library, Ingredient) else library._final_module
    )
    return {
        known.name: STANDING[known.name]
        for known in whole.functions
        if known.is_declaration and known.name in STANDING
    }


def reduce(made: Any) -> tuple[Any, ...]:
    """A compile result as it is cached: whether it has machine code of its own, which kernels it
    needs, and numba's own reduction."""
    return isinstance(made.library, Standing), needs_of(made.library), made._reduce()


def prepare(context: Any, stands: bool, needs: Needs, rest: tuple[Any, ...]) -> bool:
    """Load the kernels that a cached one needs, before it is linked itself; False if one has
    another name here, as under another setting of numba: linking would then abort the process."""
    for module, name, arguments in needs.values():
        getattr(import_module(module), name).compile(arguments)
    if not needs.keys() <= STANDING.keys():
        return False
    if stands:
        description, signature = rest[1], rest[3]
        context.codegen()._engine._defined_symbols |= {
            description.mangled_name,
            description.llvm_cpython_wrapper_name,
            description.llvm_cfunc_wrapper_name,
        }
        remember(description, signature.args)
    return True
