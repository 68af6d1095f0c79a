"""One thin command per rule: `python -m dialeval.stages STAGE --help`. Usable by hand, without Snakemake."""
