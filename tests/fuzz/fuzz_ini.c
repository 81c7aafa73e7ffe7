/* fuzz_ini.c -- any bytes as a configuration file: refused with a line and an offset, or read; and
 * then one value can be set and unset while every other entry stays as it is.
 *
 *     which name (1 byte) | length of value (1 byte) | value | text
 *
 * [Q20] */
#include "fuzz/fuzz.h"

#include "base/ini.h"
#include "base/str.h"

static const vls_ini_name names[] = {
    {{"a", 1}, {NULL, 0}, {"k", 1}},     {{"A", 1}, {"b", 1}, {"K", 1}},
    {{"core", 4}, {NULL, 0}, {"x", 1}},  {{"a", 1}, {"", 0}, {"k", 1}},
    {{"a", 1}, {"q\"\\ ", 4}, {"k", 1}}, {{"new", 3}, {"B\xFF", 2}, {"k-1", 3}},
};

typedef struct reading {
    const vls_ini_name *name;
    size_t count;   /* entries of that name */
    vls_buf last;   /* value of the last of them */
    vls_buf others; /* all the rest */
} reading;

static bool equal_ignoring_case(valise_str a, valise_str b)
{
    return a.len == b.len && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

static int note_entry(void *arg, const vls_ini_entry *entry, valise_error *err)
{
    reading *r = arg;

    (void)err;
    if (equal_ignoring_case(entry->name.section, r->name->section) &&
        equal_ignoring_case(entry->name.key, r->name->key) &&
        !entry->name.subsection.ptr == !r->name->subsection.ptr &&
        vls_str_equal(entry->name.subsection, r->name->subsection)) {
        r->count++;
        vls_buf_clear(&r->last);
        vls_buf_add(&r->last, entry->value);
        return 0;
    }
    vls_buf_add(&r->others, entry->full_name);
    vls_buf_add_byte(&r->others, entry->value.ptr ? '\n' : '\r');
    vls_buf_add(&r->others, entry->value);
    vls_buf_add_byte(&r->others, '\0');
    return 0;
}

static int read_text(reading *r, const vls_ini_name *name, valise_str text, valise_error *err)
{
    *r = (reading){.name = name};
    vls_buf_init(&r->last, valise_env_default(), (size_t)4 << 20);
    vls_buf_init(&r->others, valise_env_default(), (size_t)1 << 30);
    return vls_ini_read(valise_env_default(), VLS_STR("f"), text, note_entry, r, err);
}

static void release(reading *r)
{
    vls_buf_release(&r->last);
    vls_buf_release(&r->others);
}

static void check_set(const reading *before, valise_str text, valise_str value)
{
    VLS_AUTO(buf) vls_buf out = {0};
    reading after;

    vls_buf_init(&out, valise_env_default(), (size_t)4 << 20);
    int rc = vls_ini_set(&out, VLS_STR("f"), text, before->name, value, NULL);
    bool bad = vls_str_find_byte(value, '\0') < value.len;
    FUZZ_CHECK(bad ? rc == VALISE_E_INVALID : rc == 0 || rc == VALISE_E_TOO_LARGE);
    if (rc < 0)
        return;
    FUZZ_CHECK(read_text(&after, before->name, vls_buf_str(&out), NULL) == 0);
    FUZZ_CHECK(after.count == VLS_MAX(before->count, 1));
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&after.last), value));
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&after.others), vls_buf_str(&before->others)));
    release(&after);
}

static void check_unset(const reading *before, valise_str text)
{
    VLS_AUTO(buf) vls_buf out = {0};
    reading after;

    vls_buf_init(&out, valise_env_default(), (size_t)4 << 20);
    int rc = vls_ini_unset(&out, VLS_STR("f"), text, before->name, NULL);
    FUZZ_CHECK(rc == (before->count > 0 ? 0 : VALISE_E_NOT_FOUND));
    if (rc < 0)
        return;
    FUZZ_CHECK(read_text(&after, before->name, vls_buf_str(&out), NULL) == 0);
    FUZZ_CHECK(after.count == 0);
    FUZZ_CHECK(vls_str_equal(vls_buf_str(&after.others), vls_buf_str(&before->others)));
    release(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    valise_error err = VALISE_ERROR_INIT;
    reading before;

    if (size < 2)
        return 0;
    const vls_ini_name *name = &names[data[0] % VLS_COUNT(names)];
    valise_str rest = vls_str(data + 2, size - 2);
    valise_str value = vls_str_head(rest, data[1]), text = vls_str_from(rest, data[1]);

    int rc = read_text(&before, name, text, &err);
    if (rc == 0) {
        check_set(&before, text, value);
        check_unset(&before, text);
    } else {
        FUZZ_CHECK(err.code == rc && strncmp(err.message, "f:", 2) == 0);
        FUZZ_CHECK(rc == VALISE_E_TOO_LARGE || (err.offset >= 0 && (size_t)err.offset <= text.len));
    }
    release(&before);
    return 0;
}
