/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sorted set of objects that begin with their key, which is compared as bytes, or as a
 * number where it has four of them.
 */
#ifndef ROCESTEER_LIB_SET_H
#define ROCESTEER_LIB_SET_H

#include <stddef.h>

/**
 * struct set - a set
 * @item: the objects, ascending by key
 * @nr: how many
 * @room: how many fit
 */
struct set {
	void **item;
	size_t nr;
	size_t room;
};

/* The object with the @size bytes of @key, or NULL. */
void *set_find(const struct set *set, const void *key, size_t size);

/**
 * set_get() - find an object, or add a new one
 * @set: set
 * @key: its key
 * @size: bytes of the key
 * @item_size: bytes of a new object, which is zero behind its key
 *
 * Return: the object; NULL without memory.
 */
void *set_get(struct set *set, const void *key, size_t size, size_t item_size);

/* Take an object out; it is not freed. */
void set_remove(struct set *set, const void *key, size_t size);

/* Take all out: each is passed to @fn, which frees it. */
void set_clear(struct set *set, void (*fn)(void *item));

#endif /* ROCESTEER_LIB_SET_H */
