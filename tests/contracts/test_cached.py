"""Values that are computed when first asked for: once, kept in the object, and by any threads
without waiting."""

from __future__ import annotations

import threading

from quirkpy.maths.cached import cached_property


class Twins:
    """Two values, each of which asks another object for the other."""

    def __init__(self, gate: threading.Barrier) -> None:
        self.gate, self.other, self.computed = gate, self, 0

    @cached_property
    def left(self) -> int:
        """Meets whoever computes `right`, and asks for that of another."""
        self.computed += 1
        self.gate.wait(10.0)
        return 1 + (self.other.right if self.other is not self else 0)

    @cached_property
    def right(self) -> int:
        """Meets whoever computes `left`, and asks for that of another."""
        self.computed += 1
        self.gate.wait(10.0)
        return 1 + (self.other.left if self.other is not self else 0)


def test_threads_do_not_wait_for_each_other() -> None:
    """One computes a left that asks for a right, the other a right that asks for a left, of four
    objects."""
    gate, found = threading.Barrier(2), {}
    a, b = Twins(gate), Twins(gate)
    a.other, b.other = Twins(gate), Twins(gate)

    def ask(name: str, of: Twins) -> None:
        found[name] = getattr(of, name)

    threads = [
        threading.Thread(target=ask, args=("left", a)),
        threading.Thread(target=ask, args=("right", b)),
    ]
    for thread in threads:
        thread.daemon = True
        thread.start()
    for thread in threads:
        thread.join(30.0)
    assert found == {"left": 2, "right": 2}


def test_a_value_is_computed_once_and_kept() -> None:
    twin = Twins(threading.Barrier(1))
    assert (twin.left, twin.left, twin.computed) == (1, 1, 1)
    assert vars(twin)["left"] == 1
    del twin.left
    assert (twin.left, twin.computed) == (1, 2)
