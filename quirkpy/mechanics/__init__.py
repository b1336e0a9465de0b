"""A system at one instant: state, accelerations, energy, reactions, clusters, rigid motion."""
