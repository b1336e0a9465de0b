"""Constants of nature and of floating-point numbers that more than one room needs."""

import numpy as np

#: Magnetic constant over 4 pi, mu0 / (4 pi) [T m/A].
MU0_4PI = 1e-7
#: Relative rounding of one floating-point number (the spacing of numbers at 1) [1].
EPS = float(np.finfo(float).eps)
