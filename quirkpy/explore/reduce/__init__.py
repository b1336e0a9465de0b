"""Which runs speak for others: clusters, rigid poses, symmetry; nodes that are known."""
