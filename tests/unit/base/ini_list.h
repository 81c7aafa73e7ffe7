/* ini_list.h -- a configuration file as `git config --list -z` prints it: "name\nvalue\0" for
 * each entry, "name\0" for a key that stands alone. For the tests of base/ini.h. */
#ifndef INI_LIST_H
#define INI_LIST_H

#include "harness/test.h"

#include "base/ini.h"

static inline int ini_list_entry(void *arg, const vls_ini_entry *entry, valise_error *err)
{
    vls_buf *out = arg;

    vls_buf_add(out, entry->full_name);
    if (entry->value.ptr) {
        vls_buf_add_byte(out, '\n');
        vls_buf_add(out, entry->value);
    }
    vls_buf_add_byte(out, '\0');
    return vls_buf_check(out, err);
}

/* Into memory of the test; *rc is what vls_ini_read said. What was read before an error is
 * listed too. */
static inline valise_str ini_list(test *t, int *rc, valise_str text)
{
    VLS_AUTO(buf) vls_buf out;

    vls_buf_init(&out, t->env, 16 << 20);
    *rc = vls_ini_read(t->env, VLS_STR("config"), text, ini_list_entry, &out, &t->err);
    char *copy = test_alloc(out.len);
    if (out.len > 0)
        memcpy(copy, out.ptr, out.len);
    return vls_str(copy, out.len);
}

/* The same text in memory of exactly its size, so that ASan sees a step over its end. */
static inline valise_str ini_exact(valise_str s)
{
    char *copy = test_alloc(s.len);

    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    return vls_str(copy, s.len);
}

#endif
