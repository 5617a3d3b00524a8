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
#define TOP	40
#define FOOT	40

static const char style[] =
	"<style>text{font:13px sans-serif;fill:#222}.t{font-size:16px;font-weight:bold}"
	".e{text-anchor:end}.i{fill:#e8ebee}.s{fill:#2678be}.g{fill:#e08a1e}</style>\n";

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
		       const char *name)
{
	__u64 time = chunk_model_run(model, canvas->plan, NULL, NULL) ?: 1;
	double used = 100.0 * chunk_model_ideal(&canvas->plan->of) / time;
	__u32 dims = canvas->plan->of.dims, k;

	fprintf(canvas->out,
		"<text class=\"t\" x=\"%d\" y=\"%d\">%s: %.3f us, utilisation %.1f %%</text>\n",
		LEFT, canvas->y - 12, name, time / 1e6, used);
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

static void draw_legend(FILE *out, enum chunk_kind kind, int y, __u64 longest)
{
	int x = LEFT;

	if (kind != CHUNK_ALL_GATHER) {
		fprintf(out, "<rect class=\"s\" x=\"%d\" y=\"%d\" width=\"14\" height=\"14\"/>"
			"<text x=\"%d\" y=\"%d\">Reduce-Scatter</text>\n",
			x, y - 12, x + 20, y);
		x += 140;
	}
	if (kind != CHUNK_REDUCE_SCATTER)
		fprintf(out, "<rect class=\"g\" x=\"%d\" y=\"%d\" width=\"14\" height=\"14\"/>"
			"<text x=\"%d\" y=\"%d\">All-Gather</text>\n",
			x, y - 12, x + 20, y);
	fprintf(out, "<text class=\"e\" x=\"%d\" y=\"%d\">%.3f us</text>\n",
		LEFT + WIDTH, y, longest / 1e6);
}

static void draw(FILE *out, struct chunk_model *model,
		 const struct chunk_svg_panel *panels, __u32 nr)
{
	const struct chunk_collective *of = &panels->plan->of;
	int panel = HEAD + of->dims * ROW;
	int height = TOP + nr * panel + FOOT;
	__u64 longest = 1, time;
	__u32 i;

	for (i = 0; i < nr; i++) {
		time = chunk_model_run(model, panels[i].plan, NULL, NULL);
		longest = time > longest ? time : longest;
	}
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n%s"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"%d\" y=\"24\">Dimensions at work over time: %llu bytes in %u chunks</text>\n",
		LEFT + WIDTH + RIGHT, height, LEFT + WIDTH + RIGHT, height,
		style, LEFT, of->size, of->chunks);
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
		draw_panel(&canvas, model, panels[i].name);
	}
	draw_legend(out, of->kind, height - 12, longest);
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
