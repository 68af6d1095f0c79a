"""Figures, one module per paper: tables in, matplotlib figures out."""
