"""Readers of human dialogues, rated items, transcripts and battles; a module for each kind of source.

Every reader raises `UserError` for what it cannot read; the message has the file, the line or record, the field, the
value and the remedy. `notes` counts remarks, to which a reader adds.
"""
