# SPDX-License-Identifier: BSD-3-Clause
# Is that a verdict, each value of its type, and null only where it may be? For jq -e -f.
def null_or($kind): . == null or type == $kind;
def share: . == null or (type == "number" and . >= 0 and . <= 1);
def texts: type == "array" and all(type == "string");
def pole:
	keys == ["cost_rank_s", "file", "function", "gain_s", "gain_share", "if", "line", "path_s", "path_share", "ranks",
		"site", "times_the_mean", "what"] and
	(.ranks | length > 0 and all(type == "number" and . >= 0)) and
	(.what | IN("compute", "blocked", "preempted", "threads", "mpi", "transfer", "polling", "stuck")) and
	all(.function, .file, .site, .if; null_or("string")) and
	all(.path_s, .times_the_mean, .cost_rank_s, .gain_s, .gain_share; null_or("number")) and
	(.line | . == null or . > 0) and (.path_share | share) and
	(.function != null or (.file == null and .line == null)) and
	(.gain_s == null) == (.if == null) and (.gain_s == null) == (.gain_share == null);
def trust:
	keys == ["clock_error_ns", "cores", "level", "off_core_share", "others_share", "preempted_share", "ranks", "reasons",
		"samples", "threads"] and
	(.level | IN(null, "good", "fair", "poor")) and (.reasons | texts) and
	all(.cores, .ranks, .threads, .samples, .clock_error_ns; null_or("number")) and
	all(.preempted_share, .off_core_share, .others_share; share) and
	(.level == "good" or .level == null) == (.reasons == []);

keys == ["long_pole", "next", "sentence", "trust"] and (.sentence | type == "string" and length > 0) and
	(.long_pole | . == null or pole) and (.trust | trust) and
	(.next | type == "array" and length <= 2 and all(pole))
