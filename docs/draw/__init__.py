"""The pictures of parts: `card` is what they are drawn with, each other module has those of one
kind."""
