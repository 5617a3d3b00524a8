// SPDX-License-Identifier: GPL-2.0
#include "cluster_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

int cluster_grid_init(struct cluster_grid *grid)
{
	size_t cells = (size_t)grid->rows * grid->columns;

	grid->owned = calloc(cells, sizeof(*grid->owned));
	grid->free = calloc(cells, sizeof(*grid->free));
	grid->marked = calloc(cells, sizeof(*grid->marked));
	grid->failed = calloc(cells, sizeof(*grid->failed));
	return grid->owned && grid->free && grid->marked && grid->failed ?
	       0 : -ENOMEM;
}

void cluster_grid_free(struct cluster_grid *grid)
{
	free(grid->owned);
	free(grid->free);
	free(grid->marked);
	free(grid->failed);
}

bool cluster_grid_own(const struct cluster_grid *grid, __u32 row, __u32 column, __u32 n)
{
	__u16 *owned = cluster_cell(grid, grid->owned, row, column);

	if (*owned + n > grid->each)
		return false;
	*owned += n;
	return true;
}

static void add(__u16 *cell, __u32 n, __u32 most)
{
	*cell = *cell + n < most ? *cell + n : most;
}

void cluster_grid_mark(const struct cluster_grid *grid, __u32 row,
		       __u32 column, __u32 n, enum cluster_mark mark)
{
	add(cluster_cell(grid, grid->marked, row, column), n, grid->each);
	if (mark == CLUSTER_FAILED)
		add(cluster_cell(grid, grid->failed, row, column), n, grid->each);
}

__u32 cluster_grid_usable(const struct cluster_grid *grid, size_t i)
{
	return grid->free[i] > grid->marked[i] ?
	       grid->free[i] - grid->marked[i] : 0;
}

/* In a file without free parts, all that no job owns is free. */
static void make_rows(const struct cluster_grid *grid, struct json_object *root)
{
	struct json_object *rows = out_array(root, grid->key);
	__u32 row, column;

	for (row = 0; row < grid->rows; row++) {
		struct json_object *columns = out_append_array(rows);

		for (column = 0; column < grid->columns; column++)
			out_append_uint(columns, grid->each -
					*cluster_cell(grid, grid->owned, row, column));
	}
}

static int invalid_cell(const struct cluster_grid *grid, struct reader *r,
			__u32 row, __u32 column, struct json_object *value)
{
	char key[64];
	__u64 free;

	snprintf(key, sizeof(key), "%s[%u][%u]", grid->key, row, column);
	if (!reader_in_range(value, 0, grid->each, &free))
		return reader_invalid(r, key, "is not a number from 0 to %u", grid->each);
	return reader_invalid(r, key, "%llu free %s and %u of jobs are more than %u",
			      free, grid->what, *cluster_cell(grid, grid->owned, row, column),
			      grid->each);
}

static int read_row(const struct cluster_grid *grid, struct reader *r,
		    __u32 row, struct json_object *columns)
{
	__u32 column;
	char key[64];

	if (json_object_get_type(columns) != json_type_array ||
	    json_object_array_length(columns) != grid->columns) {
		snprintf(key, sizeof(key), "%s[%u]", grid->key, row);
		return reader_invalid(r, key, "is not a list of %u numbers", grid->columns);
	}
	for (column = 0; column < grid->columns; column++) {
		struct json_object *value;
		__u64 free;

		value = json_object_array_get_idx(columns, column);
		if (!reader_in_range(value, 0, grid->each, &free) ||
		    free + *cluster_cell(grid, grid->owned, row, column) >
		    grid->each)
			return invalid_cell(grid, r, row, column, value);
		*cluster_cell(grid, grid->free, row, column) = free;
	}
	return 0;
}

int cluster_grid_read(struct cluster_grid *grid, struct reader *r, struct json_object *root)
{
	struct json_object *rows;
	__u32 row;
	int ret;

	if (!json_object_object_get_ex(root, grid->key, NULL))
		make_rows(grid, root);
	ret = reader_get(r, root, grid->key, json_type_array, &rows);
	if (ret)
		return ret;
	if (json_object_array_length(rows) != grid->rows)
		return reader_invalid(r, grid->key, "needs an entry for each leaf: %u, not %zu",
				      grid->rows,
				      json_object_array_length(rows));
	for (row = 0; row < grid->rows; row++) {
		ret = read_row(grid, r, row, json_object_array_get_idx(rows, row));
		if (ret)
			return ret;
	}
	return 0;
}
