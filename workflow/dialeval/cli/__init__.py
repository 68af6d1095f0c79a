"""The command `dialeval`: what is typed beside `snakemake`. It wraps the library and does nothing that it does not."""
