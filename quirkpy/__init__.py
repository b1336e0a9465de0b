"""quirkpy: by switching joints and force fields alone, into which shapes can a modular spacecraft
fall?

Names come from `quirkpy.names`, which is imported when one is first used: until then an import is
cheap, and the command line can end with one line on Ctrl-C, also while NumPy and numba are
loaded."""

from importlib import import_module

__version__ = "0.1.0.dev0"

#: The constant known to type checkers; importing `typing` itself takes a while.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from quirkpy.names import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        """A module of the package, or a public name."""
        from importlib.util import find_spec

        if find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        public = import_module(f"{__name__}.names")
        globals().update({one: getattr(public, one) for one in public.__all__})
        globals()["__all__"] = sorted([*public.__all__, "__version__"])
        if name not in globals():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals()[name]

    def __dir__() -> list[str]:
        """All names, also those that have not been used yet."""
        return sorted({*globals(), *__getattr__("__all__")})
