"""The command `dialeval`, for tasks beside `snakemake`. Every subcommand calls functions of the library."""
