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
#define TOP	44
#define FOOT	40

static const char style[] =
	"<style>text{font:13px sans-serif;fill:#222}.t{font-size:16px;font-weight:bold}"
	".e{text-anchor:end}.w{fill:#e08a1e}.r{fill:#2678be}</style>\n";

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
		"<rect class=\"w\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
		LEFT, y, wait * scale, BAR);
	fprintf(out,
		"<rect class=\"r\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>\n",
		LEFT + wait * scale, y, run * scale, BAR);
	fprintf(out, "<text x=\"%.2f\" y=\"%d\">%.0f s</text>\n",
		LEFT + (wait + run) * scale + 8, y + BAR - 7, wait + run);
}

static void draw(FILE *out, const struct replay_bar *bars, __u32 nr)
{
	int height = TOP + nr * ROW + FOOT, y = TOP + nr * ROW + FOOT - 14;
	double longest = 0.000001;
	__u32 i;

	for (i = 0; i < nr; i++) {
		const struct replay_result *result = &bars[i].result;
		double time = mean(result, result->jwt + result->jrt);

		longest = time > longest ? time : longest;
	}
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n%s"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text class=\"t\" x=\"%d\" y=\"26\">Mean time from arrival to finish of a job</text>\n",
		LEFT + WIDTH + RIGHT, height, LEFT + WIDTH + RIGHT, height,
		style, LEFT);
	for (i = 0; i < nr; i++)
		draw_bar(out, &bars[i], TOP + i * ROW, longest);
	fprintf(out,
		"<rect class=\"w\" x=\"%d\" y=\"%d\" width=\"14\" height=\"14\"/>"
		"<text x=\"%d\" y=\"%d\">waiting</text>\n"
		"<rect class=\"r\" x=\"%d\" y=\"%d\" width=\"14\" height=\"14\"/>"
		"<text x=\"%d\" y=\"%d\">running</text>\n</svg>\n",
		LEFT, y - 12, LEFT + 20, y, LEFT + 110, y - 12, LEFT + 130, y);
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
