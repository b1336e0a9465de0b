"""A simple pendulum, IFToMM benchmark A01: a point mass on a massless rod, let go level.

The rod is a constant distance, so the mass is a body that nothing turns.

    quirkpy simulate demos/mechanisms/pendulum.py --report run.html
"""

from __future__ import annotations

import quirkpy as qp

LENGTH, MASS, G = 1.0, 1.0, 9.81  # [m], [kg], [m/s2]
SECONDS = 10.0

bob = qp.Body.sphere("bob", radius=0.05, mass=MASS, position=(-LENGTH, 0.0, 0.0))
rod = qp.Distance("rod", qp.GROUND, bob, at1=(0.0, 0.0, 0.0))
system = qp.Multibody(bob, rod, qp.Gravity((0.0, -G, 0.0)))


def main() -> dict[str, float]:
    """Swing for ten seconds; tell where the mass is, how fast, and what the energy did."""
    run = system.simulate(SECONDS, rtol=1e-12, atol=1e-13, progress=False)
    x, y, _ = run.final["bob"].position
    u, v, _ = run.final["bob"].velocity
    print(f"after {SECONDS:g} s the bob is at x = {x:.9f} m, y = {y:.9f} m")
    return {"x": x, "y": y, "u": u, "v": v, "energy": float(abs(run.energy - run.energy[0]).max())}


if __name__ == "__main__":
    main()
