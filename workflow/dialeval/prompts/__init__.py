"""Prompt templates and the rendering of dialogues into messages."""
