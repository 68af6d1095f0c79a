"""Measures: the judgements of all judges under one protocol become one table, a module each."""
