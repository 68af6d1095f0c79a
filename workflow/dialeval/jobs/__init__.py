"""What the process of a job or a run sets up first: imports, garbage collection, output, settings from the run."""
