# Canonical correlations of random copula features by R's own cancor, as the paper defines them.
#
#   Rscript tests/golden/cancor.R > tests/golden/cancor.csv
#
# Each case prints its data, its frequencies (last row: phases) and all correlations, with 17 digits, one number a line.

show <- function(case, quantity, values) {
  values <- as.matrix(values)
  for (j in seq_len(ncol(values))) for (i in seq_len(nrow(values)))
    cat(sprintf("%s,%s,%d,%d,%.17g\n", case, quantity, i - 1, j - 1, values[i, j]))
}

ranked <- function(data) apply(as.matrix(data), 2, function(column) ecdf(column)(column))

frequencies <- function(d, k, s) rbind(matrix(rnorm(d * k, 0, s / sqrt(d)), d, k), runif(k, -pi, pi))

augmented <- function(data, w) {
  angle <- cbind(ranked(data), 1) %*% w
  cbind(cos(angle), sin(angle))
}

golden <- function(case, x, y, k, s) {
  wx <- frequencies(ncol(as.matrix(x)), k, s)
  wy <- frequencies(ncol(as.matrix(y)), k, s)
  show(case, "x", x); show(case, "y", y); show(case, "wx", wx); show(case, "wy", wy)
  show(case, "cor", cancor(augmented(x, wx), augmented(y, wy))$cor)
}

cat(sprintf("# %s\n", R.version.string))
cat("case,quantity,row,column,value\n")
set.seed(1960)
n <- 160
x <- rnorm(n); y <- x^2 + rnorm(n) / 4
golden("scalars", x, y, 3, 12)
golden("scalars-tied", round(x, 1), round(y, 1), 3, 12)
golden("scalars-rough", x, y, 10, 50)
golden("scalars-rough-independent", runif(n), runif(n), 10, 50)
a <- matrix(rnorm(3 * n), n, 3); b <- cbind(a[, 1] * a[, 2], rnorm(n))
golden("vectors", a, b, 6, 12)
golden("vectors-tied", round(a), round(b, 1), 6, 12)
golden("scalar-and-vector", sin(2 * a[, 3]) + rnorm(n) / 5, a, 4, 12)
