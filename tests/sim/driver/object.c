/* Handles: every handle is looked up in a hash of the live ones before it is believed. */
#include "sim.h"
#include <search.h>
#include <stdlib.h>
#include <string.h>

static void **table; /* open addressing; a power of two */
static size_t used, capacity;
static void *names; /* tree of interned names */

static size_t slot_of(const void *p)
{
	return (size_t)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
}

static void put(void *p)
{
	size_t i = slot_of(p);
	while (table[i])
		i = (i + 1) & (capacity - 1);
	table[i] = p;
}

static int grow(void)
{
	void **old = table;
	size_t n = capacity;
	void **bigger = calloc(n ? n * 2 : 1024, sizeof *bigger);
	if (!bigger)
		return -1;
	table = bigger;
	capacity = n ? n * 2 : 1024;
	for (size_t i = 0; i < n; i++)
		if (old[i])
			put(old[i]);
	free(old);
	return 0;
}

/* Close the gap, so that no tombstones are needed. */
static void take_out(const void *p)
{
	size_t i = slot_of(p);
	while (table[i] != p)
		i = (i + 1) & (capacity - 1);
	for (size_t j = (i + 1) & (capacity - 1); table[j]; j = (j + 1) & (capacity - 1)) {
		size_t home = slot_of(table[j]);
		if (((j - home) & (capacity - 1)) >= ((j - i) & (capacity - 1))) {
			table[i] = table[j];
			i = j;
		}
	}
	table[i] = NULL;
	used--;
}

void sim_object_own(struct object *object, struct context *owner)
{
	object->ctx = owner;
	object->next = owner->objects;
	object->link = &owner->objects;
	if (object->next)
		object->next->link = &object->next;
	owner->objects = object;
}

void sim_object_disown(struct object *object)
{
	if (!object->link)
		return;
	*object->link = object->next;
	if (object->next)
		object->next->link = object->link;
	object->link = NULL;
	object->next = NULL;
}

void *sim_object_new(enum sim_type type, size_t size, struct context *owner)
{
	if (used * 2 >= capacity && grow())
		return NULL;
	struct object *object = calloc(1, size);
	if (!object)
		return NULL;
	object->type = type;
	put(object);
	used++;
	if (owner)
		sim_object_own(object, owner);
	return object;
}

void *sim_object_get(const void *handle, enum sim_type type)
{
	if (!handle || !capacity)
		return NULL;
	for (size_t i = slot_of(handle); table[i]; i = (i + 1) & (capacity - 1))
		if (table[i] == handle)
			return ((struct object *)table[i])->type == type ? table[i] : NULL;
	return NULL;
}

void sim_object_forget(void *p)
{
	struct object *object = p;
	take_out(object);
	sim_object_disown(object);
}

void sim_object_drop(void *p)
{
	sim_object_forget(p);
	free(p);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *sim_intern(const char *name)
{
	char **found = tfind(name, &names, by_name);
	if (found)
		return *found;
	char *copy = strdup(name);
	if (copy && !tsearch(copy, &names, by_name)) {
		free(copy);
		return NULL;
	}
	return copy;
}
