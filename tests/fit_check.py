#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
tests/fit_check.py TABLE... - compares lp-fit with Gauss-Newton in numpy, from the paper's equations: equation 1, and
equation 6 at the f of lp-fit's rule. Parameters and standard errors must agree to 1e-5.
"""
import json
import subprocess
import sys

import numpy as np


def share(n, b, c):
    return b / (c + 1) - b / (c + n)


def log_time(n, b, c, f, t1):
    amdahl = f * t1 + (1 - f) * t1 / n
    return np.log(amdahl * (1 + b * (n - 1) / ((1 + c - b) * n + b + c + c * c)))


def gauss_newton(model, wanted, start):
    p = np.array(start)
    for _ in range(30):
        steps = 1e-5 * p
        slopes = np.array([(model(*(p + s)) - model(*(p - s))) / (2 * s[i])
                           for i, s in enumerate(np.diag(steps))]).T
        left = wanted - model(*p)
        p = p + np.linalg.solve(slopes.T @ slopes, slopes.T @ left)
    variance = left @ left / (len(wanted) - len(p))
    return [*p, *np.sqrt(variance * np.diag(np.linalg.inv(slopes.T @ slopes)))]


def main():
    bad = 0
    for table in sys.argv[1:]:
        fit = json.loads(subprocess.run(["lp-fit", "--paper", "-F", "json", table],
                                        stdout=subprocess.PIPE, check=True).stdout)
        n, t, tau = np.array([[p["n"], p["t"], p["tau"]] for p in fit["points"]]).T
        for key, model, wanted in (
                ("equation1", lambda b, c: share(n, b, c), tau / t),
                ("equation6", lambda b, c: log_time(n, b, c, fit["equation6"]["f"], t[0]), np.log(t))):
            got = [fit[key][k] for k in ("b", "c", "b_se", "c_se")]
            own = gauss_newton(model, wanted, [0.98 * got[0], 1.02 * got[1]])
            off = max(abs(g / o - 1) for g, o in zip(got, own))
            print(f"{fit['name']}\t{key}\t{off:.1e}")
            bad += not off < 1e-5
    return 1 if bad else 0


sys.exit(main())
