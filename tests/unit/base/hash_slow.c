/* hash_slow.c -- messages over 4 GiB: no length may be cut to 32 bits on the way. [K1] */
#include "harness/test.h"

#include <sys/mman.h>

#include "base/hash.h"

#define SIZE ((size_t)4294967299u) /* 4 GiB and 3 bytes */

TEST(hash_slow, hashes_more_than_four_gibibytes_at_once)
{
    static const uint8_t expected[32] = {0x93, 0x0f, 0xa0, 0x67, 0x94, 0x0f, 0xf8, 0xd9, 0xf4,
                                         0x27, 0xe3, 0xa1, 0x16, 0xb7, 0x59, 0x85, 0x03, 0xc7,
                                         0x0c, 0xe7, 0x38, 0x0d, 0x66, 0xff, 0x65, 0xf8, 0xde,
                                         0x33, 0xd5, 0x58, 0xf7, 0xf3}; /* head -c 4294967299
                                                                           /dev/zero | sha256sum */
    valise_id id;

    /* Never written, so the whole mapping is the one page of zeros. */
    void *zeros = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED)
        SKIP("no address space for 4 GiB");
    vls_hash_bytes(&id, vls_str(zeros, SIZE));
    (void)munmap(zeros, SIZE);
    CHECK(memcmp(expected, id.bytes, sizeof(expected)) == 0);
}
