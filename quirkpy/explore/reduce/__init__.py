"""Reductions: results that follow from other runs, or without any; and the list of known nodes."""
