"""What stands in a folder of the user's own in which `snakemake` runs the workflow."""
