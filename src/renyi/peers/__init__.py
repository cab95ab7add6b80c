"""The paper's other coefficients and later ones: one file each, one small protocol, one registry."""
