"""What the processes of a run share: start and end, progress, the failure summary, and the cluster they run on."""
