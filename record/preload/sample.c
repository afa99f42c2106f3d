/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of what the program's threads do between their calls. The kernel takes them, by a timer
 * that runs while a thread is on a core, and writes them into a ring for each thread; no signal is
 * sent. A wrapper at times reads the rings and appends what they hold to the trace.
 *
 * Each thread of the process has a ring: they are found in /proc/self/task when rings are read, so
 * one that lives shorter than that is not seen. A thread is told by its location where it makes MPI
 * calls, and by a number as a worker where it does not.
 *
 * Callers are found by the kernel, along frame pointers. Where that is asked for, registers and the top
 * of the stack go into the trace, too, for lp-merge to unwind.
 */
#include <dirent.h>
#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "recorder.h"
#include "sites.h"
#include "small.h"

enum {
	RING_BYTES = 1 << 19,		/* of a thread that makes MPI calls, halved until there is room */
	WORKER_BYTES = 1 << 17,
	FRAMES = 24,			/* callers that are kept of a sample */
	SAMPLE_BYTES = 16 * (FRAMES + 8),	/* at most, of one in a ring */
	BATCH = 4096,			/* samples of a message */
	DUE_NS = 100000000,		/* rings are read that often, at least where calls are made */
	STACKS = 64,			/* of a message, at most */
	STACK_BYTES = 1 << 17,		/* and of these */
	REGISTERS = 17,
};

/* In the kernel's order of their bits; in the trace they are in DWARF's, the instruction's address last. */
static const uint64_t register_mask = 0xff01ff;		/* ax bx cx dx si di bp sp ip, r8 to r15 */
static const unsigned char dwarf_register[REGISTERS] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15,
};

struct ring {
	struct ring *next;
	struct perf_event_mmap_page *page;
	size_t bytes;		/* of data, behind the page */
	uint64_t lost;		/* samples that the kernel had no room for, not yet told */
	pid_t tid;
	uint32_t worker;	/* 0: not a worker so far */
	int fd;
	bool there;		/* the thread was found when last looked for */
};

uint64_t sample_due_ticks = UINT64_MAX;
static struct ring *rings;
static pthread_mutex_t sampling = PTHREAD_MUTEX_INITIALIZER;
static uint32_t workers;

static struct {
	int64_t time_ns[BATCH];
	uint32_t site[BATCH], callers[BATCH];
	uint32_t count;
	/* Where stacks are asked for: */
	uint64_t registers[STACKS][REGISTERS];
	uint32_t stack_bytes[STACKS];
	unsigned char *stacks;		/* one behind the other */
	size_t used;
} batch;

/* ---- rings ---- */

static int
open_event(pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000000u / (unsigned)options.sample_hz,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1, .exclude_hv = 1, .exclude_callchain_kernel = 1,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC, .sample_max_stack = FRAMES,
	};

	if (options.sample_stack > 0) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = register_mask;
		attr.sample_stack_user = (uint32_t)options.sample_stack;
	}
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 0, or why there is none. */
static int
add_ring(pid_t tid, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring *ring = calloc(1, sizeof *ring);
	int error;

	if (ring == NULL)
		return ENOMEM;
	ring->tid = tid;
	ring->there = true;
	if ((ring->fd = open_event(tid)) < 0) {
		error = errno;
		free(ring);
		return error;
	}
	do	/* of an ordinary user's locked memory there is little */
		ring->page = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	while (ring->page == MAP_FAILED && (bytes /= 2) >= page);
	if (ring->page == MAP_FAILED) {
		error = errno;
		close(ring->fd);
		free(ring);
		return error;
	}
	ring->bytes = bytes;
	ring->next = rings;
	rings = ring;
	return 0;
}

static void
close_ring(struct ring *ring)
{
	munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->bytes);
	close(ring->fd);
	free(ring);
}

static struct ring *
ring_of(pid_t tid)
{
	for (struct ring *ring = rings; ring != NULL; ring = ring->next)
		if (ring->tid == tid)
			return ring;
	return NULL;
}

/* A ring for each thread that has none; 0, or why the first of them could not be made. */
static int
find_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int error = 0;

	if (tasks == NULL)
		return add_ring(0, RING_BYTES);
	for (struct ring *ring = rings; ring != NULL; ring = ring->next)
		ring->there = false;
	while ((entry = readdir(tasks)) != NULL) {
		pid_t tid = (pid_t)atoi(entry->d_name);
		struct ring *ring = tid > 0 ? ring_of(tid) : NULL;
		uint32_t location;

		if (ring != NULL)
			ring->there = true;
		else if (tid > 0 && error == 0)
			error = add_ring(tid, thread_location(tid, &location) ? RING_BYTES : WORKER_BYTES);
	}
	closedir(tasks);
	return error;
}

/* ---- what frames may lie in ---- */

static struct {
	struct { uintptr_t begin, end; } at[512];
	size_t count;
	unsigned long long loads;	/* objects ever loaded, as of the last look */
} modules;

static int
learn_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0 &&
		    modules.count < sizeof modules.at / sizeof modules.at[0]) {
			modules.at[modules.count].begin = info->dlpi_addr + part->p_vaddr;
			modules.at[modules.count++].end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
		}
	}
	return 0;
}

static int
count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
	(void)size;
	*(unsigned long long *)loads = info->dlpi_adds;
	return 1;
}

static void
learn_modules(void)
{
	unsigned long long loads = 0;

	dl_iterate_phdr(count_loads, &loads);
	if (loads == modules.loads)
		return;
	modules.loads = loads;
	modules.count = 0;
	dl_iterate_phdr(learn_module, NULL);
}

static bool
is_in_module(const void *address)
{
	for (size_t i = 0; i < modules.count; i++)
		if ((uintptr_t)address - modules.at[i].begin < modules.at[i].end - modules.at[i].begin)
			return true;
	return false;
}

/* ---- from rings to the trace ---- */

/* From the kernel's clock to the one of the trace: they run at one rate for the time between two. */
static int64_t
offset_ns(void)
{
	struct instant now = clock_instant();

	return ticks_ns(clock_ticks_at(&now)) - now.monotonic_ns + clock_namespace_ns();
}

static void
write_batch(struct ring *ring, int64_t until_ns)
{
	uint32_t location = 0, number = 0;
	struct small small;

	if (batch.count == 0 && ring->lost == 0)
		return;
	if (!thread_location(ring->tid, &location))
		number = ring->worker != 0 ? ring->worker : (ring->worker = ++workers);
	small_begin(&small, "sampled", 7u + (number > 0) + (ring->lost > 0) + (batch.stacks != NULL ? 3 : 0));
	small_uint(&small, "location", location);
	if (number > 0)
		small_uint(&small, "worker", number);
	small_uint(&small, "count", batch.count);
	small_uint(&small, "period_ns", (uint64_t)(1000000000 / options.sample_hz));
	small_int(&small, "until_ns", until_ns);
	if (ring->lost > 0)
		small_uint(&small, "lost", ring->lost);
	small_bytes(&small, "time", batch.time_ns, 8 * (size_t)batch.count);
	small_bytes(&small, "site", batch.site, 4 * (size_t)batch.count);
	small_bytes(&small, "callers", batch.callers, 4 * (size_t)batch.count);
	if (batch.stacks != NULL) {
		small_bytes(&small, "registers", batch.registers, sizeof batch.registers[0] * batch.count);
		small_bytes(&small, "stack_bytes", batch.stack_bytes, 4 * (size_t)batch.count);
		small_bytes(&small, "stacks", batch.stacks, batch.used);
	}
	small_append(&small);
	batch.count = 0;
	batch.used = 0;
	ring->lost = 0;
}

/* What a ring's record is made of: struct perf_event_header, then these. */
struct taken {
	uint64_t ip, time, frames, frame[FRAMES + 8];
};

static void
take_sample(const struct taken *taken, size_t size, int64_t offset)
{
	const void *callers[FRAMES];
	int depth = 0;
	bool first = true;

	for (uint64_t i = 0; i < taken->frames && size >= 8 * (3 + i + 1) && depth < FRAMES; i++) {
		if (taken->frame[i] >= (uint64_t)PERF_CONTEXT_MAX)
			continue;	/* says whose frames follow */
		if (first)		/* the place itself */
			first = false;
		else if (is_in_module((const void *)(uintptr_t)taken->frame[i]))
			callers[depth++] = (const void *)(uintptr_t)taken->frame[i];
		else
			break;		/* a register that holds no frame */
	}
	batch.time_ns[batch.count] = (int64_t)taken->time + offset;
	/* Like a return address: one byte before it lies inside. */
	batch.site[batch.count] = plain_site((const void *)(uintptr_t)(taken->ip + 1), 0);
	batch.callers[batch.count++] = frames_site(callers, depth, 0);
}

static void
copy_out(const struct ring *ring, uint64_t from, void *to, size_t size)
{
	const unsigned char *data = (const unsigned char *)ring->page + ring->page->data_offset;
	size_t at = (size_t)(from % ring->bytes), first = ring->bytes - at < size ? ring->bytes - at : size;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, size - first);
}

/*
 * What lies behind the callers: which registers there are, they, the size of the stack, it, and how much of
 * it was there. FROM and END: of the record, in the ring. Before take_sample(), which counts.
 */
static void
take_stack(const struct ring *ring, uint64_t from, uint64_t end)
{
	uint64_t abi = 0, registers[REGISTERS], size = 0, there = 0;
	uint64_t *into = batch.registers[batch.count];

	batch.stack_bytes[batch.count] = 0;
	memset(into, 0, sizeof batch.registers[0]);
	if (end - from < sizeof abi)
		return;
	copy_out(ring, from, &abi, sizeof abi);
	from += sizeof abi;
	if (abi != PERF_SAMPLE_REGS_ABI_64 || end - from < sizeof registers + sizeof size)
		return;
	copy_out(ring, from, registers, sizeof registers);
	from += sizeof registers;
	for (int i = 0; i < REGISTERS; i++)
		into[dwarf_register[i]] = registers[i];
	copy_out(ring, from, &size, sizeof size);
	from += sizeof size;
	if (size == 0 || size > end - from || end - from - size < sizeof there)
		return;
	copy_out(ring, from + size, &there, sizeof there);
	if (there > size || there > STACK_BYTES - batch.used)
		return;
	copy_out(ring, from, batch.stacks + batch.used, (size_t)there);
	batch.stack_bytes[batch.count] = (uint32_t)there;
	batch.used += (size_t)there;
}

/* No room for one more. */
static bool
is_full(void)
{
	return batch.count == BATCH || (batch.stacks != NULL && (batch.count == STACKS ||
	    STACK_BYTES - batch.used < (size_t)options.sample_stack));
}

static void
read_ring(struct ring *ring, int64_t offset, int64_t until_ns)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;
	struct taken taken;

	while (tail + sizeof header <= head) {
		size_t size;

		copy_out(ring, tail, &header, sizeof header);
		if (header.size < sizeof header)
			break;
		size = header.size - sizeof header < sizeof taken ? header.size - sizeof header : sizeof taken;
		copy_out(ring, tail + sizeof header, &taken, size);
		if (header.type == PERF_RECORD_SAMPLE && size >= 3 * sizeof(uint64_t)) {
			if (batch.stacks != NULL && taken.frames <= sizeof taken / sizeof(uint64_t))
				take_stack(ring, tail + sizeof header + (3 + taken.frames) * sizeof(uint64_t),
				    tail + header.size);
			take_sample(&taken, size, offset);
		}
		else if (header.type == PERF_RECORD_LOST && size >= 2 * sizeof(uint64_t))
			ring->lost += taken.time;	/* an id, then how many */
		tail += header.size;
		if (is_full())
			write_batch(ring, until_ns);
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	write_batch(ring, until_ns);
}

static void
set_due(void)
{
	__int128 ticks = ((__int128)DUE_NS << 32) / (__int128)clock_map.rate;

	__atomic_store_n(&sample_due_ticks, clock_ticks() + (uint64_t)ticks, __ATOMIC_RELEASE);
}

void
sample_drain(void)
{
	int64_t offset, until_ns;

	if (pthread_mutex_trylock(&sampling) != 0)
		return;			/* another thread is at it */
	if (__atomic_load_n(&sample_due_ticks, __ATOMIC_ACQUIRE) != UINT64_MAX && recording && !lost) {
		offset = offset_ns();
		until_ns = clock_ns();
		modules_append();
		learn_modules();
		find_threads();
		for (struct ring **at = &rings, *ring; (ring = *at) != NULL; ) {
			read_ring(ring, offset, until_ns);
			if (!ring->there) {
				*at = ring->next;
				close_ring(ring);
			} else
				at = &ring->next;
		}
		set_due();
	}
	pthread_mutex_unlock(&sampling);
}

/* ---- beginning and end ---- */

void
sample_start(int rank)
{
	int error;

	if (options.sample_hz == 0 || !recording || lost)
		return;
	pthread_mutex_lock(&sampling);
	if (options.sample_stack > 0 && (batch.stacks = malloc(STACK_BYTES)) == NULL)
		options.sample_stack = 0;
	if ((error = find_threads()) == 0 || rings != NULL)
		set_due();
	else if (rank == 0) {
		char line[400];

		snprintf(line, sizeof line, "--sample: the kernel refuses it: %s; it is allowed by "
		    "kernel.perf_event_paranoid of 2 or less (sysctl), and in a container by a seccomp profile "
		    "with perf_event_open; no samples are taken", strerror(error));
		say(line);
	}
	pthread_mutex_unlock(&sampling);
}

void
sample_end(void)
{
	sample_drain();
	pthread_mutex_lock(&sampling);
	__atomic_store_n(&sample_due_ticks, UINT64_MAX, __ATOMIC_RELEASE);
	for (struct ring *ring; (ring = rings) != NULL; ) {
		rings = ring->next;
		close_ring(ring);
	}
	pthread_mutex_unlock(&sampling);
}

/* The rings are not mapped in a forked child. */
void
sample_forget(void)
{
	sample_due_ticks = UINT64_MAX;
	rings = NULL;
	pthread_mutex_init(&sampling, NULL);
}

/* A program may end without MPI_Finalize. */
static __attribute__((destructor)) void
at_exit(void)
{
	if (in_recorded_process())
		sample_end();
}
