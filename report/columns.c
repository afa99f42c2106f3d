/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of the timeline as numbers, for figures made elsewhere. */
#include "../base/tool/csv.h"
#include "report.h"

void
columns_write(struct text *out, const struct page *page)
{
	const struct bins *bins = &page->bins;
	const double width_s = 1e-9 * (double)bins->run_ns / (double)bins->columns;
	uint32_t first = 0, end;
	struct csv csv;

	csv_begin(&csv, out,
	    "rank,last_rank,from_s,to_s,outside_s,compute_s,mpi_s,wait_message_s,wait_receiver_s,wait_collective_s,wait_setup_s,wait_rma_s,path_s");
	for (size_t row = 0; row < bins->rows; row++, first = end) {
		for (end = first; end < bins->locations && bins_row(bins, end) == row;)
			end++;
		for (size_t c = 0; c < bins->columns && end > first; c++) {
			const float *ns = bins->ns + (row * bins->columns + c) * ACTIVITIES;

			csv_int(&csv, page->im.graph.known.location_rank[first]);
			csv_int(&csv, page->im.graph.known.location_rank[end - 1]);
			csv_fixed(&csv, (double)c * width_s, 12);
			csv_fixed(&csv, (double)(c + 1) * width_s, 12);
			for (int a = 0; a < ACTIVITIES; a++)
				csv_significant(&csv, 1e-9 * (double)ns[a], 7);
			csv_significant(&csv,
			    1e-9 * (double)bins->path_ns[row * bins->columns + c], 7);
			csv_end_row(&csv);
		}
	}
}
