"""Tuples of arrays as arguments of kernels are passed by address.

By itself numba decomposes a tuple at every call into the seven or more numbers of each array, and
assembles it again in the callee: some three hundred numbers for a model and its scratch.  These
were pushed on the stack at each call, or, where LLVM had inlined the callee, stored, loaded and
extracted again.  Kernels never change a tuple that they are given, so its address suffices."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from llvmlite import ir
from llvmlite.ir.instructions import AllocaInstr, CastInstr, ExtractValue, LoadInstr
from numba.core import cgutils, types
from numba.core.datamodel import registry
from numba.core.datamodel.models import TupleModel, UniTupleModel

POINTER = ir.IntType(8).as_pointer()
element_of: Any = cgutils.gep_inbounds
#: Whose tuples are handed over so; nobody else's code is compiled otherwise because of us.
OURS = "quirkpy.kernels."


class ByAddress:
    """A data model whose values are passed by address; a callee passes on the address that it was
    given."""

    def get_argument_type(self) -> Any:
        """The type of the argument: a pointer."""
        return POINTER

    def as_argument(self: Any, builder: Any, value: Any) -> Any:
        """The address of a tuple, which is stored on the stack if it has none yet."""
        place = place_of(builder, value)
        if place is None:
            with builder.goto_entry_block():
                place = builder.alloca(self.get_value_type())
            builder.store(value, place)
        return builder.bitcast(place, POINTER)

    def from_argument(self: Any, builder: Any, value: Any) -> Any:
        """The tuple at an address, which nobody changes meanwhile."""
        for what in ("noalias", "captures(none)"):
            value.add_attribute(what)
        return builder.load(builder.bitcast(value, self.get_value_type().as_pointer()))


def place_of(builder: Any, value: Any) -> Any:
    """The address of a tuple that was itself an argument of the kernel, or of a part of one; None
    if it has no address."""
    if isinstance(value, ExtractValue):
        around = place_of(builder, value.aggregate)
        return None if around is None else element_of(builder, around, 0, *value.indices)
    if not isinstance(value, LoadInstr):
        return None
    source = value.operands[0]
    if isinstance(source, CastInstr) and isinstance(source.operands[0], ir.Argument):
        return source
    given = {a.name: a for a in builder.function.args} if isinstance(source, AllocaInstr) else {}
    known = given.get(f"arg.{source.name}")
    return None if known is None else builder.bitcast(known, value.type.as_pointer())


class AddressedTuple(ByAddress, TupleModel):
    """A tuple that contains arrays, as a named LLVM type, so that the code of types stays short."""

    def __init__(self, manager: Any, kind: Any) -> None:
        model: Any = super()
        model.__init__(manager, kind)
        plain = model.get_value_type()
        name = f"{kind.instance_class.__name__}.{crc32(str(plain).encode()):08x}"
        self.layout = ir.global_context.get_identified_type(name)
        if self.layout.is_opaque:
            self.layout.set_body(*plain.elements)

    def get_value_type(self) -> Any:
        """The layout in memory."""
        return self.layout


class AddressedUniTuple(ByAddress, UniTupleModel):
    """A tuple of arrays that are all alike."""


def is_handed_by_address(kind: Any) -> bool:
    """Whether a tuple type is defined in this package and contains arrays; triples of numbers stay
    in registers."""
    return kind.instance_class.__module__.startswith(OURS) and any(
        isinstance(one, types.Array | types.BaseNamedTuple) for one in kind.types
    )


def model_of(manager: Any, kind: Any) -> Any:
    """The data model of a named tuple."""
    alike, by_address = isinstance(kind, types.NamedUniTuple), is_handed_by_address(kind)
    return MODELS[alike, by_address](manager, kind)


MODELS: dict[tuple[bool, bool], Any] = {
    (False, False): TupleModel,
    (False, True): AddressedTuple,
    (True, False): UniTupleModel,
    (True, True): AddressedUniTuple,
}
MANAGER: Any = registry.default_manager
for which in (types.NamedTuple, types.NamedUniTuple):
    MANAGER.register(which, model_of)
