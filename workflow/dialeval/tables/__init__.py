"""Tables: their columns, their names, and reading and writing them."""

from dialeval.tables.files import HUMAN, count_rows, iterate_rows, read_name, read_table, read_tables

__all__ = ["HUMAN", "count_rows", "iterate_rows", "read_name", "read_table", "read_tables"]
