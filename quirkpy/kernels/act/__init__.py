"""What acts: forces, fields and magnets, as wrenches on bodies."""
