"""A force of your own: two cubes afloat on a tether that pulls with the cube of its stretch.

The class is a dozen lines.  It moves cubes here and in another process, and goes through JSON; the
compiled form of it costs what a built-in spring costs.  The time until the tether is as long as at
rest has a closed form: with the stretch A at the start, mu half the mass of a cube and k the
stiffness, it is sqrt(2 mu / k) / A times the integral of 1 / sqrt(1 - u^4) from 0 to 1."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import quirkpy as qp
from quirkpy import triples

LENGTH, STRETCH, STIFFNESS, MASS = 0.3, 0.1, 20.0, 1.0  # [m], [m], [N/m3], [kg]
LEMNISCATE = 1.3110287771460599  # the integral


class Tether(qp.Force):
    """Tension k s^3, where s is the stretch.  U = k s^4 / 4."""

    first: qp.Site
    second: qp.Site
    stiffness: float  # [N/m3]
    length: float  # [m]

    def load(self, at: qp.MotionView) -> dict[qp.Body, qp.Wrench]:
        one, two = at[self.first].position, at[self.second].position
        apart = float(np.linalg.norm(two - one))
        pull = self.stiffness * (apart - self.length) ** 3 * (two - one) / apart
        return {
            self.first.body: qp.Wrench(pull, point=one),
            self.second.body: qp.Wrench(-pull, point=two),
        }

    def potential(self, at: qp.MotionView) -> float:
        apart = np.linalg.norm(at[self.second].position - at[self.first].position)
        return 0.25 * self.stiffness * float(apart - self.length) ** 4


class FastTether(qp.CompiledForce):
    """The same, compiled."""

    first: qp.Site
    second: qp.Site
    stiffness: float
    length: float

    @staticmethod
    def law(first, second, stiffness, length):  # type: ignore[no-untyped-def]
        d = triples.sub(second.position, first.position)
        apart = triples.norm(d)
        pull = triples.scale(stiffness * (apart - length) ** 3 / apart, d)
        return qp.Wrench(pull), qp.Wrench(triples.scale(-1.0, pull))

    @staticmethod
    def energy(first, second, stiffness, length):  # type: ignore[no-untyped-def]
        d = triples.sub(second.position, first.position)
        return 0.25 * stiffness * (triples.norm(d) - length) ** 4


def tethered(kind: type[qp.Force]) -> qp.Multibody:
    """Two cubes at rest, the tether between their centres."""
    a = qp.Body.box("A", size=(0.1, 0.1, 0.1), mass=MASS)
    b = qp.Body.box("B", size=(0.1, 0.1, 0.1), mass=MASS, position=(LENGTH + STRETCH, 0, 0))
    return qp.Multibody(a, b, kind("tether", a.site("eye"), b.site("eye"), STIFFNESS, LENGTH))


def slack(system: qp.Multibody) -> qp.Trajectory:
    """Until the tether is as long as at rest."""
    return system.simulate(
        100.0,
        rtol=1e-11,
        atol=1e-13,
        stop=[
            qp.When("slack", lambda s: np.linalg.norm(s["B"].position - s["A"].position) - LENGTH)
        ],
    )


def slack_from(text: str, module: str) -> float:
    """The same from JSON, whose classes stand in a module: what a worker process is asked."""
    return float(slack(qp.from_json(text, modules=[module])).t[-1])


def main() -> dict[str, float]:
    """Tell the story; return its numbers."""
    exact = math.sqrt(MASS / STIFFNESS) / STRETCH * LEMNISCATE
    told: dict[str, float] = {"exact": exact}
    print(f"Closed form: the tether is slack after {exact:.9f} s.\n")
    texts = []
    for kind in (Tether, FastTether):
        system = tethered(kind)
        run, text = slack(system), qp.to_json(system)
        word, drift = kind.__name__, float(np.ptp(run.energy) / run.energy[0])
        assert qp.from_json(text, modules=[__name__]) == system
        texts.append(text)
        told |= {word: float(run.t[-1]), f"{word} drift": drift}
        print(
            f"  {word:11} {run.t[-1]:.9f} s, after {run.counts.steps} steps; energy kept to "
            f"{drift:.1e}."
        )
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for kind, there in zip(
            (Tether, FastTether), pool.map(slack_from, texts, [__name__] * 2), strict=True
        ):
            told[f"{kind.__name__} there"] = there
            print(f"  {kind.__name__:11} {there:.9f} s, from JSON in a process of its own.")
    return told


if __name__ == "__main__":
    main()
