"""A boom that is spun up: it stiffens as it turns, and a model that forgets why says it falls over.

After T. R. Kane, R. R. Ryan and A. K. Banerjee ("Dynamics of a cantilever beam attached to a moving
base", J. Guidance 10(2), 139, 1987): 8 m of a tube of aluminium on a hub that a drive turns to 4
rad/s within 15 s, faster than the boom's lowest frequency at rest. Points of a beam that bends draw
near along it; with that, spin pulls it straight (`stiffening`, the default), and its tip lags by no
more than 0.534 m. Without it the tip runs away.

    python demos/spinning_boom.py                   the numbers
    python demos/spinning_boom.py out               and charts, a film and a page in a folder
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import quirkpy as qp

YOUNG, DENSITY, AREA, MOMENT = 6.895e10, 2766.67, 7.2968e-5, 8.2189e-9  # [Pa, kg/m3, m2, m4]
LENGTH, SPEED, SPIN_UP = 8.0, 4.0, 15.0  # [m], [rad/s], [s]


def spun_up(stiffening: bool = True) -> qp.Multibody:
    """The hub, which a drive turns, and the boom on it."""
    hub = qp.Body.cylinder("hub", 0.3, 0.4, 20.0, axis="z")
    boom = qp.Beam(
        "boom", start=(0.0, 0.0, 0.0), end=(LENGTH, 0.0, 0.0), EA=YOUNG * AREA, EI=YOUNG * MOMENT,
        GJ=0.4 * YOUNG * MOMENT, mass_per_length=DENSITY * AREA, modes=(0, 4, 0, 0), damping=0.0,
        stiffening=stiffening,
    )  # fmt: skip
    hinge = qp.Revolute("hinge", qp.GROUND, hub, at=(0, 0, 0), axis=(0, 0, 1))
    a = 2.0 * np.pi / SPIN_UP
    wave = SPEED / SPIN_UP / a**2
    motion = qp.Ramp(0.5 * SPEED / SPIN_UP) * qp.Ramp(1.0) + qp.Sine(wave, a, 0.5 * np.pi, -wave)
    root = qp.Fixed("root", hub, boom, at=(0.0, 0.0, 0.0))
    return qp.Multibody(hub, boom, hinge, root, qp.Prescribed("drive", hinge, motion))


def draw(run: qp.Trajectory, folder: Path) -> None:
    """The boom in space and on a page, and what turns it."""
    folder.mkdir(parents=True, exist_ok=True)
    run.picture(folder / "boom.png", eye=(0.0, -0.3, 1.0))
    run.movie(folder / "boom.mp4", eye=(0.0, -0.3, 1.0))
    run.report(folder / "boom.html")


def main(folder: str | None = None) -> dict[str, float]:
    """Spin the boom up with and without what stiffens it."""
    run = spun_up().simulate(SPIN_UP, rtol=1e-8, atol=1e-10, progress=False)
    soft = spun_up(stiffening=False).simulate(SPIN_UP, progress=False)
    lag, root = -run["boom"].tip[:, 1], run["boom"].section(0.0)
    worst = int(np.argmax(lag))
    pull = 0.5 * DENSITY * AREA * SPEED**2 * LENGTH**2
    print(
        f"the tip lags by up to {lag[worst]:.3f} m at {run.t[worst]:.2f} s, and is "
        f"{1e3 * abs(lag[-1]):.2f} mm off in the end\n"
        f"its root carries {abs(root.bending[:, 1]).max():.2f} N m, and in the end a tension of "
        f"{root.axial[-1]:.3f} N, that of a straight boom {pull:.3f} N\n"
        f"without foreshortening its tip is {abs(soft['boom'].tip[-1, 1]):.0f} m off after 15 s"
    )
    if folder is not None:
        draw(run, Path(folder))
    return {
        "lag": float(lag[worst]), "at": float(run.t[worst]),
        "root": float(abs(root.bending[:, 1]).max()), "tension": float(root.axial[-1] / pull),
        "soft": float(abs(soft["boom"].tip[-1, 1])),
    }  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:2])
