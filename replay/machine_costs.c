/* SPDX-License-Identifier: BSD-3-Clause */
/* What a machine of LogGP says of a message or a collective, by size. */
#include "machine.h"

double
by_size_ns(const struct curve_by_size *curve, double bytes)
{
	const struct travel *t = curve->at;
	size_t i = 0;

	if (curve->count == 0)
		return curve->ns + curve->ns_per_byte * bytes;
	if (curve->count == 1 || bytes <= t[0].bytes)
		return t[0].ns;
	while (i + 2 < curve->count && t[i + 1].bytes < bytes)
		i++;
	return t[i].ns + (bytes - t[i].bytes) * (t[i + 1].ns - t[i].ns) / (t[i + 1].bytes - t[i].bytes);
}

double
overhead_ns(const struct machine *m, bool in_memory, bool receives, double bytes)
{
	const struct wire_costs *wire = in_memory ? &m->memory : &m->network;
	const struct curve_by_size *curve = receives ? &wire->receive : &wire->send;

	if (!curve->told)
		curve = receives ? &m->network.receive : &m->network.send;
	return by_size_ns(curve, bytes);
}

double
sent_ns(const struct machine *m, bool in_memory, double bytes)
{
	const struct wire_costs *wire = in_memory && m->memory.send.told ? &m->memory : &m->network;

	return by_size_ns(&wire->sent, bytes);
}

double
beside_ns(const struct machine *m, enum operation operation, uint32_t ranks, double bytes)
{
	const struct beside *found = NULL;

	for (size_t i = 0; i < m->beside_count; i++)
		if (m->besides[i].operation == operation && ranks >= m->besides[i].from_ranks)
			found = &m->besides[i];
	return found != NULL ? by_size_ns(&found->curve, bytes) : 0;
}

const struct rule *
machine_rule(const struct machine *m, enum operation operation, uint32_t ranks, double bytes)
{
	const struct rule *rule = NULL;

	for (size_t i = 0; i < m->rule_count; i++)
		if (m->rules[i].operation == operation && ranks >= m->rules[i].from_ranks &&
		    bytes >= m->rules[i].from_bytes)
			rule = &m->rules[i];
	return rule == NULL || rule->schedule == NO_SCHEDULE ? NULL : rule;
}
