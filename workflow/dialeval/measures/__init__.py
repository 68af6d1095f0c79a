"""Judgements in, tables out: one function a table.

Functions of a protocol's measures take its table `judgements`, with the columns that a constant of the module names,
and its design (`design.Design`).
"""
