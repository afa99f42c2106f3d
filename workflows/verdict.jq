# SPDX-License-Identifier: BSD-3-Clause
# The verdict in words: program, ranks, hosts and date, then what holds the run up, what it cost and what less of
# it would gain. Arguments: $date, and as files $run (run and rank messages), $path (with --gain), $imbalance.
def safe: gsub("[\u0000-\u001f\u007f]"; "?");
def percent($part; $whole): if $whole > 0 then 100 * $part / $whole | . * 10 | round / 10 else 0 end;
def seconds: if . >= 1 then "\(. * 10 | round / 10) s" elif . >= 0.001 then "\(. * 10000 | round / 10) ms"
	else "\(. * 1e7 | round / 10) us" end;
def place: if .where == "" then "after the last call" else .where | safe end;
($path[0]) as $path | ($imbalance[0]) as $imbalance |
([$run[] | select(.kind == "rank")] | unique_by(.rank)) as $ranks |
([$ranks[].host // "an unknown host"] | unique) as $hosts |
([$ranks[].program // "an unknown program" | sub(".*/"; "")] | unique | join(", ") | safe) as $program |
([$path.by_site[] | (.compute_s, .mpi_s + .transfer_s) as $s | {site, where, s: $s, compute: ($s == .compute_s)}] |
	max_by(.s)) as $most |
($imbalance.delays // [] | map(select(.site == $most.site and (.kind == "compute") == $most.compute))) as $costs |
($costs | max_by(.cost_s)) as $cost |
([$path.gain_by_site[]? | select(.site == $most.site) | .gain_s] | first) as $gain |
"\($program), \($ranks | length) ranks on \(if $hosts | length == 1 then $hosts[0] | safe else "\($hosts | length) hosts" end), \($date): " +
(if $cost != null then "rank \($cost.rank)'s " else "" end) +
(if $most.compute then "computation before \($most | place)" else "communication in \($most | place)" end) +
" is \(percent($most.s; $path.path_length_s)) % of the critical path" +
(if $cost != null and $cost.cost_s > 0 then " and cost the others \($cost.cost_s | seconds)" else "" end) +
(if $gain != null and $most.compute then "; \($path.faster_percent) % less there gains \(percent($gain; $path.run_time_s)) %" else "" end)
