/* fuzz_import_split.c -- any bytes in pieces: the same ones however they come in, in their order,
 * and nothing twice. [Q20] [W20] */
#include "fuzz/fuzz_import.h"

typedef struct found {
    uint64_t count, offset, hash;
} found;

static found split(valise_str bytes, size_t step)
{
    static vls_splitter s;
    fuzz_feed feed = {bytes, step};
    valise_error err = VALISE_ERROR_INIT;
    found all = {0};
    uint64_t end = 0;
    vls_split_piece piece;
    int rc;

    FUZZ_CHECK(vls_split_begin(&s, valise_env_default(), fuzz_feed_give, &feed, 64, &err) == 0);
    while ((rc = vls_split_next(&piece, &s, &err)) > 0) {
        FUZZ_CHECK(piece.offset >= end && piece.offset <= bytes.len && piece.text.len <= 64);
        FUZZ_CHECK(piece.text.len == 0 ||
                   memcmp(bytes.ptr + piece.offset, piece.text.ptr, piece.text.len) == 0);
        end = piece.offset + piece.text.len;
        all.count++;
        all.offset += piece.offset + piece.line + (uint64_t)piece.what;
        all.hash ^= vls_str_hash(piece.text, all.count);
    }
    FUZZ_CHECK(rc == 0 && all.count <= bytes.len + 1);
    vls_split_end(&s);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    found once = split(vls_str(data, size), SIZE_MAX), bytewise = split(vls_str(data, size), 1);

    FUZZ_CHECK(once.count == bytewise.count && once.offset == bytewise.offset &&
               once.hash == bytewise.hash);
    return 0;
}
