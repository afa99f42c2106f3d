# SPDX-License-Identifier: BSD-3-Clause
# Rscript pairs.R >pairs.txt: signed ranks as R has them, for tests/apps/statistics.c.
set.seed(7)
for (k in 1:200) {
  n <- sample(c(5:30, 45, 49, 50, 60), 1)
  d <- round(rnorm(n, mean=runif(1,-0.3,0.8)), sample(c(1,2,6),1))
  mu <- sample(c(0, 0, 0.1, -0.2), 1)
  p <- suppressWarnings(wilcox.test(d, mu=mu, alternative="greater", correct=TRUE)$p.value)
  e <- suppressWarnings(wilcox.test(d, mu=mu, conf.int=TRUE, conf.level=0.95, exact=NULL))
  ties <- any(duplicated(abs(d-mu))) || any(d==mu)
  small <- n < 50 && !ties
  cat("x", format(d, digits=15), "\n")
  cat("s", mu, format(p, digits=15), if (small && mu==0) format(e$estimate, digits=15) else "-", if (small&&mu==0) format(e$conf.int[1], digits=15) else "-", if (small&&mu==0) format(e$conf.int[2],digits=15) else "-", "\n")
}
