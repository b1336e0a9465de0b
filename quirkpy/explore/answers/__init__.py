"""What a graph answers: routes, plans, replays, robustness."""
