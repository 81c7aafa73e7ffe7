/* fuzz_import_chatgpt.c -- any bytes as a file of this format: conversations that the commands
 * take. [Q20] [W20] */
#include "fuzz/fuzz_import.h"

static void read_record(fuzz_import *f, valise_str text, vls_json record)
{
    valise_error err = VALISE_ERROR_INIT;
    vls_foreign foreign;
    int rc = vls_chatgpt_read(&foreign, &f->r, record, &err);

    (void)text;
    FUZZ_CHECK(rc >= 0 || rc == VALISE_E_LIMIT);
    if (rc > 0)
        fuzz_import_check(f, &foreign);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import f;

    fuzz_import_begin(&f);
    fuzz_import_each(&f, vls_str(data, size), read_record);
    fuzz_import_end(&f);
    return 0;
}
