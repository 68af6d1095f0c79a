"""Pages of the docs that are generated: each module writes the page of its name, `python -m dialeval.reference` all."""
