/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the recorder's unwinder with the system's, from functions with different frames, and
 * where a thread stops between two calls. "frames [LIBRARY ...]" prints how many stacks it compared
 * and how many needed the system's. It ends with status 1 at the first difference. Compiled with
 * -DLIBRARY=N it is a library with frames of N * 48 bytes.
 */
#ifdef LIBRARY

void enter_library(void (*callback)(void));
void
enter_library(void (*callback)(void))
{
	volatile char room[LIBRARY * 48];

	room[0] = 1;
	callback();
	room[1] = room[0];
}

#else
#define backtrace counted_backtrace
#include "../../record/preload/cfi.c"
#define place frames_place
#include "../../record/preload/frames.c"
#undef backtrace

#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

int backtrace(void **frames, int size);

static int compared, asked;
static _Thread_local struct frame_memory *memory;

int
counted_backtrace(void **frames, int size)
{
	asked++;
	return backtrace(frames, size);
}

static __attribute__((noinline)) void
check(void)
{
	const void *first = __builtin_return_address(0), *frames[64];
	void *all[72];

	for (int depth = 1; depth <= 64; depth += depth < 8 ? 1 : 56) {
		int found = callers_from(&memory, first, frames, depth);
		int count = backtrace(all, 72), from = 0;

		while (from < count && all[from] != first)
			from++;
		count = count - from < depth ? count - from : depth;
		compared++;
		if (found == count && memcmp(frames, all + from, (size_t)count * sizeof *all) == 0)
			continue;
		printf("%d frames for %d\n", found, count);
		for (int i = 0; i < found || i < count; i++)
			printf("%p %p\n", i < found ? frames[i] : NULL,
			    i < count ? all[from + i] : NULL);
		exit(1);
	}
}

static volatile int sink;

static __attribute__((noinline)) void
of_a_size_found_out(int bytes)
{
	volatile char *room = alloca((size_t)bytes);

	room[0] = 1;
	check();
	sink += room[0];
}

/* The stack is aligned, and the caller's frame is found through a saved pointer. */
static __attribute__((noinline)) void
aligned(int bytes)
{
	_Alignas(128) volatile char room[256];

	room[0] = 1;
	check();
	of_a_size_found_out(bytes);
	sink += room[0];
}

static __attribute__((noinline)) void
deep(int levels)
{
	if (levels == 0)
		aligned(40);
	else
		deep(levels - 1);
	check();
	sink++;
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
with_a_base_pointer(int bytes)
{
	aligned(bytes);
	check();
	sink++;
}

/* Saves many registers, among them the base pointer. */
static __attribute__((noinline)) int
busy(int a, int b, int c, int d, int e, int f)
{
	int g = a * b, h = c * d, i = e * f;

	with_a_base_pointer(a);
	check();
	return a + b + c + d + e + f + g + h + i;
}

static int
by_size(const void *a, const void *b)
{
	check();
	return *(const int *)a - *(const int *)b;
}

static void *
thread(void *unused)
{
	sink += busy(64, 2, 3, 4, 5, 6);
	check();
	free(memory);
	return unused;
}

static void
call_back(void)
{
	check();
	sink++;
}

/* Rules of a library's addresses become invalid when another library is loaded there. */
static int
library(const char *path, const void **last)
{
	void *handle = dlopen(path, RTLD_NOW);
	void (*enter)(void (*)(void)) = NULL;
	const void *before = *last;

	if (handle == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
	*(void **)&enter = dlsym(handle, "enter_library");
	enter(call_back);
	*(void **)last = *(void **)&enter;
	dlclose(handle);
	return *last == before;
}

/* ---- stopped between two calls, with a copy of the top of the stack, as samples have it ---- */

enum { COPIED = 1024 };
static int stopped;

#ifdef __aarch64__
#define STOP "brk #0"
#else
#define STOP "int3"
#endif

static void
stop(int number, siginfo_t *info, void *context)
{
	mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;
	static struct frame_memory *copied;
	static uint64_t stack[COPIED / 8];
	const void *frames[8], *chain[8];
	void *all[72];
	struct stack_copy copy = { .bytes = (unsigned char *)stack, .size = COPIED,
	    .chain = chain };
	int count = backtrace(all, 72), from = 0, found;

	(void)number;
	(void)info;
	stopped++;
#ifdef __aarch64__
	copy.address = at->pc;
	copy.stack = at->sp;
	copy.base = at->regs[29];
	copy.link = at->regs[30];
	at->pc += 4;
	if (stopped % 2 == 0) {		/* most callers only by the chain, as a kernel finds it */
		copy.size = 16;
		for (const uintptr_t *link = (void *)copy.base; link != NULL && copy.chained < 8;
		    link = (void *)*link)
			chain[copy.chained++] = unsigned_address(link[1]);
	}
#else
	copy.address = (uintptr_t)at->gregs[REG_RIP];
	copy.stack = (uintptr_t)at->gregs[REG_RSP];
	copy.base = (uintptr_t)at->gregs[REG_RBP];
#endif
	memcpy(stack, (const void *)copy.stack, copy.size);
	while (from < count && all[from] != (void *)copy.address)
		from++;
	found = callers_in(&copied, &copy, frames, 4);
	if (found == 4 && count > from + 4 &&
	    memcmp(frames, all + from + 1, sizeof frames / 2) == 0)
		return;
	printf("stopped at %p, stack %d: %d frames\n", (void *)copy.address, stopped, found);
	for (int i = 0; i < 4; i++)
		printf("%p %p\n", i < found ? frames[i] : NULL,
		    from + 1 + i < count ? all[from + 1 + i] : NULL);
	exit(1);
}

/* No frame of its own, and on AArch64 the return address is only in a register. */
static __attribute__((noinline)) int
stop_in_leaf(int a)
{
	__asm__ volatile(STOP);
	return a + sink;
}

static __attribute__((noinline)) int
stop_in_frame(int a)
{
	_Alignas(64) volatile char room[128];

	room[0] = (char)stop_in_leaf(a);
	__asm__ volatile(STOP);
	return room[0] + stop_in_leaf(a);
}

static __attribute__((noinline)) int
stop_below(int levels)
{
	return levels == 0 ? stop_in_frame(1) + 1 : stop_below(levels - 1) * 3 + sink;
}

static ucontext_t outside, inside;

static void
on_an_own_stack(void)
{
	check();
	swapcontext(&inside, &outside);
}

int
main(int argc, char **argv)
{
	static char own_stack[1 << 16];
	int numbers[] = { 3, 1, 2, 5, 4 }, again = 0, expected;
	const void *last = NULL;
	pthread_t other;

	check();
	for (int bytes = 16; bytes < 4096; bytes *= 3) {
		of_a_size_found_out(bytes);
		sink += busy(bytes, 1, 2, 3, 4, 5);
	}
	deep(3);
	deep(100);
	qsort(numbers, 5, sizeof numbers[0], by_size);
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	for (int round = 0; round < 4; round++)
		for (int i = 1; i < argc; i++)
			again += library(argv[i], &last);
	sigaction(SIGTRAP, &(struct sigaction){ .sa_sigaction = stop, .sa_flags = SA_SIGINFO },
	    NULL);
	sink += stop_below(5) + stop_below(2);
	expected = asked;
	getcontext(&inside);
	inside.uc_stack.ss_sp = own_stack;
	inside.uc_stack.ss_size = sizeof own_stack;
	makecontext(&inside, on_an_own_stack, 0);
	swapcontext(&outside, &inside);
	printf("%d compared, %d stopped, %d by the system, %d at the place of another; "
	    "%d on an own stack\n", compared, stopped, expected, again, asked - expected);
	return 0;
}
#endif
