# SPDX-License-Identifier: BSD-3-Clause
# Makes tests/reference/statistics.txt: 1000 random cases and 20 corrections with the answers of R.
#   Rscript tests/reference/statistics.R > tests/reference/statistics.txt
set.seed(20150501)
cat("#", R.version.string, "\n")
cat("# wilcox.test greater, less, two.sided, greater with exact=FALSE; shift and 95 % interval;\n")
cat("# ks.test of y and x (\"greater\": y's distribution function above x's); - where none is exact\n")
number <- function(v) sprintf("%.15g", v)
for (i in 1:1000) {
	m <- sample(2:14, 1); n <- sample(2:14, 1)
	if (i %% 50 == 0) { m <- sample(40:60, 1); n <- sample(40:60, 1) }
	shift <- sample(c(0, 0.5, 1, 3), 1)
	x <- rnorm(m, 10 + shift); y <- rnorm(n, 10)
	# A third of the cases with many ties, a third with few, a third with none.
	if (i %% 3 == 0) { x <- round(x); y <- round(y) }
	if (i %% 3 == 1) { x <- round(x, 1); y <- round(y, 1) }
	x <- as.numeric(number(x)); y <- as.numeric(number(y))
	p <- function(a, ...) suppressWarnings(wilcox.test(x, y, alternative = a, ...))
	tied <- any(duplicated(c(x, y)))
	exact <- !tied && m < 50 && n < 50
	values <- c(p("greater")$p.value, p("less")$p.value, p("two.sided")$p.value,
		p("greater", exact = FALSE)$p.value)
	values[is.nan(values)] <- 1
	text <- number(values)
	if (exact) {
		ci <- p("two.sided", conf.int = TRUE)
		text <- c(text, number(c(ci$estimate, ci$conf.int)))
	} else text <- c(text, "-", "-", "-")
	ks <- if (m < 50 && n < 50)
		suppressWarnings(ks.test(y, x, alternative = "greater", exact = TRUE)$p.value) else NA
	text <- c(text, if (is.na(ks)) "-" else number(ks))
	cat("x", number(x), "\n"); cat("y", number(y), "\n"); cat("r", text, "\n")
}
for (i in 1:20) {
	p <- as.numeric(number(runif(12)^sample(1:6, 1)))
	for (how in c("none", "holm", "BH")) cat("p", how, number(p.adjust(p, how)), "\n")
}
