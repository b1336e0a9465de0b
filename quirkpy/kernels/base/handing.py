"""How a kernel hands its tuples of arrays to another: by address, in one number.

Numba takes a tuple apart at every call, each array of it into seven numbers or more, and puts it
together again on the other side: some three hundred numbers for a model and its scratch.  They were
pushed at each call of machine code; and where LLVM has written one kernel into the other, they had
to be written down, read and taken out again.  A tuple is not changed while a kernel has it, so an
address serves."""

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
    """What is read where its address tells: whoever is given it hands the same address on."""

    def get_argument_type(self) -> Any:
        """The type by which a tuple is handed over: an address."""
        return POINTER

    def as_argument(self: Any, builder: Any, value: Any) -> Any:
        """Where a tuple lies already, or where it is put for this call."""
        place = place_of(builder, value)
        if place is None:
            with builder.goto_entry_block():
                place = builder.alloca(self.get_value_type())
            builder.store(value, place)
        return builder.bitcast(place, POINTER)

    def from_argument(self: Any, builder: Any, value: Any) -> Any:
        """What lies there, and nobody changes."""
        for what in ("noalias", "captures(none)"):
            value.add_attribute(what)
        return builder.load(builder.bitcast(value, self.get_value_type().as_pointer()))


def place_of(builder: Any, value: Any) -> Any:
    """Where a tuple lies that the kernel was itself given, or a part of one; None: nowhere yet."""
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
    """A tuple with arrays in it; LLVM knows it by a name, which is short."""

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
    """Whether a tuple is one of ours that holds arrays; triples of numbers stay in registers."""
    return kind.instance_class.__module__.startswith(OURS) and any(
        isinstance(one, types.Array | types.BaseNamedTuple) for one in kind.types
    )


def model_of(manager: Any, kind: Any) -> Any:
    """How values of a named tuple are laid out and handed over."""
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
