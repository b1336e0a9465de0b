"""What is explored: pairs, options, rules, what is safe, and when two poses are one shape."""
