"""The subject of an exploration: pairs, options, rules, safety, and the identity of shapes."""
