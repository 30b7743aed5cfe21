"""What people and machines are told after a run, made from its records and nothing else."""
