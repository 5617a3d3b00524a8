// SPDX-License-Identifier: GPL-2.0
#include "chunk_svg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "chunk_model.h"

#define LEFT	200	/* of the bars; labels are before them */
#define WIDTH	900	/* of the bars at the longest time */
#define RIGHT	80	/* for how busy they are */
#define ROW	30
#define BAR	22
#define NARROW	3	/* no room for a gap between bars */
#define HEAD	44	/* of a panel */
#define TOP	64
#define KEY	50

/* Which half of an All-Reduce, or which collective. */
enum half { SCATTER, GATHER };

static const char classes[] = { [SCATTER] = 's', [GATHER] = 'g' };

/* A bar that may grow. */
struct bar {
	__u64 from;
	__u64 to;
	enum half half;
};

/**
 * struct canvas - where a panel is drawn
 * @out: file
 * @plan: of the panel
 * @legs: dimensions that have stages
 * @longest: time of the widest bar, ps
 * @y: top of the first row
 * @bar: the last of each dimension, not drawn yet
 * @busy: ps, by dimension
 */
struct canvas {
	FILE *out;
	const struct chunk_plan *plan;
	__u32 legs;
	__u64 longest;
	int y;
	struct bar bar[CHUNK_MAX_DIMS];
	__u64 busy[CHUNK_MAX_DIMS];
};

static const struct unit {
	const char *name;
	double ps;
} units[] = { { "s", 1e12 }, { "ms", 1e9 }, { "us", 1e6 } };

/* The largest that a time has more than one of */
static const struct unit *unit_of(__u64 time)
{
	const struct unit *unit = units;

	while (unit < units + ARRAY_SIZE(units) - 1 && time < unit->ps)
		unit++;
	return unit;
}

static double place(const struct canvas *canvas, __u64 ps)
{
	return (double)ps / canvas->longest * WIDTH;
}

/* With a gap to the next where there is room. */
static void draw_bar(struct canvas *canvas, __u32 dim)
{
	const struct bar *bar = &canvas->bar[dim];
	double width = place(canvas, bar->to - bar->from);

	if (bar->to > bar->from)
		fprintf(canvas->out,
			"<rect class=\"%c\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
			classes[bar->half], LEFT + place(canvas, bar->from),
			canvas->y + (int)dim * ROW,
			width > NARROW ? width - 0.5 : width, BAR);
}

/* Narrow stages of a kind are one bar: edges between pixels look like a pattern. */
static void add(struct canvas *canvas, __u32 dim, __u64 from, __u64 to,
		enum half half)
{
	struct bar *bar = &canvas->bar[dim];

	canvas->busy[dim] += to - from;
	if (bar->to == from && bar->half == half &&
	    place(canvas, to - from) <= NARROW) {
		bar->to = to;
		return;
	}
	draw_bar(canvas, dim);
	*bar = (struct bar) { from, to, half };
}

static void add_stage(const struct chunk_stage *stage, void *arg)
{
	struct canvas *canvas = arg;
	enum chunk_kind kind = canvas->plan->of.kind;
	__u64 middle = stage->from + (stage->to - stage->from) / 2;

	if (canvas->plan->fused && stage->stage + 1 == canvas->legs) {
		add(canvas, stage->dim, stage->from, middle, SCATTER);
		add(canvas, stage->dim, middle, stage->to, GATHER);
		return;
	}
	add(canvas, stage->dim, stage->from, stage->to,
	    kind == CHUNK_ALL_GATHER || stage->stage >= canvas->legs ?
	    GATHER : SCATTER);
}

static void draw_row(struct canvas *canvas, __u32 dim, __u64 time)
{
	const struct chunk_dim *d = &canvas->plan->of.dim[dim];
	int y = canvas->y + dim * ROW + BAR - 6;

	fprintf(canvas->out,
		"<text class=\"e\" x=\"%d\" y=\"%d\">%u: %u at %g GiB/s</text>\n",
		LEFT - 8, y, dim, d->endpoints,
		(double)d->bandwidth / CHUNK_BANDWIDTH_UNIT);
	fprintf(canvas->out,
		"<rect class=\"i\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
		LEFT, canvas->y + (int)dim * ROW, place(canvas, time), BAR);
}

/* Idle time behind the bars, which come as the model runs. */
static void draw_panel(struct canvas *canvas, struct chunk_model *model,
		       const char *name, const struct unit *unit)
{
	__u64 time = chunk_model_run(model, canvas->plan, NULL, NULL) ?: 1;
	double used = 100.0 * chunk_model_ideal(&canvas->plan->of) / time;
	__u32 dims = canvas->plan->of.dims, k;

	fprintf(canvas->out,
		"<text class=\"t\" x=\"%d\" y=\"%d\">%s: %.4g %s, utilisation %.1f %%</text>\n",
		LEFT, canvas->y - 12, name, time / unit->ps, unit->name, used);
	for (k = 0; k < dims; k++)
		draw_row(canvas, k, time);
	chunk_model_run(model, canvas->plan, add_stage, canvas);
	for (k = 0; k < dims; k++) {
		draw_bar(canvas, k);
		fprintf(canvas->out,
			"<text x=\"%.2f\" y=\"%d\">%.0f %%</text>\n",
			LEFT + place(canvas, time) + 8,
			canvas->y + (int)k * ROW + BAR - 6,
			100.0 * canvas->busy[k] / time);
	}
}

static void draw_key(FILE *out, enum chunk_kind kind)
{
	int x = LEFT;

	if (kind != CHUNK_ALL_GATHER) {
		svg_key(out, classes[SCATTER], x, KEY, "Reduce-Scatter");
		x += 140;
	}
	if (kind != CHUNK_REDUCE_SCATTER) {
		svg_key(out, classes[GATHER], x, KEY, "All-Gather");
		x += 110;
	}
	svg_key(out, 'i', x, KEY, "idle");
}

static void draw(FILE *out, struct chunk_model *model,
		 const struct chunk_svg_panel *panels, __u32 nr)
{
	const struct chunk_collective *of = &panels->plan->of;
	int panel = HEAD + of->dims * ROW, bottom = TOP + nr * panel;
	const struct unit *unit;
	char title[128], label[32];
	__u64 longest = 1, time;
	__u32 i;

	for (i = 0; i < nr; i++) {
		time = chunk_model_run(model, panels[i].plan, NULL, NULL);
		longest = time > longest ? time : longest;
	}
	unit = unit_of(longest);
	snprintf(title, sizeof(title), "Dimensions at work over time: %.10g MiB in %u chunks",
		 of->size / 1048576.0, of->chunks);
	snprintf(label, sizeof(label), "time, in %s", unit->name);
	svg_begin(out, LEFT + WIDTH + RIGHT, bottom + SVG_AXIS, LEFT, title);
	draw_key(out, of->kind);
	svg_axis(out, &(struct svg_axis) {
		.x = LEFT, .y = bottom, .top = TOP, .width = WIDTH,
		.max = longest / unit->ps, .label = label,
	});
	for (i = 0; i < nr; i++) {
		struct canvas canvas = {
			.out = out,
			.plan = panels[i].plan,
			.longest = longest,
			.y = TOP + i * panel + HEAD,
		};
		__u32 k;

		for (k = 0; k < of->dims; k++)
			canvas.legs += of->dim[k].endpoints > 1;
		draw_panel(&canvas, model, panels[i].name, unit);
	}
	fprintf(out, "</svg>\n");
}

int chunk_svg_write(const char *file, const struct chunk_svg_panel *panels,
		    __u32 nr, struct err *err)
{
	struct chunk_model *model = chunk_model_new(&panels->plan->of);
	struct file_new new;
	int ret;

	if (!model)
		return -ENOMEM;
	ret = file_begin(&new);
	if (!ret) {
		draw(new.out, model, panels, nr);
		ret = file_replace(file, &new);
	}
	chunk_model_free(model);
	return ret ? err_errno(err, abs(ret), "write", "%s", file) : 0;
}
