# Distance correlation by R's package energy: the V-statistic (dcor) and the bias-corrected square (bcdcor).
#
#   python tests/golden/samples.py DIRECTORY && Rscript tests/golden/dcor.R DIRECTORY > tests/golden/dcor.csv
#
# One line for each sample of golden/samples.py, with 17 digits.

library(energy)

cat(sprintf("# %s, energy %s\n", R.version.string, packageVersion("energy")))
cat("kind;sample;dcor;dcor_half;bcdcor\n")
for (path in sort(list.files(commandArgs(TRUE)[1], pattern = "[.]csv$", full.names = TRUE))) {
  data <- as.matrix(read.csv(path))
  x <- data[, startsWith(colnames(data), "x"), drop = FALSE]
  y <- data[, startsWith(colnames(data), "y"), drop = FALSE]
  kind <- sub(" - .*", "", basename(path))
  sample <- sub("[.]csv$", "", sub("^[a-z]+ - ", "", basename(path)))
  cat(sprintf("%s;%s;%.17g;%.17g;%.17g\n", kind, sample, dcor(x, y), dcor(x, y, index = 0.5), bcdcor(x, y)))
}
