/* large_slow.c -- a file of 4 GiB. [K18] */
#include "blobs/large.h"

TEST(blob_large, four_gibibytes_take_no_memory)
{
    large_check(t, (off_t)4 << 30);
}
