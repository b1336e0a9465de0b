"""Users' own forces, joints and laws, called from kernels; tables packed for them."""
