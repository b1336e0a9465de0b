"""Constants of nature and of floating-point numbers that are used in several packages."""

import numpy as np

#: Magnetic constant over 4 pi, mu0 / (4 pi) [T m/A].
MU0_4PI = 1e-7
#: Relative rounding of one floating-point number (the spacing of numbers at 1) [1].
EPS = float(np.finfo(float).eps)
#: Least divisor [of any unit], which keeps a quotient finite if its divisor may be zero.
TINY = 1e-300
#: Relative singular value below which directions depend on each other [1].
DEPENDENT = 1e-9
