"""What a graph is made of: nodes, outcomes, edges, costs; systems with some pairs held."""
