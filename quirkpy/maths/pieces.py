"""Connected components of objects joined in pairs."""

from __future__ import annotations

from collections.abc import Iterable


def firsts_of_pieces(n: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """The first object of the connected component of each of n objects; itself where it is the
    first, or alone."""
    above = list(range(n))

    def top(k: int) -> int:
        while above[k] != k:
            above[k] = above[above[k]]
            k = above[k]
        return k

    for a, b in pairs:
        first, other = sorted((top(a), top(b)))
        above[other] = first
    return [top(k) for k in above]
