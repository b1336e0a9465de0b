"""A run in a window of VPython, in a process of its own.

VPython opens servers on all interfaces, waits for ever for a browser, handles SIGINT and ends the
process whose window is closed. So the window runs in another process: its servers are bound to this
machine alone, the waiting is limited, and closing the window ends nothing but the animation; this
is safe in the kernel of a notebook as well as in a script. The film is sent through a pipe, which
stays open: when it closes, the parent has ended, and the window closes too."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable
from typing import Any

from quirkpy.parts.checks import positive
from quirkpy.parts.part import PartError
from quirkpy.views.film import Film
from quirkpy.views.player import Player

#: The message of the other process when a browser is connected.
OPENED = "opened"
HERE = "127.0.0.1"
#: Number of bytes of the length of the film.
LENGTH = 8
#: Time [s] for which requests of pages wait for their socket.
SOCKET_PATIENCE = 60.0


def show(
    make: Callable[[], Film], browser: bool, port: int | None, patience: float, keep_open: bool
) -> None:
    """Show a film and return when its window is closed, or when the film is over and need not stay
    open.

    make: a function for the film, which takes a while, so that missing programs are reported first.
    """
    check_vpython()
    try:
        limit = positive(patience)
    except (TypeError, ValueError) as error:
        raise PartError(f"animate: patience {error}.") from None
    if browser:
        check_browser()
    _watch(make().pack(), browser, free_port() if port is None else port, limit, keep_open)


# --- what must be there ---------------------------------------------------------------------------
def check_vpython() -> None:
    """Check that VPython and its requirements are installed, without importing them."""
    if importlib.util.find_spec("vpython") is None:
        raise PartError(
            "animate: this needs VPython; pip install 'quirkpy[vpython]' brings it.", code="install"
        )
    if importlib.util.find_spec("pkg_resources") is None:
        raise PartError(
            "animate: VPython needs pkg_resources, which setuptools 82 no longer has; pip install "
            "'setuptools<82'.",
            code="install",
        )


def check_browser() -> None:
    """Check for a browser and a display."""
    way_out = (
        "run.movie('run.mp4') needs neither, and browser=False prints the address for a browser "
        "that you open yourself."
    )
    displays = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in displays):
        raise PartError(f"animate: there is no display for a window; {way_out}", code="machine")
    try:
        webbrowser.get()
    except webbrowser.Error:
        raise PartError(f"animate: no browser was found; {way_out}", code="machine") from None


def free_port() -> int:
    """A free port of this machine."""
    with socket.socket() as one:
        one.bind((HERE, 0))
        return int(one.getsockname()[1])


# --- this process ---------------------------------------------------------------------------------
def _watch(film: bytes, browser: bool, port: int, patience: float, keep_open: bool) -> None:
    """Start the other process, wait for a browser, and then for the end."""
    if not browser:
        print(f"animate: open http://localhost:{port} in a browser.", flush=True)
    command = [sys.executable, "-m", __name__, *(["--keep-open"] if keep_open else [])]
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            env={**os.environ, **_settings(browser, port)}, start_new_session=True,
        )  # fmt: skip
        try:
            _hand_over(film, child)
            _wait_for_browser(child, port, patience)
            child.wait()
        finally:
            _end(child)
        if child.returncode != 0:
            errors.seek(0)
            said = errors.read().strip().splitlines() or ["it said nothing"]
            raise PartError(f"animate: the window failed: {said[-1]}.", code="machine")


def _settings(browser: bool, port: int) -> dict[str, str]:
    """The environment of the other process: where it serves and finds its modules."""
    settings = {
        "VPYTHON_HTTP_PORT": str(port),
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    return settings if browser else settings | {"VPYTHON_NO_LAUNCH_BROWSER": "1"}


def _hand_over(film: bytes, child: subprocess.Popen[bytes]) -> None:
    """Write the film, preceded by its length, into the pipe."""
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has ended, and its output says why
        child.stdin.write(len(film).to_bytes(LENGTH, "little") + film)
        child.stdin.flush()


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the other process if it still runs, and close its pipes."""
    if child.poll() is None:
        child.kill()
    child.wait()
    assert child.stdin is not None
    assert child.stdout is not None
    for pipe in (child.stdin, child.stdout):
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


def _wait_for_browser(child: subprocess.Popen[bytes], port: int, patience: float) -> None:
    ear = threading.Thread(target=_first_line, args=(child,), daemon=True)
    ear.start()
    ear.join(patience)
    if ear.is_alive():
        raise PartError(
            f"animate: no browser has opened http://localhost:{port} within {patience:g} s; open "
            "it yourself, or give more patience=.",
            code="machine",
        )


def _first_line(child: subprocess.Popen[bytes]) -> None:
    """Wait until the other process writes something, or has ended."""
    assert child.stdout is not None
    child.stdout.readline()


# --- the other process ----------------------------------------------------------------------------
def bind_locally() -> None:
    """Make servers of this process listen to this machine alone, and serve pages only when the
    socket exists to which they will connect.

    A page asks for its socket once; if asked too early, as on a busy machine, it would stay empty
    for ever. A browser may also open connections without sending anything yet, so each connection
    has a thread."""
    import asyncio.base_events
    import http.server

    loop: Any = asyncio.base_events.BaseEventLoop
    web: Any = http.server
    create, listening = loop.create_server, threading.Event()

    async def create_server(
        self: Any, factory: Callable[[], Any], host: Any = None, *rest: Any, **more: Any
    ) -> Any:
        server = await create(self, factory, HERE, *rest, **more)
        listening.set()
        return server

    class Pages(http.server.ThreadingHTTPServer):
        def __init__(self, address: tuple[str, int], *rest: Any, **more: Any) -> None:
            super().__init__((HERE, address[1]), *rest, **more)

        def serve_forever(self, poll_interval: float = 0.5) -> None:
            listening.wait(SOCKET_PATIENCE)
            super().serve_forever(poll_interval)

    loop.create_server, web.HTTPServer = create_server, Pages


def end_with_parent() -> None:
    """Wait for the pipe to close, which happens however the parent ends, and end this process."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main(keep_open: bool) -> None:
    """Show the film received through the pipe; VPython ends this process when its window is
    closed."""
    size = int.from_bytes(sys.stdin.buffer.read(LENGTH), "little")
    film = Film.unpack(sys.stdin.buffer.read(size))
    threading.Thread(target=end_with_parent, daemon=True).start()
    bind_locally()
    import vpython  # returns when a browser is connected

    player = Player(vpython, film)
    print(OPENED, flush=True)
    player.play(keep_open)
    time.sleep(0.3)  # the last picture is being sent
    os._exit(0)  # VPython's threads would continue


if __name__ == "__main__":
    main("--keep-open" in sys.argv)
