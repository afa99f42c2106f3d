/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names its parts as libraries do for other tools: the part of Kokkos, NVTX and ITT that finds a
 * tool by a variable of the environment and calls it, by their published headers.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void *
tool(const char *variable, const char *function)
{
	const char *path = getenv(variable);
	void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;

	return library != NULL ? dlsym(library, function) : NULL;
}

/* ---- Kokkos ---- */

static void
kokkos(void)
{
	static const char *const variables[] = { "KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY" };
	void (*begin)(const char *, uint32_t, uint64_t *), (*end)(uint64_t);
	void (*push)(const char *), (*pop)(void);
	uint64_t kernel;

	for (int i = 0; i < 2; i++) {
		*(void **)&push = tool(variables[i], "kokkosp_push_profile_region");
		*(void **)&pop = tool(variables[i], "kokkosp_pop_profile_region");
		*(void **)&begin = tool(variables[i], "kokkosp_begin_parallel_for");
		*(void **)&end = tool(variables[i], "kokkosp_end_parallel_for");
		if (push == NULL || pop == NULL || begin == NULL || end == NULL)
			continue;
		push(variables[i]);
		begin("kernel", 0, &kernel);
		end(kernel);
		pop();
	}
}

/* ---- NVTX ---- */

typedef void (*function)(void);
static int (*push_a)(const char *), (*push_w)(const wchar_t *), (*push_ex)(const void *);
static int (*pop)(void);
static int (*domain_push)(void *, const void *), (*domain_pop)(void *);
static void *(*register_a)(void *, const char *);
static function *core[16] = { [8] = (function *)&push_ex, [9] = (function *)&push_a,
	[10] = (function *)&push_w, [11] = (function *)&pop };
static function *core2[16] = { [4] = (function *)&domain_push, [5] = (function *)&domain_pop,
	[10] = (function *)&register_a };
static function unused;

static int
table(int module, function ***out, unsigned *size)
{
	for (int i = 0; i < 16; i++) {
		if (core[i] == NULL)
			core[i] = &unused;
		if (core2[i] == NULL)
			core2[i] = &unused;
	}
	*out = module == 1 ? core : module == 5 ? core2 : NULL;
	*size = 16;
	return *out != NULL;
}

static const void *
export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*table)(int, function ***, unsigned *);
	} callbacks = { sizeof callbacks, table };

	return id == 1 ? &callbacks : NULL;
}

static void
nvtx(void)
{
	struct {
		uint16_t version, size;
		uint32_t category;
		int32_t color_type;
		uint32_t color;
		int32_t payload_type, reserved;
		uint64_t payload;
		int32_t message_type;
		const void *message;
	} text = { .version = 3, .size = sizeof text, .message_type = 1, .message = "with colour" };
	int (*inject)(const void *(*)(uint32_t));

	*(void **)&inject = tool("NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2");
	if (inject == NULL || inject(export_table) != 1 || push_a == NULL || pop == NULL)
		return;
	printf("%d", push_a("plain"));
	printf(" %d", push_w(L"w\u00efde"));
	printf(" %d", pop());
	printf(" %d\n", pop());
	push_ex(&text);
	pop();
	text.message_type = 3;
	text.message = register_a(NULL, "registered");
	domain_push(NULL, &text);
	domain_pop(NULL);
}

/* ---- ITT ---- */

struct itt_id { unsigned long long parts[3]; };
struct itt_domain { volatile int flags; const char *name; const wchar_t *wide; };
struct itt_handle { const char *text; const wchar_t *wide; };
static void (*task_begin)(const struct itt_domain *, struct itt_id, struct itt_id,
    const struct itt_handle *);
static void (*task_end)(const struct itt_domain *);
static struct itt_domain *(*domain_create)(const char *);
static void (*none_yet)(void);

static void
itt(void)
{
	static struct {
		const char *name;
		void **pointer, *first, *none;
		int group;
	} functions[] = {
		{ "__itt_task_begin", (void **)&task_begin, NULL, NULL, 1 },
		{ "__itt_domain_create", (void **)&domain_create, NULL, NULL, 1 },
		{ "__itt_pause", (void **)&none_yet, (void *)1, NULL, 1 },
		{ "__itt_task_end", (void **)&task_end, NULL, NULL, 1 },
		{ NULL, NULL, NULL, NULL, 0 },
	};
	static struct {
		unsigned char magic[8];
		unsigned long version[3];
		volatile long begun, has_mutex, count;
		pthread_mutex_t mutex;
		void *library, *error_handler;
		const char **path;
		void *functions;
		void *more[8];
	} global = { .functions = functions };
	const struct itt_handle handle = { "a task", NULL };
	const struct itt_id id = { { 1, 2, 3 } };
	struct itt_domain *domain;
	void (*init)(void *, int);

	*(void **)&init = tool("INTEL_LIBITTNOTIFY64", "__itt_api_init");
	if (init == NULL)
		return;
	none_yet = (void (*)(void))1;
	init(&global, -1);
	if (none_yet != NULL || task_begin == NULL || task_end == NULL || domain_create == NULL)
		return;
	domain = domain_create("a domain");
	if (domain->flags == 0)
		return;
	task_begin(domain, id, id, &handle);
	task_end(domain);
}

int
main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	kokkos();
	nvtx();
	itt();
	MPI_Finalize();
	return 0;
}
