"""The tables that pass between stages: one constant each, with its columns."""
