"""Clusters that run the jobs: what Slurm knows about them, and whether a cluster can run them at all."""
