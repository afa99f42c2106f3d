/* SPDX-License-Identifier: BSD-3-Clause */
#include "import.h"
void import_prv(const char *file, int argc, char **argv) { (void)file; (void)argc; (void)argv; die("not yet"); }
