/* fuzz_bundle.c -- any bytes as a bundle: refused, or every record of it makes sense.
 *
 * A fuzzer never finds a SHA-256. So the input is taken as it is, and once more as records behind
 * which a hash that is right is put: then the checks of the records are on their own. [Q20] [K36]
 */
#include <string.h>

#include "fuzz/fuzz.h"

#include "base/bytes.h"
#include "base/str.h"
#include "store/bundle.h"

static int read_at(void *arg, uint64_t at, void *room, size_t len, valise_error *err)
{
    const valise_str *bytes = arg;

    (void)err;
    FUZZ_CHECK(at <= bytes->len && len <= bytes->len - at);
    memcpy(room, bytes->ptr + at, len);
    return 0;
}

static void check_record(const vls_bundle_record *record)
{
    if (record->tag == 'R')
        FUZZ_CHECK(record->coll && record->cells[0].type != VALISE_CELL_NULL && record->seq > 0);
    if (record->tag == 'L')
        FUZZ_CHECK(record->entry.seq > 0 && record->entry.type.ptr);
    if (record->tag == 'O' || record->tag == 'X')
        FUZZ_CHECK(record->kind[0]);
}

static void read_all(valise_str bytes)
{
    vls_bundle_source source = {.size_bytes = bytes.len, .read = read_at, .arg = &bytes};
    valise_error err = VALISE_ERROR_INIT;
    vls_bundle_reader *reader = NULL;
    vls_bundle_record record;
    int rc = vls_bundle_open(&reader, valise_env_default(), &source, &err);

    while (rc >= 0 && (rc = vls_bundle_next(&record, reader, &err)) > 0)
        check_record(&record);
    FUZZ_CHECK(rc == 0 || rc == VALISE_E_CORRUPT || rc == VALISE_E_UNSUPPORTED);
    FUZZ_CHECK(rc == 0 || (err.code == rc && err.message[0]));
    if (rc == 0)
        FUZZ_CHECK(vls_bundle_offset(reader) == bytes.len);
    vls_bundle_close(reader);
}

static void read_sealed(valise_str bytes)
{
    VLS_AUTO(buf) vls_buf sealed = {0};
    valise_id id;

    vls_buf_init(&sealed, valise_env_default(), SIZE_MAX);
    vls_buf_add(&sealed, bytes);
    vls_hash_bytes(&id, bytes);
    vls_buf_add_byte(&sealed, 'Z');
    vls_bytes_add_string(&sealed, vls_str(&id, sizeof(id)));
    read_all(vls_buf_str(&sealed));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_all(vls_str(data, size));
    read_sealed(vls_str(data, size));
    if (size > 34) /* a bundle with its own end */
        read_sealed(vls_str(data, size - 34));
    return 0;
}
