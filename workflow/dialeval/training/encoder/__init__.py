"""Training of encoders to score: PoE's panel for turns, FineD-Eval's ranking heads for dialogues."""
