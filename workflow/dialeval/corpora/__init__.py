"""Readers of human dialogues, one module per kind of source."""
