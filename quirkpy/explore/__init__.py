"""From a spacecraft with choices to the graph of all shapes into which it can fall."""
