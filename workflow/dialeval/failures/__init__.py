"""Failures that rules find in dialogues, without a model: self-identification, excessive length, repetition."""
