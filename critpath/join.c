/* SPDX-License-Identifier: BSD-3-Clause */
#include "../base/path/functions.h"
#include "join.h"

#include <stdlib.h>

void
join_read(struct path *path, char **files, int count, struct functions *functions)
{
	for (int f = 0; f < count; f++) {
		struct definitions known = { 0 };
		struct message message;
		struct reader *in;
		int got;

		if (reader_open(&in, files[f], READ_STREAM) < 0 ||
		    reader_refuse_content(in, "graph", "lp-critpath --part finds a part of its path") < 0)
			die_input(in);
		while ((got = reader_next(in, &message)) > 0) {
			if (definitions_take(&known, in, &message) < 0)
				die_input(in);
			if (is_kind(&message, "sampled_path"))
				functions_read(functions, in, &message);
			if (is_kind(&message, "segments") &&
			    segments_read(&path->segments, in, &message, &known) < 0)
				die_input(in);
		}
		if (got < 0)
			die_input(in);
		reader_close(in);
	}
	for (size_t i = 0; i < path->segments.count; i++)
		functions_length(functions, &path->segments.at[i]);
	path_end_stretch(path, 0);
}
