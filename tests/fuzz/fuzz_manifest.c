/* fuzz_manifest.c -- bytes as the manifest of a checkpoint: no path in it leads out of the tree or
 * into .git, and what is read is written as the same; or it is refused. [Q20] [C31] */
#include "fuzz/fuzz.h"

#include "checkpoint/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VLS_AUTO(manifest_reader) vls_manifest_reader reader = {.any = false};
    VLS_AUTO(buf) vls_buf out = {0};
    valise_error err = VALISE_ERROR_INIT;
    vls_manifest_entry e;
    int rc = vls_manifest_open(&reader, valise_env_default(), vls_str(data, size), &err);

    vls_buf_init(&out, valise_env_default(), SIZE_MAX);
    if (rc == 0)
        vls_manifest_begin(&out, reader.partial);
    while (rc == 0 && (rc = vls_manifest_next(&e, &reader, &err)) > 0) {
        FUZZ_CHECK(vls_path_check(e.path, NULL) == 0 && e.mode <= VLS_MODE_DIR_BITS && e.size >= 0);
        FUZZ_CHECK(e.kind == VLS_MANIFEST_LACKING || !vls_manifest_is_reserved(e.path));
        vls_manifest_add(&out, &e);
        rc = 0;
    }
    if (rc < 0)
        FUZZ_CHECK(err.code == VALISE_E_CORRUPT && err.message[0]);
    else
        FUZZ_CHECK(out.len <= size); /* varints may be longer than they have to be */
    return 0;
}
