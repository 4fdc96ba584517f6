#include "core/out/rank.h"

#include "core/trace/pool.h"

#include <stdlib.h>

struct weighed {
	uint64_t weight;
	size_t index;
};

static int compare(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

size_t *ts_rank(size_t count, uint64_t (*weigh)(const void *context, size_t index),
		const void *context, int skip_zero, size_t *ranked)
{
	struct weighed *items = ts_grow(NULL, (count + 1) * sizeof(*items));
	size_t *indices = ts_grow(NULL, (count + 1) * sizeof(*indices)), kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t weight = weigh(context, i);

		if (weight || !skip_zero)
			items[kept++] = (struct weighed){weight, i};
	}
	qsort(items, kept, sizeof(*items), compare);
	for (size_t i = 0; i < kept; i++)
		indices[i] = items[i].index;
	free(items);
	*ranked = kept;
	return indices;
}
