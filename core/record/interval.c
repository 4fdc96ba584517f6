/* Device records.  They carry the correlation id of the call that caused them; the table here tells
 * which span that call was made in, and when.  A record whose launch has not been read yet waits
 * for it. */
#include "core/record/writer.h"

#include <string.h>
#include <sys/mman.h>

#include "core/session/session.h"

/* Calls by correlation id.  Ids only grow, so the place of one is its last bits, and an entry is in
 * the way of another only when as many ids as the table has came between.  One in the way that is
 * young may still have device work to come: then the table grows, up to 16 MiB. */
#define FIRST_LAUNCHES (1u << 14)
#define MOST_LAUNCHES (1u << 20)
#define YOUNG_NS UINT64_C(5000000000)

struct launch {
	uint32_t correlation, span;
	uint64_t start_ns;
};

static struct launch *launches;
static uint32_t launch_mask;

static bool grow_launches(uint32_t count)
{
	struct launch *more = mmap(NULL, count * sizeof(*more), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (more == MAP_FAILED)
		return false;
	for (uint32_t i = 0; launches && i <= launch_mask; i++)
		if (launches[i].correlation)
			more[launches[i].correlation & (count - 1)] = launches[i];
	if (launches)
		munmap(launches, (launch_mask + 1) * sizeof(*launches));
	launches = more;
	launch_mask = count - 1;
	return true;
}

/* A call's record is published when the call returns, its device work may be over and told long
 * before: so long a device record waits for its launch. */
#define PATIENCE_NS UINT64_C(2000000000)

static struct waiting {
	struct ts_rec_interval rec;
	struct ts_source from;
	uint64_t until_ns;      /* session time */
} *queue;
static size_t queued, queue_room;
static uint64_t overhead_ns;

void ts_interval_launch(uint32_t correlation, uint32_t span, uint64_t start_ns)
{
	struct launch *there;

	if (!correlation || (!launches && !grow_launches(FIRST_LAUNCHES)))
		return;
	while ((there = &launches[correlation & launch_mask])->correlation &&
	       there->correlation != correlation && start_ns < there->start_ns + YOUNG_NS)
		if (launch_mask + 1 == MOST_LAUNCHES || !grow_launches((launch_mask + 1) * 2))
			break;
	launches[correlation & launch_mask] = (struct launch){ correlation, span, start_ns };
}

/* NULL: not seen, or not yet. */
static const struct launch *find_launch(uint32_t correlation)
{
	const struct launch *launch = launches ? &launches[correlation & launch_mask] : NULL;

	return correlation && launch && launch->correlation == correlation ? launch : NULL;
}

void ts_interval_queue(const struct ts_rec_interval *rec, const struct ts_source *from)
{
	struct waiting *grown = ts_writer_grow(queue, &queue_room, queued + 1, sizeof(*queue));

	if (!grown) {
		ts_lost(TS_LOST_no_memory, 1);
		return;
	}
	queue = grown;
	queue[queued++] = (struct waiting){ *rec, *from, ts_clock_elapsed_ns() + PATIENCE_NS };
}

void ts_interval_oldest(uint64_t *oldest)
{
	for (size_t i = 0; i < queued; i++)
		if (queue[i].from.at < oldest[queue[i].from.ring])
			oldest[queue[i].from.ring] = queue[i].from.at;
}

/* Pages move and pools are trimmed of themselves: CUPTI names no call for them. */
static bool has_launch(const struct ts_rec_interval *rec)
{
	return rec->activity != TS_ACT_POOL && (rec->activity != TS_ACT_UVM || rec->correlation);
}

static const char *const activities[] = { "kernel", "memcpy",	"memset", "sync",  "graph",
					  "uvm",    "overhead", "pool",	  "memory" };
_Static_assert(TS_ARRAY_SIZE(activities) == TS_ACT_KINDS, "a name for each activity");

static void print_details(const struct ts_rec_interval *rec, const char *name_key)
{
	if (name_key)
		ts_print_arena_text(name_key, rec->name, activities[rec->activity % TS_ACT_KINDS]);
	if (rec->correlation)
		ts_line_u64(&ts_lines, "correlation", rec->correlation);
	ts_line_word(&ts_lines, "activity", activities[rec->activity % TS_ACT_KINDS]);
	if (rec->context)
		ts_line_u64(&ts_lines, "context", rec->context);
	if (rec->graph)
		ts_line_u64(&ts_lines, "graph", rec->graph);
	if (rec->graph_node)
		ts_line_u64(&ts_lines, "graph_node", rec->graph_node);
	if (rec->bytes)
		ts_line_u64(&ts_lines, "bytes", rec->bytes);
	if (rec->copy_kind)
		ts_line_u64(&ts_lines, "activity_copy_kind", rec->copy_kind);
	if (rec->clock_error_ns)
		ts_line_u64(&ts_lines, "clock_error_ns", rec->clock_error_ns);
}

/* A moment: what has no duration (a pool was trimmed), and work whose times cannot be used, at the
 * time of its launch: an interval of zero is not allowed, and one at time zero would be a lie. */
static void print_moment(const struct ts_rec_interval *rec, uint32_t span, uint64_t at_ns,
			 bool untimed)
{
	ts_line_begin(&ts_lines, "op");
	ts_print_span_id(span);
	ts_print_arena_text("op_name", rec->name, activities[rec->activity % TS_ACT_KINDS]);
	ts_line_raw(&ts_lines, ",\"shape\":[],\"dtype\":\"none\"");
	ts_print_device("device", rec->h.device, false);
	ts_line_raw(&ts_lines, ",\"duration_ns\":0,\"input_dense_bytes\":0");
	ts_line_u64(&ts_lines, "timestamp_ns", at_ns);
	if (untimed)
		ts_line_bool(&ts_lines, "untimed", true);
	ts_line_u64(&ts_lines, "device_stream", rec->stream);
	print_details(rec, NULL);
	ts_line_end(&ts_lines);
	ts_saw_time(at_ns);
}

static void print_interval(const struct ts_rec_interval *rec, const struct launch *launch)
{
	uint64_t zero = ts_session_start_ns(),
		 start = rec->start_ns > zero ? rec->start_ns - zero : 0;
	uint64_t end = rec->end_ns > zero ? rec->end_ns - zero : 0;
	uint32_t span = rec->launch_span ? (uint32_t)rec->launch_span : launch ? launch->span : 1;

	if (!rec->untimed && rec->activity == TS_ACT_POOL) {
		print_moment(rec, span, start, false);
		return;
	}
	if (rec->untimed || end <= start) {
		if (!rec->untimed)
			ts_lost(TS_LOST_device_untimed, 1);
		print_moment(rec, span, launch ? launch->start_ns : 0, true);
		return;
	}
	ts_line_begin(&ts_lines, "device_interval");
	ts_print_span_id(span);
	ts_print_device("device", rec->h.device, false);
	ts_line_raw(&ts_lines, ",\"stream_id\":\"");
	ts_line_number(&ts_lines, rec->stream);
	ts_line_raw(&ts_lines, rec->backend == TS_BACKEND_EVENT
				   ? "\",\"clock_id\":\"monotonic\",\"backend\":\"cuda-event\""
				   : "\",\"clock_id\":\"monotonic\",\"backend\":\"cupti\"");
	ts_line_u64(&ts_lines, "start_ns", start);
	ts_line_u64(&ts_lines, "duration_ns", end - start);
	print_details(rec, "name");
	if (!launch && !rec->launch_span && has_launch(rec))
		ts_line_word(&ts_lines, "launch", "unknown");
	if (launch && start < launch->start_ns)
		ts_line_u64(&ts_lines, "before_launch_ns", launch->start_ns - start);
	ts_line_end(&ts_lines);
}

void ts_interval_settle(bool last)
{
	uint64_t now = queued ? ts_clock_elapsed_ns() : 0;
	size_t kept = 0;

	for (size_t i = 0; i < queued; i++) {
		struct waiting *item = &queue[i];
		const struct launch *launch = find_launch(item->rec.correlation);
		bool is_missing;

		if (item->rec.activity == TS_ACT_OVERHEAD) {
			if (item->rec.end_ns > item->rec.start_ns)
				overhead_ns += item->rec.end_ns - item->rec.start_ns;
			continue;
		}
		is_missing = !launch && !item->rec.launch_span && has_launch(&item->rec);
		if (is_missing && !last && now < item->until_ns) {
			queue[kept++] = *item;
			continue;
		}
		if (is_missing)
			ts_lost(TS_LOST_device_unknown_launch, 1);
		print_interval(&item->rec, launch);
	}
	queued = kept;
}

uint64_t ts_interval_overhead_ns(void)
{
	return overhead_ns;
}

void ts_interval_child(void)
{
	queue = NULL;
	queued = queue_room = 0;
	overhead_ns = 0;
	launches = NULL;
}
