"""`Live`: a page in a browser that asks this process, through a server for this machine alone.

The address holds a secret, requests by another name than that of this machine are refused, and so
are pages of other origins: no other page in the browser, and no other machine, can ask. Questions
are answered one after the other, in a thread of their own."""

from __future__ import annotations

import contextlib
import html
import importlib.util
import json
import secrets
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from quirkpy.parts.checks import positive
from quirkpy.parts.part import PartError, check_argument, sentence_of
from quirkpy.views.report import finite

HERE = "127.0.0.1"
#: Largest question [bytes].
LONGEST = 100_000
#: Time between two signs of life that are sent to a page [s].
BEAT = 0.5
#: A page that is not there again after this time was closed, not loaded anew [s].
GONE = 2.0


class LivePage(Protocol):
    """What a page shows, and the answers to what it asks."""

    def page(self) -> str:
        """The page as text."""
        ...

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question."""
        ...


class Live:
    """A page that is open for questions: `url`, its address, and `close`; in a notebook it is
    displayed below its cell."""

    def __init__(self, make: Callable[[], LivePage], port: int = 0) -> None:
        self._worker = ThreadPoolExecutor(1, "quirkpy live")
        self._shown = self._ask(make)
        try:
            self._server = ThreadingHTTPServer((HERE, port), handler_for(self))
        except (OSError, OverflowError) as error:
            raise PartError(
                f"show: port {port} cannot be used: {sentence_of(error)}; leave port out.",
                code="machine",
            ) from None
        self._server.daemon_threads = True
        self.secret = secrets.token_urlsafe(16)
        self.pages = 0  # that are open now
        self.opened, self._changed = 0, threading.Condition()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The address of the page, for browsers on this machine."""
        return f"http://{self.host}/{self.secret}/"

    @property
    def host(self) -> str:
        """Name and port of the server."""
        return f"{HERE}:{self.port}"

    @property
    def port(self) -> int:
        """The port of the server."""
        return int(self._server.server_address[1])

    def page(self) -> str:
        """The page as text."""
        return self._ask(self._shown.page)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question of the page."""
        return self._ask(lambda: self._shown.answer(asked))

    def _ask(self, what: Callable[[], Any]) -> Any:
        return self._worker.submit(what).result()

    @contextlib.contextmanager
    def counted(self) -> Any:
        """Count a page as open for the duration of a block."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._changed:
            self.pages += change
            self.opened += max(change, 0)
            self._changed.notify_all()

    def wait(self, patience: float) -> None:
        """Wait until the page was opened, for no longer than `patience` [s], and then until it is
        closed."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.opened > 0, patience):
                raise PartError(
                    f"show: no browser has opened {self.url} within {patience:g} s; open it "
                    "yourself, or give more patience=.",
                    code="machine",
                )
            while True:
                self._changed.wait_for(lambda: self.pages == 0)
                if not self._changed.wait_for(lambda: self.pages > 0, GONE):
                    return

    def close(self) -> None:
        """End the server; the page stays as it is."""
        self._server.shutdown()
        self._server.server_close()
        self._worker.shutdown(wait=False)

    def _repr_html_(self) -> str:
        style = "width:100%;height:720px;border:0"
        return f'<iframe src="{html.escape(self.url)}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return f"Live({self.url})"


def handler_for(live: Live) -> type[BaseHTTPRequestHandler]:
    """The answers of a server to its requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self._is_known("/"):
                self._send(200, "text/html", live.page().encode())
            elif self._is_known("/stay"):
                self._stay()
            else:
                self._send(404, "text/plain", b"There is nothing here.\n")

        def do_POST(self) -> None:
            size = self.headers.get("Content-Length", "")
            if not self._is_known("/ask") or not size.isdigit() or int(size) > LONGEST:
                self.close_connection = True
                self._send(404, "text/plain", b"There is nothing here.\n")
                return
            try:
                asked = json.loads(self.rfile.read(int(size)))
                code, told = 200, finite(live.answer(asked))
            except Exception as error:  # told to the page; the server goes on
                code, told = 400, {"error": sentence_of(error) + "."}
            self._send(code, "application/json", json.dumps(told).encode())

        def _is_known(self, path: str) -> bool:
            """Whether a request comes from the page: by the name of this machine, with the secret,
            and from no other origin."""
            host = self.headers.get("Host")
            origin = self.headers.get("Origin", f"http://{host}")
            return (
                host in (live.host, f"localhost:{live.port}")
                and origin == f"http://{host}"
                and secrets.compare_digest(self.path.encode(), f"/{live.secret}{path}".encode())
            )

        def _stay(self) -> None:
            """Send a sign of life now and then, until the page is closed."""
            self._begin(200, "text/event-stream")
            with live.counted(), contextlib.suppress(OSError):
                while True:
                    self.wfile.write(b":\n\n")
                    time.sleep(BEAT)

        def _begin(self, code: int, kind: str, *more: tuple[str, str]) -> None:
            self.send_response(code)
            known = ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")
            for name, value in (("Content-Type", f"{kind}; charset=utf-8"), *known, *more):
                self.send_header(name, value)
            self.end_headers()

        def _send(self, code: int, kind: str, body: bytes) -> None:
            with contextlib.suppress(OSError):  # the page was closed meanwhile
                self._begin(code, kind, ("Content-Length", str(len(body))))
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    return Handler


# --- where it is shown ----------------------------------------------------------------------------
def show(
    make: Callable[[], LivePage],
    browser: bool,
    port: int | None,
    patience: float,
    wait: bool | None,
) -> Live:
    """Open a page, and wait until it is closed; in a notebook and at a prompt return at once."""
    limit = check_argument("show", "patience", patience, positive)
    notebook = in_notebook()
    live = Live(make, port or 0)
    try:
        if browser and not notebook:
            open_browser(live.url)
        elif not notebook:
            print(f"show: open {live.url} in a browser on this machine.", flush=True)
        if not at_prompt() if wait is None else wait:
            live.wait(limit)
            live.close()
    except BaseException:
        live.close()
        raise
    return live


def open_browser(url: str) -> None:
    """Open an address in the user's browser."""
    try:
        opened = webbrowser.open(url)
    except webbrowser.Error:
        opened = False
    if not opened:
        raise PartError(
            "show: no browser could be opened; browser=False prints the address for one that you "
            "open yourself, and run.report('run.html') writes a page.",
            code="machine",
        )


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    if "IPython" not in sys.modules or importlib.util.find_spec("ipykernel") is None:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return getattr(shell, "kernel", None) is not None


def at_prompt() -> bool:
    """Whether someone types at a prompt, or in a notebook."""
    return in_notebook() or hasattr(sys, "ps1") or bool(sys.flags.interactive)
