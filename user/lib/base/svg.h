/* SPDX-License-Identifier: GPL-2.0 */
/* What pictures share: a title, colours for light and dark pages, an axis, a key. */
#ifndef ROCESTEER_LIB_SVG_H
#define ROCESTEER_LIB_SVG_H

#include <stdio.h>

/**
 * struct svg_axis - a scale from 0 to the right
 * @x: of 0
 * @y: of the axis
 * @top: where its grid begins
 * @width: of the largest value
 * @max: the largest value
 * @label: what the values are, and their unit
 */
struct svg_axis {
	int x;
	int y;
	int top;
	int width;
	double max;
	const char *label;
};

#define SVG_AXIS 40	/* height of an axis with its label */

/*
 * Begin a picture that scales, with its title at @x. Classes: "t" is a heading; "e" ends
 * at its place, "m" has it in the middle; bars are "s" (blue) or "g" (orange), on "i".
 */
void svg_begin(FILE *out, int width, int height, int x, const char *title);

/* Draw the axis and its grid, which what is drawn later covers. */
void svg_axis(FILE *out, const struct svg_axis *axis);

/* Say what bars of a class are. */
void svg_key(FILE *out, char class, int x, int y, const char *text);

#endif /* ROCESTEER_LIB_SVG_H */
