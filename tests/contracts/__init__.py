"""One suite for every door into the package: the same tables must give the same answers, and the same refusals."""
