"""Dialogues put into other languages by a model, an utterance at a time, and how good that is (xDial-Eval, 3.2)."""
