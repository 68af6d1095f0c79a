"""The command `dialeval`: what is typed beside `snakemake`. Every command calls functions of the library."""
