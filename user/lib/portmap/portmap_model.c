// SPDX-License-Identifier: GPL-2.0
#include "portmap_model.h"

#include <json-c/json.h>
#include <stdint.h>
#include <string.h>
#include <rocesteer/types.h>

#define LEAST_ROUTERS	2

/* null where it is not known */
static void append_router(struct json_object *array, const __u8 addr[16])
{
	char text[ADDR_STRLEN];

	json_object_array_add(array, addr_is_none(addr) ? NULL :
			      json_object_new_string(addr_format(addr, text)));
}

void portmap_model_to_json(const struct portmap_model *model, struct json_object *obj)
{
	const struct hash_model *hash = &model->hash;
	struct json_object *array;
	unsigned int i;

	out_addr(obj, "source", model->source);
	out_uint(obj, "hop", model->hop);
	out_uint(obj, "base", hash->base);
	array = out_array(obj, "columns");
	for (i = 0; i < HASH_PORT_BITS; i++)
		out_append_uint(array, hash->column[i]);
	if (hash_model_has_qpn(hash)) {
		array = out_array(obj, "qpn_columns");
		for (i = 0; i < HASH_QPN_BITS; i++)
			out_append_uint(array, hash->qpn_column[i]);
	}
	array = out_array(obj, "steps");
	for (i = 0; i < hash->bits; i++)
		out_append_uint(array, hash->step[i]);
	array = out_array(obj, "routers");
	for (i = 0; i < hash_model_size(hash); i++)
		append_router(array, hash->router[i].addr);
	if (!hash_model_has_vias(hash))
		return;
	array = out_array(obj, "vias");
	for (i = 0; i < hash_model_size(hash); i++)
		append_router(array, hash->router[i].via);
}

/* Numbers of an array of a fixed length */
static int read_numbers(struct reader *r, struct json_object *obj, const char *key, size_t length,
			__u64 max, __u64 *numbers)
{
	struct json_object *array = json_object_object_get(obj, key);
	size_t outer = reader_enter_key(r, key), mark, i;
	int ret = reader_length(r, array, length);

	for (i = 0; !ret && i < length; i++) {
		struct json_object *value = json_object_array_get_idx(array, i);

		mark = reader_enter_index(r, i);
		if (json_object_get_type(value) != json_type_int ||
		    !reader_in_range(value, 0, max, &numbers[i]))
			return reader_invalid(r, "", "is not a number from 0 to %llu", max);
		reader_leave(r, mark);
	}
	reader_leave(r, outer);
	return ret;
}

/* The address of a router, or of the one before; null where it is not known */
static int read_address(struct reader *r, struct json_object *array, size_t i, __u8 addr[16])
{
	struct json_object *value = json_object_array_get_idx(array, i);

	if (value && (json_object_get_type(value) != json_type_string ||
		      addr_parse(json_object_get_string(value), addr)))
		return reader_invalid(r, "", "is not an address");
	return 0;
}

/* @vias: NULL: there are none */
static int read_router(struct reader *r, struct json_object *routers, struct json_object *vias,
		       struct hash_model *hash, size_t i)
{
	size_t mark = reader_enter(r, "vias", i);
	struct hash_router router = {};
	char text[ADDR_STRLEN];
	int ret = vias ? read_address(r, vias, i, router.via) : 0;

	if (ret)
		return ret;
	reader_leave(r, mark);
	mark = reader_enter(r, "routers", i);
	ret = read_address(r, routers, i, router.addr);
	if (ret || addr_is_none(router.addr)) {
		reader_leave(r, mark);
		return ret;
	}
	if (hash_model_find(hash, &router) >= 0)
		return reader_invalid(r, "", "%s is there twice", addr_format(router.addr, text));
	hash->router[i] = router;
	reader_leave(r, mark);
	return 0;
}

static int read_routers(struct reader *r, struct json_object *obj, struct hash_model *hash)
{
	struct json_object *routers, *vias = NULL;
	size_t n, i;
	int ret = reader_array(r, obj, "routers", LEAST_ROUTERS, HASH_MAX_LABELS, &routers, &n);

	if (ret)
		return ret;
	if (n & (n - 1))
		return reader_invalid(r, "routers", "are %zu, which is no power of two", n);
	if (json_object_object_get_ex(obj, "vias", NULL))
		ret = reader_array(r, obj, "vias", n, n, &vias, &n);
	while (1u << hash->bits < n)
		hash->bits++;
	for (i = 0; !ret && i < n; i++)
		ret = read_router(r, routers, vias, hash, i);
	return ret;
}

int portmap_model_read(struct reader *r, struct json_object *obj, __u64 hop,
		       struct portmap_model *model)
{
	struct hash_model *hash = &model->hash;
	__u64 base, numbers[HASH_QPN_BITS];
	unsigned int i;
	int ret = 0;

	*model = (struct portmap_model) {};
	if (!hop)
		ret = reader_uint(r, obj, "hop", 1, UINT8_MAX, &hop);
	ret = ret ?: reader_addr(r, obj, "source", model->source) ?:
	      reader_uint(r, obj, "base", ROCESTEER_SPORT_MIN, ROCESTEER_SPORT_MAX, &base) ?:
	      read_routers(r, obj, hash) ?:
	      read_numbers(r, obj, "columns", HASH_PORT_BITS, hash_model_size(hash) - 1, numbers);
	if (ret)
		return ret;
	model->hop = hop;
	hash->base = base;
	for (i = 0; i < HASH_PORT_BITS; i++)
		hash->column[i] = numbers[i];
	if (json_object_object_get(obj, "qpn_columns"))
		ret = read_numbers(r, obj, "qpn_columns", HASH_QPN_BITS, hash_model_size(hash) - 1,
				   numbers);
	else
		memset(numbers, 0, sizeof(numbers));
	if (ret)
		return ret;
	for (i = 0; i < HASH_QPN_BITS; i++)
		hash->qpn_column[i] = numbers[i];
	ret = read_numbers(r, obj, "steps", hash->bits, ROCESTEER_SPORT_MAX - ROCESTEER_SPORT_MIN,
			   numbers);
	if (ret)
		return ret;
	for (i = 0; i < hash->bits; i++) {
		hash->step[i] = numbers[i];
		if (hash_model_label(hash, hash->base ^ hash->step[i]) != 1 << i)
			return reader_invalid(r, "steps", "do not agree with columns");
	}
	return 0;
}
