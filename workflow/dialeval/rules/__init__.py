"""What the rules of the workflow take from the library: parameters of stages, groups, resources, hooks.

Snakemake reads all of this at every planning and in every job on a cluster, so nothing here imports a stage. No stage
imports anything of this, so that none of it is part of a stage's fingerprint: Snakemake compares the parameters.
"""
