"""The paper's protocols: problems, methods and lengths of runs."""
