"""One thin command per rule: `python -m dialeval.stages.<stage> --help`. Usable by hand, without Snakemake."""
