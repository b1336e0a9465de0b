"""The records of a graph: nodes, outcomes, edges, costs; systems with some pairs held."""
