"""A linear model of a folding arm: frequency response, norms, and a push in time, beside the
simulation.

Two rods lie in line on sprung, damped hinges.  The input is a force across the outer rod, at its
middle; the output is the angle of the outer hinge."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from scipy import signal

import quirkpy as qp

LENGTH, MASS = 0.5, 0.8  # [m], [kg]
STIFFNESS, DAMPING = (2.0, 1.0), (0.05, 0.02)  # [N m/rad], [N m s/rad]
FREQUENCIES = (0.1, 1.0, 3.0, 10.0)  # [rad/s]
PUSH, SECONDS = 1e-5, 10.0  # [N], [s]

inner = qp.Body.rod("inner", (0, 0, 0), (LENGTH, 0, 0), MASS)
outer = qp.Body.rod("outer", (LENGTH, 0, 0), (2 * LENGTH, 0, 0), MASS)
shoulder = qp.Revolute("shoulder", qp.GROUND, inner, at=(0, 0, 0), axis=(0, 0, 1))
elbow = qp.Revolute("elbow", inner, outer, at=(LENGTH, 0, 0), axis=(0, 0, 1))
springs = [
    qp.HingeSpring(f"spring of the {joint.name}", joint, stiffness=k, damping=c)
    for joint, k, c in zip((shoulder, elbow), STIFFNESS, DAMPING, strict=True)
]
arm = qp.Multibody(inner, outer, shoulder, elbow, *springs)
push = qp.Load("push", outer, force=(0, PUSH, 0))


def response(model: signal.StateSpace, frequencies: Sequence[float] | np.ndarray) -> np.ndarray:
    """The transfer function at angular frequencies [rad/s].

    SciPy goes through polynomials and warns of leading coefficients that are nothing but rounding,
    as those from any force to any angle are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", signal.BadCoefficients)
        return np.asarray(signal.freqresp(model, frequencies)[1])


def main() -> dict[str, float]:
    """Tell the story; return its numbers."""
    rest = arm.settle()
    print(rest.explain())
    model = arm.linearize(rest.state, inputs=["outer.force"], outputs=["elbow"])
    across = model.inputs.index("outer.force.y")
    single = signal.StateSpace(model.A, model.B[:, [across]], model.C, model.D[:, [across]])

    print(
        "\nFrom the force to the angle of the elbow:\n   rad/s        gain [dB]      phase "
        "[degrees]"
    )
    gains = response(single, FREQUENCIES)
    for frequency, gain in zip(FREQUENCIES, gains, strict=True):
        print(
            f"  {frequency:6.2f} {20.0 * math.log10(abs(gain)):15.4f} "
            f"{math.degrees(np.angle(gain)):15.4f}"
        )

    print(
        f"\nOf all three forces: H2 norm {model.h2():.6f}, H-infinity norm {model.hinf():.6f} rad/N"
    )
    grid = np.linspace(0.0, 4.0 * max(abs(model.poles)), 40001)
    highest = float(abs(response(single, grid)).max())
    print(f"The highest gain on a fine grid of frequencies: {highest:.6f}")

    t, linear = signal.step(single, T=np.linspace(0.0, SECONDS, 201))
    run = arm.with_(push).at(rest.state).simulate(SECONDS, rtol=1e-12, atol=1e-16)
    moved = np.array([run.at(rest.state.t + seconds)["elbow"].angle for seconds in t])
    apart = float(abs(moved / PUSH - linear).max() / abs(linear).max())
    print(
        f"\nA steady push of {PUSH:g} N from t = 0: simulation and model differ by {apart:.1e} of "
        "the largest angle."
    )
    return {
        **{
            f"gain at {frequency:g}": float(abs(gain))
            for frequency, gain in zip(FREQUENCIES, gains, strict=True)
        },
        "slowest": rest.modes[0].frequency,
        "h2": model.h2(),
        "hinf": model.hinf(),
        "highest": highest,
        "apart": apart,
    }


if __name__ == "__main__":
    main()
