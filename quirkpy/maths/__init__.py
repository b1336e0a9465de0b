"""Mathematics without mechanics: rotations, eigenvalues, differences; angles that look like
degrees; records."""
