"""A system in motion: settings, driver, events, and the one result, a `Trajectory`."""
