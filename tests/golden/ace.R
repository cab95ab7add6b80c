# R² of alternating conditional expectations by acepack, both ways round, and super smooths by R's own supsmu.
#
#   python tests/golden/samples.py DIRECTORY
#   Rscript tests/golden/ace.R DIRECTORY > tests/golden/ace.csv
#
# Where values are tied, acepack sorts equal ones in an order of its own, which is told too (counted from 0).

library(acepack)

folder <- commandArgs(trailingOnly = TRUE)[1]

show <- function(case, quantity, values) {
  cat(sprintf("\"%s\",%s,%s\n", case, quantity, paste(sprintf("%.17g", values), collapse = " ")))
}

sample_of <- function(case) read.csv(file.path(folder, sprintf("scalar - %s.csv", case)))

cat(sprintf("# %s, acepack %s\n", R.version.string, packageVersion("acepack")))
cat("case,quantity,values\n")
cases <- sub("^scalar - (.*)\\.csv$", "\\1", list.files(folder, pattern = "^scalar"))
for (case in sort(cases, method = "radix")) {
  data <- sample_of(case)
  found <- ace(data$x0, data$y0)
  show(case, "rsq", found$rsq)
  swapped <- ace(data$y0, data$x0)
  show(case, "rsq swapped", swapped$rsq)
  if (anyDuplicated(data$x0) || anyDuplicated(data$y0)) {
    orders <- matrix(found$m, ncol = 2) - 1
    show(case, "order x", orders[, 1])
    show(case, "order y", orders[, 2])
  }
}
for (case in c("sine", "independent 50", "heavy tails", "6 rows")) {
  data <- sample_of(case)
  for (bass in c(0, 2, 5)) show(case, sprintf("supsmu %d", bass), supsmu(data$x0, data$y0, bass = bass)$y)
}
