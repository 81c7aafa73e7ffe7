/* fuzz_tree_changes.c -- bytes as the list of changes of a scan: what is read is written as the
 * same bytes, or it is refused. [Q20] */
#include "fuzz/fuzz.h"

#include "tree/changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static vls_tree_changes_reader reader;
    static vls_tree_changes_writer writer;
    VLS_AUTO(buf) vls_buf out = {0};
    valise_error err = VALISE_ERROR_INIT;
    vls_tree_change change;
    int rc;

    vls_buf_init(&out, valise_env_default(), SIZE_MAX);
    vls_tree_changes_begin(&writer, &out);
    vls_tree_changes_open(&reader, vls_str(data, size));
    while ((rc = vls_tree_changes_next(&change, &reader, &err)) > 0) {
        FUZZ_CHECK(vls_path_check(change.path, NULL) == 0 && change.node.size >= 0);
        vls_tree_changes_add(&writer, &change);
    }
    if (rc < 0)
        FUZZ_CHECK(err.code == VALISE_E_CORRUPT && err.message[0]);
    else
        /* Paths may share less than they could: shorter, never longer, and read alike. */
        FUZZ_CHECK(out.len <= size);
    return 0;
}
