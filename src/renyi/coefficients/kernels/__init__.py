"""Sums over all pairs of rows of distances or kernels, and their null distribution: what dCor and HSIC share."""
