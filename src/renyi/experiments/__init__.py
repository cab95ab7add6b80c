"""The paper's experiments, as code anyone can run."""
