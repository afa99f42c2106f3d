/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces for tools, through which programs name their regions already. They load the library
 * that a variable of the environment names, which lp-record sets to this one, and look for these
 * functions in it. Regions that need not be nested, or are of no thread, are left out: ranges of
 * NVTX with a handle, sections and fences of Kokkos.
 */
#include <pthread.h>
#include <stdlib.h>

#include "front.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"	/* programs declare them */

/* ---- Kokkos: KOKKOS_TOOLS_LIBS; kernels have no name at their end ---- */

#define KERNEL(kind) \
	EXPORT void \
	kokkosp_begin_parallel_##kind(const char *name, uint32_t device, uint64_t *kernel) \
	{ \
		(void)device; \
		*kernel = 0; \
		longpole_region_begin(name); \
	} \
	\
	EXPORT void \
	kokkosp_end_parallel_##kind(uint64_t kernel) \
	{ \
		(void)kernel; \
		longpole_region_end(NULL); \
	}
KERNEL(for)
KERNEL(reduce)
KERNEL(scan)

EXPORT void
kokkosp_push_profile_region(const char *name)
{
	longpole_region_begin(name);
}

EXPORT void
kokkosp_pop_profile_region(void)
{
	longpole_region_end(NULL);
}

/* ---- NVTX: NVTX_INJECTION64_PATH; nvToolsExt.h and nvtxTypes.h, version 3 ---- */

struct nvtx_text {			/* nvtxEventAttributes_t, and nvtxStringHandle_t */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union { const char *ascii; const wchar_t *wide; const void *registered; } message;
};
enum { NVTX_ASCII = 1, NVTX_WIDE = 2, NVTX_REGISTERED = 3 };
typedef void (*nvtx_function)(void);
struct nvtx_callbacks {			/* NvtxExportTableCallbacks */
	size_t size;
	int (*table)(int module, nvtx_function ***table, unsigned *size);
};
enum { NVTX_CALLBACKS = 1, NVTX_CORE = 1, NVTX_CORE2 = 5 };
/* Numbers in the tables of both modules: NVTX_CBID_CORE_* and NVTX_CBID_CORE2_*. */
enum { PUSH_EX = 8, PUSH_A = 9, PUSH_W = 10, POP = 11 };
enum { DOMAIN_PUSH_EX = 4, DOMAIN_POP = 5, REGISTER_A = 10, REGISTER_W = 11 };

static __thread int depth;		/* the functions return the level, from 0 */

static int
push(const char *name)
{
	longpole_region_begin(name);
	return depth++;
}

static int
pop(void)
{
	if (depth == 0)
		return -2;		/* NVTX_NO_PUSH_POP_TRACKING */
	longpole_region_end(NULL);
	return --depth;
}

/* To UTF-8, whatever the program's locale is. */
static void
narrow(char *to, size_t size, const wchar_t *from)
{
	enum { MOST = 4 };		/* bytes of a character */
	char *const end = to + size - MOST;

	for (; from != NULL && *from != 0 && to < end; from++) {
		const uint32_t c = (uint32_t)*from;
		const int more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);

		*to++ = (char)(more == 0 ? c : (0xffu << (7 - more) & 0xff) | c >> 6 * more);
		for (int i = more; i-- > 0; )
			*to++ = (char)(0x80 | (c >> 6 * i & 0x3f));
	}
	*to = '\0';
}

static int
push_wide(const wchar_t *name)
{
	char text[256];

	narrow(text, sizeof text, name);
	return push(text);
}

/* A registered text is a copy of it. */
static int
push_text(const struct nvtx_text *text)
{
	if (text->message_type == NVTX_WIDE)
		return push_wide(text->message.wide);
	return push((text->message_type == NVTX_ASCII || text->message_type == NVTX_REGISTERED) &&
	    text->message.ascii != NULL ? text->message.ascii : "(no name)");
}

static int
domain_push(void *domain, const struct nvtx_text *text)
{
	(void)domain;
	return push_text(text);
}

static int
domain_pop(void *domain)
{
	(void)domain;
	return pop();
}

static void *
register_text(void *domain, const char *text)
{
	(void)domain;
	return text != NULL ? strdup(text) : NULL;
}

static void *
register_wide(void *domain, const wchar_t *name)
{
	char text[256];

	narrow(text, sizeof text, name);
	return register_text(domain, text);
}

EXPORT int
InitializeInjectionNvtx2(const void *(*tables)(uint32_t))
{
	static const struct { int module; unsigned number; nvtx_function to; } functions[] = {
		{ NVTX_CORE, PUSH_EX, (nvtx_function)push_text },
		{ NVTX_CORE, PUSH_A, (nvtx_function)push },
		{ NVTX_CORE, PUSH_W, (nvtx_function)push_wide },
		{ NVTX_CORE, POP, (nvtx_function)pop },
		{ NVTX_CORE2, DOMAIN_PUSH_EX, (nvtx_function)domain_push },
		{ NVTX_CORE2, DOMAIN_POP, (nvtx_function)domain_pop },
		{ NVTX_CORE2, REGISTER_A, (nvtx_function)register_text },
		{ NVTX_CORE2, REGISTER_W, (nvtx_function)register_wide },
	};
	const struct nvtx_callbacks *callbacks = tables(NVTX_CALLBACKS);
	nvtx_function **table;
	unsigned size;

	for (size_t i = 0; callbacks != NULL && i < sizeof functions / sizeof *functions; i++)
		if (callbacks->table(functions[i].module, &table, &size) && table != NULL &&
		    functions[i].number < size)
			*table[functions[i].number] = functions[i].to;
	return callbacks != NULL;
}

/* ---- ITT: INTEL_LIBITTNOTIFY64; ittnotify.h and ittnotify_config.h, version 3 ---- */

struct itt_name {			/* __itt_string_handle; the rest is not needed */
	const char *text;
};
struct itt_domain {			/* __itt_domain */
	volatile int flags;		/* 0: its calls do nothing */
	const char *name;
	const wchar_t *wide;
	int reserved;
	void *more, *next;
};
struct itt_id { unsigned long long parts[3]; };
struct itt_function {			/* __itt_api_info */
	const char *name;
	void **pointer, *first, *none;
	int group;
};
struct itt_program {			/* __itt_global, up to what is needed */
	unsigned char magic[8];
	unsigned long version[3];
	volatile long begun, has_mutex, count;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct itt_function *functions;
};

static void
task_begin(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
    const struct itt_name *name)
{
	(void)domain, (void)task, (void)parent;
	longpole_region_begin(name != NULL && name->text != NULL ? name->text : "(no name)");
}

static void
task_end(const struct itt_domain *domain)
{
	(void)domain;
	longpole_region_end(NULL);
}

/* A program's own ones may begin without calls. */
static struct itt_domain *
domain_create(const char *name)
{
	struct itt_domain *domain = calloc(1, sizeof *domain);

	if (domain != NULL) {
		domain->flags = 1;
		domain->name = name != NULL ? strdup(name) : NULL;
	}
	return domain;
}

EXPORT void
__itt_api_init(struct itt_program *program, int groups)
{
	static const struct { const char *name; void (*to)(void); } ours[] = {
		{ "__itt_task_begin", (void (*)(void))task_begin },
		{ "__itt_task_end", (void (*)(void))task_end },
		{ "__itt_domain_create", (void (*)(void))domain_create },
	};

	(void)groups;
	for (struct itt_function *f = program->functions; f->name != NULL; f++) {
		*f->pointer = f->none;
		for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
			if (strcmp(f->name, ours[i].name) == 0)
				memcpy(f->pointer, &ours[i].to, sizeof ours[i].to);
	}
}
