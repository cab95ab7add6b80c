# The maximal information coefficient and its kin by minerva, on the samples of numbers of samples.py.
#
#   python tests/golden/samples.py DIRECTORY
#   Rscript tests/golden/mic.R DIRECTORY > tests/golden/mic.csv
#
# For each sample and setting: the largest entry of the characteristic matrix (mic) and the mean of its entries (tic),
# and the same with x and y in each other's place.

library(minerva)

folder <- commandArgs(trailingOnly = TRUE)[1]
cat(sprintf("# %s, minerva %s\n", R.version.string, packageVersion("minerva")))
cat("sample;estimator;alpha;c;mic;tic;swapped mic;swapped tic\n")
settings <- list(list(0.6, 15), list(0.8, 5), list(0.9, 2))

# mine itself answers 0 where the variance of x is below 1e-5, whatever the scale; mine_stat does not look at it.
found <- function(x, y, estimator, setting) {
  value <- function(measure) mine_stat(x, y, alpha = setting[[1]], C = setting[[2]], est = estimator, measure = measure,
                                       norm = TRUE)
  sprintf("%.17g;%.17g", value("mic"), value("tic"))
}

for (path in list.files(folder, pattern = "^scalar - ")) {
  name <- sub("\\.csv$", "", sub("^scalar - ", "", path))
  data <- read.csv(file.path(folder, path))
  for (estimator in c("mic_approx", "mic_e")) for (setting in settings)
    cat(sprintf("%s;%s;%g;%g;%s;%s\n", name, estimator, setting[[1]], setting[[2]],
                found(data$x0, data$y0, estimator, setting), found(data$y0, data$x0, estimator, setting)))
}
