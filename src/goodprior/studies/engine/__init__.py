"""Studies, their jobs, the store of results and the workers."""
