// SPDX-License-Identifier: GPL-2.0
#include "svg.h"

#define TICKS	8	/* at most */

static const char style[] =
	"<style>text{font:13px sans-serif;fill:#222}.t{font-size:16px;font-weight:bold}"
	".e{text-anchor:end}.m{text-anchor:middle}.p{fill:#fff}.i{fill:#e8ebee}"
	".l{stroke:#ccd2d8}.s{fill:#2678be}.g{fill:#e08a1e}\n"
	"@media(prefers-color-scheme:dark){text{fill:#eee}.p{fill:#16191d}.i{fill:#343a41}"
	".l{stroke:#4a525b}}</style>\n";

void svg_begin(FILE *out, int width, int height, int x, const char *title)
{
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
		"<title>%s</title>\n%s"
		"<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text class=\"t\" x=\"%d\" y=\"26\">%s</text>\n",
		width, height, title, style, x, title);
}

/* 1, 2 or 5 times a power of ten */
static double step_of(double max)
{
	static const double next[] = { 2, 2.5, 2 };
	double step = 1 / 1e9;
	int i;

	for (i = 0; max / step > TICKS; i++)
		step *= next[i % 3];
	return step;
}

void svg_axis(FILE *out, const struct svg_axis *axis)
{
	double step = step_of(axis->max);
	int i;

	for (i = 0; i * step <= axis->max; i++) {
		double x = axis->x + i * step / axis->max * axis->width;

		fprintf(out, "<path class=\"l\" d=\"M%.2f %dV%d\"/>"
			"<text class=\"m\" x=\"%.2f\" y=\"%d\">%g</text>\n",
			x, axis->top, axis->y, x, axis->y + 16, i * step);
	}
	fprintf(out, "<text class=\"m\" x=\"%d\" y=\"%d\">%s</text>\n",
		axis->x + axis->width / 2, axis->y + 34, axis->label);
}

void svg_key(FILE *out, char class, int x, int y, const char *text)
{
	fprintf(out, "<rect class=\"%c\" x=\"%d\" y=\"%d\" width=\"14\" height=\"14\"/>"
		"<text x=\"%d\" y=\"%d\">%s</text>\n",
		class, x, y - 12, x + 20, y, text);
}
