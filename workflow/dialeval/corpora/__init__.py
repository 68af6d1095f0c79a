"""Readers of human dialogues, rated items, transcripts and battles; a module for each kind of source."""
