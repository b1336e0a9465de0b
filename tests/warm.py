"""Importing this loads all that explorations run, machine code included: for a process that others are forked from."""

from tests.studies import far_pair

far_pair().explore(progress=False)
