// SPDX-License-Identifier: GPL-2.0
/*
 * Assignment with the least sum, by shortest augmenting paths: rows come one after
 * the other, and prices of rows and columns, row_price + col_price <= cost with
 * equality where matched, prove at each time that no assignment of these rows
 * costs less. (Kuhn 1955, Munkres 1957; columns are labelled as Dijkstra does.)
 */
#include "ocs_match.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int ocs_match_init(struct ocs_match *m, __u32 rows, __u32 cols)
{
	m->max_rows = rows;
	m->max_cols = cols;
	m->line = calloc(rows, sizeof(*m->line));
	m->row = calloc(cols, sizeof(*m->row));
	m->from = calloc(cols, sizeof(*m->from));
	m->seen = calloc(cols, sizeof(*m->seen));
	m->least = calloc(cols, sizeof(*m->least));
	m->col_price = calloc(cols, sizeof(*m->col_price));
	m->row_price = calloc(rows, sizeof(*m->row_price));
	return m->line && m->row && m->from && m->seen && m->least &&
	       m->col_price && m->row_price ? 0 : -ENOMEM;
}

void ocs_match_free(struct ocs_match *m)
{
	free(m->line);
	free(m->row);
	free(m->from);
	free(m->seen);
	free(m->least);
	free(m->col_price);
	free(m->row_price);
}

/* Label the columns with their distance, by way of a row. Return: the nearest. */
static __u32 label(struct ocs_match *m, __u32 row, __u32 from, __s64 way)
{
	const int *line = m->line[row];
	__u32 best = OCS_NO_ROW, col;

	for (col = 0; col < m->cols; col++) {
		__s64 cost;

		if (m->seen[col])
			continue;
		cost = way + line[col] - m->row_price[row] - m->col_price[col];
		if (cost < m->least[col]) {
			m->least[col] = cost;
			m->from[col] = from;
		}
		if (best == OCS_NO_ROW || m->least[col] < m->least[best])
			best = col;
	}
	return best;
}

/* Give a row a column, by the shortest path to a free one. */
static bool augment(struct ocs_match *m, __u32 row, __u64 *steps)
{
	__u32 at = row, from = OCS_NO_ROW, col;
	__s64 way = 0;

	for (col = 0; col < m->cols; col++) {
		m->least[col] = INT64_MAX;
		m->seen[col] = false;
	}
	for (;;) {
		if (*steps < m->cols) {
			*steps = 0;
			return false;
		}
		*steps -= m->cols;
		col = label(m, at, from, way);
		way = m->least[col];
		if (m->row[col] == OCS_NO_ROW)
			break;
		m->seen[col] = true;
		at = m->row[col];
		from = col;
	}
	m->row_price[row] += way;
	for (from = 0; from < m->cols; from++) {
		if (!m->seen[from])
			continue;
		m->row_price[m->row[from]] += way - m->least[from];
		m->col_price[from] -= way - m->least[from];
	}
	for (; m->from[col] != OCS_NO_ROW; col = m->from[col])
		m->row[col] = m->row[m->from[col]];
	m->row[col] = row;
	return true;
}

__s64 ocs_match(struct ocs_match *m, __u64 *steps)
{
	__s64 sum = 0;
	__u32 i;

	if (m->rows > m->cols)
		return OCS_NEVER;
	memset(m->col_price, 0, m->cols * sizeof(*m->col_price));
	memset(m->row_price, 0, m->rows * sizeof(*m->row_price));
	for (i = 0; i < m->cols; i++)
		m->row[i] = OCS_NO_ROW;
	for (i = 0; i < m->rows; i++)
		if (!augment(m, i, steps))
			return -1;
	for (i = 0; i < m->cols; i++)
		if (m->row[i] != OCS_NO_ROW)
			sum += m->line[m->row[i]][i];
	return sum;
}
