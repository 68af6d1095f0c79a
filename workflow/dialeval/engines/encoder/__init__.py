"""Trained metrics: an encoder with a head per expert, which scores turns (PoE-style) or dialogues (FineD-style)."""
