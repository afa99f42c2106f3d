/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites in Python. Its binding to MPI gives up the interpreter's lock before it calls MPI, so
 * most functions of Python must not be called here. But a thread's frames change only by the thread
 * itself, which is in MPI now, and each holds its code. They are read as they lie in memory, by
 * functions that change nothing and need no lock. Where they lie is known of some versions, and
 * compared with what Python says itself in MPI_Init, where the thread has the lock.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "sites.h"

enum {
	LONGEST = 1024,			/* text; the rest is cut off */
	LINE_SHIFT = 16,		/* of a place: the call is below */
	FUNCTION_SHIFT = 44,		/* the line is below */
};
static const uint64_t FIRST_PLACE = (uint64_t)1 << 62;	/* no code is there */

/*
 * Offsets, in bytes: in the thread's state, in what it has for frames (DIRECT: it has the frame),
 * in a frame, and in code.
 */
enum { DIRECT = 1, TYPE = 8 };		/* TYPE: in every object */
static const struct layout {
	const char *version;
	size_t frames, current, code, previous, next, file, name, instructions;
} layouts[] = {
	{ "3.11.", 56, 8, 32, 48, 56, 112, 128, 184 },
	{ "3.12.", 56, 0, 0, 8, 56, 112, 128, 192 },
	{ "3.13.", 72, DIRECT, 0, 8, 56, 112, 128, 200 },
};
static const struct layout *layout;	/* NULL: there are no places in Python */
static const void *code_type;	/* that of all code: Python's own frames may have none */
static struct code binding;

static struct {
	const char *(*version)(void);
	int (*has_lock)(void);
	void *(*thread)(void), *(*frame)(void), *(*code)(void *);
	int (*line_of_frame)(void *), (*line)(const void *, int);
	ssize_t (*length)(const void *);
	uint32_t (*letter)(const void *, ssize_t);
	void *(*attribute)(void *, const char *), (*release)(void *);
} python;
static const struct { const char *name; void *function; } names[] = {
	{ "Py_GetVersion", &python.version }, { "PyGILState_Check", &python.has_lock },
	{ "PyGILState_GetThisThreadState", &python.thread }, { "PyEval_GetFrame", &python.frame },
	{ "PyFrame_GetCode", &python.code }, { "PyFrame_GetLineNumber", &python.line_of_frame },
	{ "PyCode_Addr2Line", &python.line }, { "PyUnicode_GetLength", &python.length },
	{ "PyUnicode_ReadChar", &python.letter },
	{ "PyObject_GetAttrString", &python.attribute }, { "Py_DecRef", &python.release },
};

/* Functions that call MPI, or that call such; the table is locked. */
static struct function { struct function *next; uint64_t base; char name[]; } *functions;

static const void *
word(const void *from, size_t offset)
{
	return *(const void *const *)((const char *)from + offset);
}

/* The frame, or the next one outwards that has code. */
static const void *
with_code(const void *frame)
{
	while (frame != NULL && (word(frame, layout->code) == NULL ||
	    word(word(frame, layout->code), TYPE) != code_type))
		frame = word(frame, layout->previous);
	return frame;
}

static const void *
current_frame(void)
{
	const void *thread = python.thread(), *frames;

	frames = thread != NULL ? word(thread, layout->frames) : NULL;
	return with_code(frames == NULL || layout->current == DIRECT ? frames :
	    word(frames, layout->current));
}

static int
line_of(const void *frame)
{
	const char *code = word(frame, layout->code), *next = word(frame, layout->next);

	return python.line(code, (int)(next - (code + layout->instructions)));
}

static void
text_of(const void *frame, size_t offset, char text[LONGEST])
{
	const void *string = word(word(frame, layout->code), offset);
	const ssize_t length = python.length(string);
	ssize_t i;

	for (i = 0; i < length && i < LONGEST - 1; i++) {
		const uint32_t letter = python.letter(string, i);

		text[i] = letter < ' ' || letter > '~' ? '?' : (char)letter;
	}
	text[i] = '\0';
}

/* The place as an address in a module that has the function's name. */
static const void *
place_of(const void *frame, const char *file, uint16_t call)
{
	char name[2 * LONGEST];
	struct function *function;
	uint64_t base = 0;
	size_t length;

	text_of(frame, layout->name, name);
	length = strlen(name) + 1;
	memcpy(name + length, file, strlen(file) + 1);
	length += strlen(file) + 1;
	pthread_mutex_lock(&table_lock);
	for (function = functions; function != NULL && base == 0; function = function->next)
		if (memcmp(function->name, name, length) == 0)
			base = function->base;
	if (base == 0 && (function = calloc(1, sizeof *function + sizeof name)) != NULL) {
		base = functions != NULL ? functions->base + ((uint64_t)1 << FUNCTION_SHIFT) :
		    FIRST_PLACE;
		function->next = functions;
		function->base = base;
		memcpy(function->name, name, length);
		functions = function;
		function_append(base, (uint64_t)1 << FUNCTION_SHIFT, file, name);
	}
	pthread_mutex_unlock(&table_lock);
	return (const void *)(uintptr_t)(base == 0 ? 0 :
	    base + ((uint64_t)line_of(frame) << LINE_SHIFT) + call);
}

int
python_places(const void *address, uint16_t call, const void **places, int most)
{
	const bool is_binding = (uint64_t)(uintptr_t)address - binding.from < binding.bytes;
	const void *frame = is_binding ? current_frame() : NULL, *outer = frame;
	char file[LONGEST];
	int count = 0;

	/* the user's own code, if there is any: it is of a file, and of no installed library */
	for (; outer != NULL; outer = with_code(word(outer, layout->previous))) {
		text_of(outer, layout->file, file);
		if (file[0] != '<' && strstr(file, "-packages/") == NULL)
			break;
	}
	for (frame = outer != NULL ? outer : frame; frame != NULL && count < most;
	    frame = with_code(word(frame, layout->previous))) {
		text_of(frame, layout->file, file);
		places[count] = place_of(frame, file, count == 0 ? call : 0);
		if (places[count++] == NULL)
			return 0;
	}
	return count;
}

/* Does the memory hold what Python says? */
static bool
is_as_known(void)
{
	void *said = python.frame(), *code;
	const void *frame;
	bool is;

	if (said == NULL || (code = python.code(said)) == NULL)
		return false;
	code_type = word(code, TYPE);
	frame = current_frame();
	is = frame != NULL && word(frame, layout->code) == code &&
	    line_of(frame) == python.line_of_frame(said);
	for (int i = 0; i < 2; i++) {
		void *text = python.attribute(code, i == 0 ? "co_filename" : "co_qualname");

		is &= text != NULL && text == word(code, i == 0 ? layout->file : layout->name);
		python.release(text);
	}
	python.release(code);
	return is;
}

void
python_start(const void *from)
{
	void *function;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if ((function = dlsym(RTLD_DEFAULT, names[i].name)) == NULL)
			return;
		memcpy(names[i].function, &function, sizeof function);
	}
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (strncmp(python.version(), layouts[i].version, strlen(layouts[i].version)) == 0)
			layout = &layouts[i];
	/* a program may only be linked with Python; then there is no lock, and any thread has it */
	if (layout == NULL || python.has_lock() != 1 || python.thread() == NULL || !is_as_known())
		return;
	binding = code_around(from);
	options.any_stack = true;
}
