// SPDX-License-Identifier: GPL-2.0
/*
 * rocesteer simulate --svg: a picture with the completion under each policy as bars, and the loads
 * of the links of each class as curves. It looks as those of demo/svg.py do.
 */
#include <errno.h>
#include <math.h>

#include "simulate.h"

#define WIDTH	1120
#define BAR	15	/* height of a bar */
#define LINE	20	/* from bar to bar */
#define BARS_X	125	/* where bars begin */
#define BARS	310	/* width of the longest bar */
#define TOP	100	/* where bars and curves begin */
#define CURVES_X	580	/* where curves begin */
#define CURVES	220	/* width of a curve, and its height */
#define GAP_X	280	/* from curve to curve */
#define GAP_Y	280
#define POINTS	200u	/* of a curve, at most */
#define TICKS	6

static const char style[] =
	"<style>text{font:13px sans-serif;fill:#222}.t{font-size:16px}.t,.k{font-weight:bold}\n"
	".e{text-anchor:end}.m{text-anchor:middle}.p{fill:#fff}.l{stroke:#ccd2d8;fill:none}\n"
	".d{stroke:#222}.c{fill:none;stroke-width:2}\n"
	"@media(prefers-color-scheme:dark){text{fill:#eee}.p{fill:#16191d}.l{stroke:#4a525b}\n"
	".d{stroke:#eee}}</style>\n";

static const char *colour(const struct sim_policy *policy)
{
	switch (policy->kind) {
	case SIM_ECMP:
		return policy->qps > 1 ? "#fc8d59" : "#d73027";
	case SIM_SPRAY:
		return "#c9b037";
	case SIM_REPS:
		return "#8a6fb0";
	case SIM_RECORDED:
		return "#66707a";
	default:
		return "#2678be";
	}
}

/* The distance of lines of a grid: 1, 2 or 5 times a power of ten */
static double step_of(double largest)
{
	double step = pow(10, floor(log10(largest / TICKS)));

	return largest <= TICKS * step ? step : largest <= 2 * TICKS * step ? 2 * step :
	       largest <= 5 * TICKS * step ? 5 * step : 10 * step;
}

static void put_bar(FILE *out, const struct subject *subject, double y, double scale)
{
	double width = subject->over_bound * scale;
	char name[SIM_POLICY_NAME];

	fprintf(out, "<text class=\"e\" x=\"%d\" y=\"%.0f\">%s</text>"
		"<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"%s\"/>"
		"<text x=\"%.1f\" y=\"%.0f\">%.2f", BARS_X - 8, y + BAR - 3,
		sim_policy_name(&subject->policy, name), BARS_X, y, width, BAR,
		colour(&subject->policy), BARS_X + width + 5, y + BAR - 3, subject->over_bound);
	if (subject->worst_over_bound > subject->over_bound + 0.005)
		fprintf(out, ", worst %.2f", subject->worst_over_bound);
	fputs("</text>\n", out);
}

static void put_bars(FILE *out, const struct simulation *s)
{
	double most = 0, bottom = TOP + s->nr * LINE, scale, step, at;
	__u32 i;

	for (i = 0; i < s->nr; i++)
		most = fmax(most, s->subject[i].over_bound);
	scale = BARS / most;
	step = step_of(most);
	fprintf(out, "<text class=\"k\" x=\"20\" y=\"%d\">Completion, in times the bound</text>\n",
		TOP - 44);
	for (at = 0; at <= most; at += step)
		fprintf(out, "<path class=\"l\" d=\"M%.1f %dV%.0f\"/>"
			"<text class=\"m\" x=\"%.1f\" y=\"%.0f\">%g</text>\n", BARS_X + at * scale,
			TOP - 4, bottom, BARS_X + at * scale, bottom + 16, at);
	for (i = 0; i < s->nr; i++)
		put_bar(out, &s->subject[i], TOP + i * LINE, scale);
	fprintf(out, "<path class=\"d\" stroke-dasharray=\"3 3\" d=\"M%.1f %dV%.0f\"/>\n"
		"<text x=\"20\" y=\"%.0f\">Dashed: the bound, and an ideal network</text>\n",
		BARS_X + scale, TOP - 4, bottom, bottom + 40);
}

/* The loads of @nr links in a square, of which the upper edge is @most */
static void put_curve(FILE *out, const struct subject *subject, __u32 first, __u32 nr, double most,
		      double x, double y)
{
	__u32 points = nr < POINTS ? nr : POINTS, i;

	fprintf(out, "<path class=\"c\" stroke=\"%s\" d=\"M", colour(&subject->policy));
	for (i = 0; i < points; i++) {
		__u32 link = points > 1 ? (__u64)i * (nr - 1) / (points - 1) : 0;

		fprintf(out, "%s%.1f %.1f", i ? "L" : "", x + CURVES * (link + 0.5) / nr,
			y + CURVES * (1 - subject->load[first + link] / most));
	}
	fputs("\"/>\n", out);
}

static void put_grid(FILE *out, double most, double x, double y)
{
	double step = step_of(most), at;

	for (at = 0; at <= most; at += step)
		fprintf(out, "<path class=\"l\" d=\"M%.1f %.1fh%d\"/>"
			"<text class=\"e\" x=\"%.1f\" y=\"%.1f\">%g</text>\n",
			x, y + CURVES * (1 - at / most), CURVES,
			x - 6, y + CURVES * (1 - at / most) + 4, at);
	fprintf(out, "<path class=\"d\" stroke-dasharray=\"3 3\" d=\"M%.1f %.1fh%d\"/>\n", x,
		y + CURVES * (1 - 1 / most), CURVES);
}

/* The load of the fullest link in the picture, at least that of an ideal network */
static double most_of(const struct simulation *s)
{
	enum sim_class class;
	double most = 1;
	__u32 i;

	for (i = 0; i < s->nr; i++)
		for (class = SIM_LEAF_UP; s->subject[i].load && class <= SIM_LEAF_DOWN; class++)
			if (s->fabric.first[class] < s->fabric.first[class + 1])
				most = fmax(most, s->subject[i].load[s->fabric.first[class]]);
	return most;
}

static void put_class(FILE *out, const struct simulation *s, enum sim_class class, double most,
		      double x, double y)
{
	__u32 first = s->fabric.first[class], nr = s->fabric.first[class + 1] - first, i;

	fprintf(out, "<text class=\"m\" x=\"%.0f\" y=\"%.0f\">%s, %u links</text>\n",
		x + CURVES / 2, y - 8, sim_class_name(&s->fabric, class), nr);
	put_grid(out, most, x, y);
	for (i = s->nr; i-- > 0;)
		if (s->subject[i].load)
			put_curve(out, &s->subject[i], first, nr, most, x, y);
	fprintf(out, "<text x=\"%.0f\" y=\"%.0f\">fullest</text>"
		"<text class=\"e\" x=\"%.0f\" y=\"%.0f\">emptiest</text>\n",
		x, y + CURVES + 16, x + CURVES, y + CURVES + 16);
}

/* What a colour means */
static void put_key(FILE *out, const struct simulation *s)
{
	double x = CURVES_X;
	char name[SIM_POLICY_NAME];
	__u32 i;

	fprintf(out, "<text class=\"k\" x=\"%d\" y=\"%d\">"
		"Load of links, in times that of an ideal network</text>\n",
		CURVES_X - 30, TOP - 44);
	for (i = 0; i < s->nr; i++) {
		if (!s->subject[i].load)
			continue;
		fprintf(out, "<path class=\"c\" stroke=\"%s\" d=\"M%.0f %dh30\"/>"
			"<text x=\"%.0f\" y=\"%d\">%s</text>\n",
			colour(&s->subject[i].policy), x, TOP - 24, x + 36, TOP - 20,
			sim_policy_name(&s->subject[i].policy, name));
		x += 150;
	}
}

static void put_curves(FILE *out, const struct simulation *s)
{
	double most = most_of(s);
	enum sim_class class;
	int n = 0;

	put_key(out, s);
	for (class = SIM_LEAF_UP; class <= SIM_LEAF_DOWN; class++) {
		if (s->fabric.first[class] == s->fabric.first[class + 1])
			continue;
		put_class(out, s, class, most, CURVES_X + n % 2 * GAP_X,
			  TOP + 20 + n / 2 * GAP_Y);
		n++;
	}
}

static void put_title(FILE *out, const struct simulation *s)
{
	fprintf(out, "%s of %u hosts", simulate_traffic(s), sim_hosts(&s->shape));
	if (s->dead)
		fprintf(out, ", dead links: %u", s->dead);
	if (s->slow)
		fprintf(out, ", slow links: %u", s->slow);
	if (s->seeds > 1)
		fprintf(out, ", mean of %u seeds", s->seeds);
}

static void put_picture(FILE *out, const struct simulation *s)
{
	int curves = TOP + GAP_Y * (s->shape.cores ? 2 : 1), bars = TOP + 60 + s->nr * LINE;

	fprintf(out, SIMULATE_SVG_BEGIN " xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"viewBox=\"0 0 %d %d\">\n<title>", WIDTH, curves > bars ? curves : bars);
	put_title(out, s);
	fprintf(out, "</title>\n%s<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text class=\"t\" x=\"20\" y=\"26\">", style);
	put_title(out, s);
	fputs("</text>\n", out);
	put_bars(out, s);
	put_curves(out, s);
	fputs("</svg>\n", out);
}

int simulate_svg(const struct simulation *s, struct err *err)
{
	struct file_new new;
	int ret = file_begin(&new);

	if (!ret)
		put_picture(new.out, s);
	ret = ret ?: file_replace(s->svg, &new);
	return ret < 0 ? err_errno(err, -ret, "write", "cannot write %s", s->svg) : 0;
}
