#include "core/trace/stacks.h"

#include <stdlib.h>

/* "<module id>+0x<offset>" */
static bool parse_frame(struct ts_str text, struct ts_frame *frame)
{
	size_t i = 0;

	*frame = (struct ts_frame){0};
	for (; i < text.size && text.at[i] >= '0' && text.at[i] <= '9'; i++)
		frame->module = frame->module * 10 + (uint64_t)(text.at[i] - '0');
	if (!i || text.size < i + 4 || text.size > i + 19 || text.at[i] != '+' ||
	    text.at[i + 1] != '0' || text.at[i + 2] != 'x')
		return false;
	for (i += 3; i < text.size; i++) {
		char c = (char)(text.at[i] | 32);
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			return false;
		frame->offset = frame->offset << 4 | (uint64_t)digit;
	}
	return true;
}

static void take_modules(struct ts_stacks *stacks, const struct ts_json *modules)
{
	if (!modules || modules->type != TS_JSON_ARRAY)
		return;
	for (const struct ts_json *module = modules->list.first; module; module = module->next) {
		const struct ts_json *id = ts_json_get(module, "id");

		if (!id || id->type != TS_JSON_NUMBER || !id->number.is_whole ||
		    ts_stacks_module(stacks, id->number.whole))
			continue;
		stacks->modules = ts_array_room(stacks->modules, stacks->module_count,
						&stacks->module_capacity, sizeof(*stacks->modules));
		stacks->modules[stacks->module_count++] = (struct ts_module){
		    .id = id->number.whole,
		    .path = ts_pool_copy(&stacks->pool, ts_json_text(module, "path", "")),
		    .build_id = ts_pool_copy(&stacks->pool, ts_json_text(module, "build_id", "")),
		};
	}
}

static void take_frames(struct ts_stacks *stacks, struct ts_stack *stack, struct ts_strs texts,
			struct ts_str end)
{
	struct ts_frame *frames = ts_pool_get(&stacks->pool, (texts.count + 1) * sizeof(*frames));

	for (size_t i = 0; i < texts.count; i++) {
		if (parse_frame(texts.at[i], &frames[stack->count]))
			stack->count++;
		else
			stacks->bad_frames++;
	}
	stack->frames = frames;
	stack->end = ts_pool_copy(&stacks->pool, end);
}

uint32_t ts_stacks_number(struct ts_stacks *stacks, uint64_t id)
{
	size_t before = stacks->ids.count;
	uint32_t number = ts_map_add(&stacks->ids, (struct ts_str){(const char *)&id, sizeof(id)});

	if (number == before) {
		stacks->stacks = ts_array_room(stacks->stacks, before, &stacks->capacity,
					       sizeof(*stacks->stacks));
		stacks->stacks[number] = (struct ts_stack){.id = id};
	}
	return number;
}

uint32_t ts_stacks_take(struct ts_stacks *stacks, const struct ts_event *event)
{
	bool is_op = event->kind == TS_TABLE_op;
	uint64_t id = is_op ? event->op.stack : event->memory.stack;
	struct ts_strs frames = is_op ? event->op.frames : event->memory.frames;
	uint32_t number;

	take_modules(stacks, is_op ? event->op.modules : event->memory.modules);
	if (!(is_op ? ts_event_has(event, op, stack) : ts_event_has(event, memory, stack)))
		return TS_MAP_NONE;
	number = ts_stacks_number(stacks, id);
	if (frames.at && !stacks->stacks[number].frames)
		take_frames(stacks, &stacks->stacks[number], frames,
			    is_op ? event->op.frames_end : event->memory.frames_end);
	return number;
}

const struct ts_module *ts_stacks_module(const struct ts_stacks *stacks, uint64_t id)
{
	for (size_t i = 0; i < stacks->module_count; i++)
		if (stacks->modules[i].id == id)
			return &stacks->modules[i];
	return NULL;
}

void ts_stacks_free(struct ts_stacks *stacks)
{
	ts_map_free(&stacks->ids);
	free(stacks->stacks);
	free(stacks->modules);
	ts_pool_free(&stacks->pool);
}
