/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exported functions. Each jumps to the address in doors[], with all arguments and the return
 * address unchanged. The list, doors.h, is generated from the symbols that the recorders export,
 * or that the recorder for the standard ABI needs.
 */
#include "front.h"

#ifdef HIDDEN				/* doors of a recorder to its MPI: record/abi/next.c */
#define SCOPE(name) ".globl " #name "\n.hidden " #name "\n"
#else
#define SCOPE(name) ".globl " #name "\n"
#endif

const char *const door_names[] = {
#define DOOR(number, name) #name,
#include "doors.h"
#undef DOOR
};
const size_t door_count = sizeof door_names / sizeof door_names[0];

#if defined __x86_64__

#define DOOR(number, name) \
	__asm__(".pushsection .text\n" SCOPE(name) ".type " #name ", @function\n" \
	    #name ":\n\tendbr64\n\tjmp *doors + 8 * " #number "(%rip)\n" \
	    ".size " #name ", . - " #name "\n" \
	    "longpole_first_" #number ":\n\tmovl $" #number ", %r11d\n\tjmp " \
	    "longpole_first\n.popsection");
#include "doors.h"
#undef DOOR
__asm__(".pushsection .text\n"
	"longpole_first:\n"
	"	push %rdi\n	push %rsi\n	push %rdx\n	push %rcx\n	push %r8\n	push %r9\n"
	"	push %rax\n	push %r10\n	push %r11\n"
	"	movq %r11, %rdi\n	call front_open\n"
	"	pop %r11\n	pop %r10\n	pop %rax\n"
	"	pop %r9\n	pop %r8\n	pop %rcx\n	pop %rdx\n	pop %rsi\n	pop %rdi\n"
	"	push %r10\n	leaq doors(%rip), %r10\n	movq (%r10,%r11,8), %r11\n	pop %r10\n"
	"	jmp *%r11\n"
#ifndef FRONT
	/*
	 * RTLD_NEXT and RTLD_DEFAULT depend on the caller, so the system must see the original
	 * caller.
	 */
	".globl dlsym\n.type dlsym, @function\n"
	"dlsym:\n"
	"	endbr64\n	push %rdi\n	push %rsi\n	subq $8, %rsp\n"
	"	call front_dlsym\n"
	"	addq $8, %rsp\n	pop %rsi\n	pop %rdi\n"
	"	testq %rax, %rax\n	jz 1f\n	movq %rdx, %rax\n	ret\n"
	"1:	movq system_dlsym(%rip), %rax\n	jmp *%rax\n"
	".size dlsym, . - dlsym\n"
#endif
	".popsection");

#elif defined __aarch64__

#define DOOR(number, name) \
	__asm__(".pushsection .text\n" SCOPE(name) ".type " #name ", %function\n" \
	    #name ":\n\tbti c\n\tadrp x16, doors + 8 * " #number "\n" \
	    "\tldr x16, [x16, :lo12:doors + 8 * " #number "]\n\tbr x16\n" \
	    ".size " #name ", . - " #name "\n" \
	    "longpole_first_" #number ":\n\tbti j\n\tmov x17, #" #number "\n\tb longpole_first\n" \
	    ".popsection");
#include "doors.h"
#undef DOOR
__asm__(".pushsection .text\n"
	"longpole_first:\n"
	"	stp x29, x30, [sp, #-112]!\n	stp x0, x1, [sp, #16]\n	stp x2, x3, [sp, #32]\n"
	"	stp x4, x5, [sp, #48]\n	stp x6, x7, [sp, #64]\n	stp x8, x17, [sp, #80]\n"
	"	mov x0, x17\n	bl front_open\n"
	"	ldp x0, x1, [sp, #16]\n	ldp x2, x3, [sp, #32]\n	ldp x4, x5, [sp, #48]\n"
	"	ldp x6, x7, [sp, #64]\n	ldp x8, x17, [sp, #80]\n	ldp x29, x30, [sp], #112\n"
	"	adrp x16, doors\n	add x16, x16, :lo12:doors\n	ldr x16, [x16, x17, lsl #3]\n"
	"	br x16\n"
#ifndef FRONT
	".globl dlsym\n.type dlsym, %function\n"
	"dlsym:\n"
	"	bti c\n	stp x29, x30, [sp, #-32]!\n	stp x0, x1, [sp, #16]\n"
	"	bl front_dlsym\n"
	"	cbz x0, 1f\n	mov x0, x1\n	ldp x29, x30, [sp], #32\n	ret\n"
	"1:	ldp x0, x1, [sp, #16]\n	ldp x29, x30, [sp], #32\n"
	"	adrp x16, system_dlsym\n	ldr x16, [x16, :lo12:system_dlsym]\n	br x16\n"
	".size dlsym, . - dlsym\n"
#endif
	".popsection");

#else
#error "no doors for this processor: preload the recorder of an MPI itself, by --mpi"
#endif

#define DOOR(number, name) \
	extern char longpole_first_##number[] __attribute__((visibility("hidden")));
#include "doors.h"
#undef DOOR
void *doors[] = {
#define DOOR(number, name) longpole_first_##number,
#include "doors.h"
#undef DOOR
};
