/* fuzz_import_claude.c -- any bytes as a Claude Code session: conversations that the commands take.
 * [Q20] [W20] */
#include "fuzz/fuzz_import.h"

typedef struct fuzz_claude {
    fuzz_import f; /* first: it is what read_line gets */
    vls_claude *claude;
} fuzz_claude;

static void read_line(fuzz_import *f, valise_str text, vls_json record)
{
    valise_error err = VALISE_ERROR_INIT;
    fuzz_claude *c = (fuzz_claude *)(void *)f;

    FUZZ_CHECK(vls_claude_line(c->claude, text, record, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_error err = VALISE_ERROR_INIT;
    fuzz_claude c = {.claude = NULL};
    vls_foreign *all = NULL;
    size_t count = 0;
    int rc;

    fuzz_import_begin(&c.f);
    FUZZ_CHECK(vls_claude_begin(&c.claude, &c.f.r, &err) == 0);
    fuzz_import_each(&c.f, vls_str(data, size), read_line);
    rc = vls_claude_finish(&all, &count, c.claude, &err);
    FUZZ_CHECK(rc == 0 || rc == VALISE_E_LIMIT);
    for (size_t i = 0; rc == 0 && i < count; i++)
        fuzz_import_check(&c.f, &all[i]);
    fuzz_import_end(&c.f);
    return 0;
}
