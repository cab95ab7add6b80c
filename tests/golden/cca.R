# Largest canonical correlation of every vector sample by R's own cancor.
#
#   python tests/golden/samples.py DIRECTORY && Rscript tests/golden/cca.R DIRECTORY > tests/golden/cca.csv

cat(sprintf("# %s\n", R.version.string))
cat("sample;value\n")
for (path in sort(Sys.glob(file.path(commandArgs(TRUE)[1], "vector - *.csv")))) {
  data <- as.matrix(read.csv(path))
  x <- data[, startsWith(colnames(data), "x"), drop = FALSE]
  y <- data[, startsWith(colnames(data), "y"), drop = FALSE]
  cat(sprintf("%s;%.17g\n", sub("^vector - (.*)\\.csv$", "\\1", basename(path)), cancor(x, y)$cor[1]))
}
