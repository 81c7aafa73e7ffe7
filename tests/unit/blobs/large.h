/* large.h -- large files, and how much memory they take. */
#ifndef BLOBS_LARGE_H
#define BLOBS_LARGE_H

#include <sys/types.h>

#include "harness/test.h"

/* A new file of this size without anything in it, open for reading; it has no name any more. */
int large_file(off_t size);
void vls_auto_large_file(int *fd);

/* Register one of this size and read it again, with less than 64 MiB of memory in all. */
void large_check(test *t, off_t size);

#endif
