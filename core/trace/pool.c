#include "core/trace/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (64u << 10)

struct ts_pool_chunk {
	struct ts_pool_chunk *next;
	size_t size;
	char data[] __attribute__((aligned(16)));
};

void *ts_grow(void *memory, size_t size)
{
	void *grown = realloc(memory, size);

	if (!grown) {
		fprintf(stderr, "tstrace: out of memory (%zu bytes asked for)\n", size);
		exit(2);
	}
	return grown;
}

void *ts_array_room(void *array, size_t count, size_t *capacity, size_t item)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? *capacity * 2 : 16;
	return ts_grow(array, *capacity * item);
}

void *ts_pool_get(struct ts_pool *pool, size_t size)
{
	void *memory;

	size = size ? (size + 7) & ~(size_t)7 : 8;
	if (size > pool->left) {
		size_t data = size > CHUNK ? size : CHUNK;
		struct ts_pool_chunk *chunk = ts_grow(NULL, sizeof(*chunk) + data);

		chunk->size = data;
		chunk->next = pool->chunks;
		pool->chunks = chunk;
		pool->at = chunk->data;
		pool->left = data;
	}
	memory = pool->at;
	pool->at += size;
	pool->left -= size;
	return memory;
}

struct ts_str ts_pool_copy(struct ts_pool *pool, struct ts_str text)
{
	char *copy = ts_pool_get(pool, text.size + 1);

	if (text.size)
		memcpy(copy, text.at, text.size);
	copy[text.size] = '\0';
	return (struct ts_str){copy, text.size};
}

void ts_pool_reset(struct ts_pool *pool)
{
	struct ts_pool_chunk *largest = NULL, *next;

	if (!pool->chunks)
		return;
	for (struct ts_pool_chunk *chunk = pool->chunks; chunk; chunk = next) {
		next = chunk->next;
		if (!largest || chunk->size > largest->size) {
			free(largest);
			largest = chunk;
		} else {
			free(chunk);
		}
	}
	largest->next = NULL;
	pool->chunks = largest;
	pool->at = largest->data;
	pool->left = largest->size;
}

void ts_pool_free(struct ts_pool *pool)
{
	while (pool->chunks) {
		struct ts_pool_chunk *next = pool->chunks->next;

		free(pool->chunks);
		pool->chunks = next;
	}
	pool->left = 0;
}
