"""The command `quirkpy`, also as `python -m quirkpy`: Ctrl-C ends it with one line at most, also
while it begins."""

import os
import signal
import sys
from importlib import import_module

#: The same as in `quirkpy.cli`, which is not imported before Ctrl-C is heard.
INTERRUPTED = 130


def main() -> int:
    """Do what the command line says; its exit code."""
    heard = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # not so in the background of a script
    if heard:
        signal.signal(signal.SIGINT, leave)
    from quirkpy import cli

    import_module("quirkpy.names")  # all that takes its time to load

    try:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return cli.main()
    except KeyboardInterrupt:
        if "--debug" in sys.argv:
            raise
        return INTERRUPTED
    finally:
        if heard:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def leave(number: int, frame: object) -> None:
    """End at once, while there is nothing yet to be put in order."""
    os.write(
        sys.__stderr__.fileno() if sys.__stderr__ else 2,
        b"quirkpy: interrupted before it had begun.\n",
    )
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
