"""Verdicts become the tables of a paper: tables in, tables out, with the statistics of `dialeval.stats` between."""
