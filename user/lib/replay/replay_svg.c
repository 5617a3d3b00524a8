// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "replay.h"

#define LEFT	130	/* of the bars; labels are before them */
#define WIDTH	640	/* of the longest bar */
#define RIGHT	90	/* for its time */
#define ROW	34
#define BAR	24
#define TOP	76
#define KEY	50

/* Of a placed job, in seconds. */
static double mean(const struct replay_result *result, __u64 sum)
{
	return result->placed ? sum / 1e6 / result->placed : 0;
}

static void draw_bar(FILE *out, const struct replay_bar *bar, int y,
		     double longest)
{
	const struct replay_result *result = &bar->result;
	double wait = mean(result, result->jwt);
	double run = mean(result, result->jrt);
	double scale = WIDTH / longest;

	fprintf(out, "<text class=\"e\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT - 8,
		y + BAR - 7, bar->name);
	fprintf(out,
		"<rect class=\"g\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
		LEFT, y, wait * scale, BAR);
	fprintf(out,
		"<rect class=\"s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
		LEFT + wait * scale, y, run * scale, BAR);
	fprintf(out, "<text x=\"%.2f\" y=\"%d\">%.0f s</text>\n",
		LEFT + (wait + run) * scale + 8, y + BAR - 7, wait + run);
}

static void draw(FILE *out, const struct replay_bar *bars, __u32 nr)
{
	struct svg_axis axis = {
		.x = LEFT, .y = TOP + nr * ROW, .top = TOP - 8, .width = WIDTH,
		.max = 0.000001, .label = "mean time of a job, in seconds",
	};
	__u32 i;

	for (i = 0; i < nr; i++) {
		const struct replay_result *result = &bars[i].result;
		double time = mean(result, result->jwt + result->jrt);

		axis.max = time > axis.max ? time : axis.max;
	}
	svg_begin(out, LEFT + WIDTH + RIGHT, axis.y + SVG_AXIS, LEFT,
		  "Mean time from arrival to finish of a job, by policy");
	svg_key(out, 'g', LEFT, KEY, "waiting");
	svg_key(out, 's', LEFT + 110, KEY, "running");
	svg_axis(out, &axis);
	for (i = 0; i < nr; i++)
		draw_bar(out, &bars[i], TOP + i * ROW, axis.max);
	fprintf(out, "</svg>\n");
}

int replay_svg_write(const char *file, const struct replay_bar *bars, __u32 nr,
		     struct err *err)
{
	struct file_new new;
	int ret = file_begin(&new);

	if (!ret) {
		draw(new.out, bars, nr);
		ret = file_replace(file, &new);
	}
	return ret ? err_errno(err, abs(ret), "write", "--svg: %s", file) : 0;
}
