"""Families of systems: functions that return ordinary parts."""
