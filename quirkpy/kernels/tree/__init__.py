"""Accelerations and corrections: recursion over the tree, loops closed, stops that hold."""
