"""Generated pages of the documentation: `python -m dialeval.report.reference` writes them."""
