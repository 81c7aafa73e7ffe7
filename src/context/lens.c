/* lens.c -- lenses: text to struct and back, and the filters. */
#include "context/lens_impl.h"

#include <valise/sys/field.h>

#include "base/glob.h"
#include "base/str.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"

const char *const vls_state_names[] = {"empty", "fresh", "stale", "invalidated", "orphaned", NULL};

static const char *const scopes[] = {"heads", "history", NULL};
static const char *const orders[] = {"type", "agent", "recency", NULL};

/* ---- reading ---- */

static const char hint[] = "parts are heads, history, recency, type, agent, max=N, max_bytes=N, "
                           "max_tokens=N, type=, agent=, path=, state=, seq=A..B, time=A..B";

int vls_lens_refuse(const vls_lens_reading *r, const char *why)
{
    (void)vls_fail_at(r->err, VALISE_E_INVALID, r->part.ptr - r->text.ptr, "%s: '%s' %s", r->what,
                      vls_text_short(r->part).s, why);
    vls_hint(r->err, "%s", r->hint);
    return VALISE_E_INVALID;
}

int vls_lens_once(vls_lens_reading *r, unsigned what, const char *why)
{
    if (r->seen & what)
        return vls_lens_refuse(r, why);
    r->seen |= what;
    return 0;
}

int vls_lens_word(const char *const *words, valise_str word)
{
    for (int i = 0; words[i]; i++) {
        if (vls_str_equal(valise_str_of(words[i]), word))
            return i;
    }
    return -1;
}

bool vls_lens_is_word(valise_str word)
{
    return vls_lens_word(scopes, word) >= 0 || vls_lens_word(orders, word) >= 0;
}

static int read_word(vls_lens_reading *r)
{
    int which = vls_lens_word(scopes, r->part);

    if (which >= 0) {
        r->lens->scope = which;
        return vls_lens_once(r, VLS_LENS_ONCE_SCOPE, "is a second scope");
    }
    which = vls_lens_word(orders, r->part);
    if (which < 0)
        return vls_lens_refuse(r, r->part.len == 0 ? "is an empty part" : "is not known");
    r->lens->order = which;
    return vls_lens_once(r, VLS_LENS_ONCE_ORDER, "is a second order");
}

static int read_limit(vls_lens_reading *r, int64_t *out, unsigned what, int64_t most)
{
    if (!vls_str_to_i64(out, r->value) || *out < 1)
        return vls_lens_refuse(r, "must be a number of 1 or more");
    if (*out > most)
        return vls_lens_refuse(r, "is too large a number");
    return vls_lens_once(r, what, "is there twice");
}

/* A set of characters is refused, since who writes one means it, and as a name it would match
 * nothing. */
int vls_lens_check_glob(const vls_lens_reading *r, const vls_glob_rules *rules, valise_str glob)
{
    if (vls_glob_check(rules, glob, NULL) < 0 || !vls_utf8_valid(glob))
        return vls_lens_refuse(r, "has a pattern that can never match");
    if (vls_str_find_byte(glob, '[') < glob.len)
        return vls_lens_refuse(r, "has a '[': only * and ** are wildcards");
    return 0;
}

/* Lists are sorted sets: the order in which filters are given means nothing. */
static int read_glob(vls_lens_reading *r, vls_lens_globs *out, const vls_glob_rules *rules)
{
    size_t at = 0;
    int order = 1, rc = vls_lens_check_glob(r, rules, r->value);

    if (rc < 0)
        return rc;
    while (at < out->count && (order = vls_str_compare(out->globs[at], r->value)) < 0)
        at++;
    if (at < out->count && order == 0)
        return 0;
    if (out->count == VLS_LENS_GLOBS_MAX)
        return vls_lens_refuse(r, "comes after too many filters");
    memmove(&out->globs[at + 1], &out->globs[at], (out->count - at) * sizeof(out->globs[0]));
    out->globs[at] = r->value;
    out->count++;
    return 0;
}

static int read_state(vls_lens_reading *r)
{
    int which = vls_lens_word(vls_state_names, r->value);

    if (which <= VLS_STATE_EMPTY)
        return vls_lens_refuse(r, "must be fresh, stale, invalidated or orphaned");
    r->lens->states |= 1u << which;
    return 0;
}

typedef int end_fn(int64_t *out, valise_str text);

static int seq_end(int64_t *out, valise_str text)
{
    return vls_str_to_i64(out, text) && *out >= 0 ? 0 : VALISE_E_INVALID;
}

static int time_end(int64_t *out, valise_str text)
{
    return vls_time_parse_said(out, text, NULL);
}

static int read_range(vls_lens_reading *r, int64_t *from, int64_t *to, unsigned what, end_fn *end)
{
    size_t at = vls_str_find(r->value, VLS_STR(".."));
    valise_str first = vls_str_head(r->value, at), last = vls_str_from(r->value, at + 2);

    if (at == r->value.len || (first.len == 0 && last.len == 0))
        return vls_lens_refuse(r, "must be a range such as A..B, A.. or ..B");
    if ((first.len > 0 && end(from, first) < 0) || (last.len > 0 && end(to, last) < 0))
        return vls_lens_refuse(r, "has an end that cannot be read");
    if (first.len > 0 && last.len > 0 && *from > *to)
        return vls_lens_refuse(r, "is a range that ends before it begins");
    return vls_lens_once(r, what, "is there twice");
}

int vls_lens_read_filter(vls_lens_reading *r)
{
    vls_lens *l = r->lens;

    if (vls_str_equal(r->name, VLS_STR("max")))
        return read_limit(r, &l->max_frames, VLS_LENS_ONCE_FRAMES, VLS_LENS_FRAMES_MAX);
    if (vls_str_equal(r->name, VLS_STR("max_bytes")))
        return read_limit(r, &l->max_bytes, VLS_LENS_ONCE_BYTES, INT64_MAX);
    if (vls_str_equal(r->name, VLS_STR("max_tokens")))
        return read_limit(r, &l->max_tokens, VLS_LENS_ONCE_TOKENS, INT64_MAX);
    if (vls_str_equal(r->name, VLS_STR("type")))
        return read_glob(r, &l->types, &vls_glob_flat);
    if (vls_str_equal(r->name, VLS_STR("agent")))
        return read_glob(r, &l->agents, &vls_glob_flat);
    if (vls_str_equal(r->name, VLS_STR("path")))
        return read_glob(r, &l->paths, &vls_glob_path);
    if (vls_str_equal(r->name, VLS_STR("state")))
        return read_state(r);
    if (vls_str_equal(r->name, VLS_STR("seq")))
        return read_range(r, &l->seq_from, &l->seq_to, VLS_LENS_ONCE_SEQ, seq_end);
    if (vls_str_equal(r->name, VLS_STR("time")))
        return read_range(r, &l->time_from, &l->time_to, VLS_LENS_ONCE_TIME, time_end);
    return vls_lens_refuse(r, "is not known");
}

static int read_part(vls_lens_reading *r)
{
    return r->value.ptr ? vls_lens_read_filter(r) : read_word(r);
}

vls_lens vls_lens_usual(void)
{
    return (vls_lens){.max_frames = VLS_LENS_FRAMES_USUAL,
                      .seq_from = VALISE_NONE,
                      .seq_to = VALISE_NONE,
                      .time_from = VALISE_NONE,
                      .time_to = VALISE_NONE};
}

int vls_lens_read(vls_lens_reading *r)
{
    valise_str rest = r->text;
    bool more = rest.len > 0;
    int rc = 0;

    if (rest.len > VLS_LENS_TEXT_MAX)
        return vls_fail(r->err, VALISE_E_TOO_LARGE, "a %s has more than %u bytes", r->what,
                        VLS_LENS_TEXT_MAX);
    while (rc == 0 && more) {
        more = vls_str_cut(&r->part, &rest, rest, ',');
        if (!r->part.ptr)
            r->part.ptr = r->text.ptr + r->text.len; /* behind the last comma */
        if (!vls_str_cut(&r->name, &r->value, r->part, '='))
            r->value = (valise_str){NULL, 0};
        else if (!r->value.ptr)
            r->value = VLS_STR("");
        rc = r->read(r);
    }
    return rc;
}

int vls_lens_parse(vls_lens *out, valise_str text, valise_error *err)
{
    vls_lens lens = vls_lens_usual();
    vls_lens_reading r = {
        .lens = &lens, .what = "view", .hint = hint, .read = read_part, .text = text, .err = err};
    int rc = vls_lens_read(&r);

    if (rc == 0)
        *out = lens;
    return rc;
}

/* ---- writing ---- */

static void write_globs(vls_buf *out, const char *name, const vls_lens_globs *globs)
{
    for (size_t i = 0; i < globs->count; i++) {
        vls_buf_printf(out, ",%s=", name);
        vls_buf_add(out, globs->globs[i]);
    }
}

static void write_limit(vls_buf *out, const char *name, int64_t limit)
{
    if (limit > 0)
        vls_buf_printf(out, ",%s=%lld", name, (long long)limit);
}

static void write_range(vls_buf *out, const char *name, int64_t from, int64_t to, bool times)
{
    if (from == VALISE_NONE && to == VALISE_NONE)
        return;
    vls_buf_printf(out, ",%s=", name);
    if (from != VALISE_NONE && times)
        vls_buf_add_text(out, vls_time_text_of(from).s);
    else if (from != VALISE_NONE)
        vls_buf_add_i64(out, from);
    vls_buf_add_text(out, "..");
    if (to != VALISE_NONE && times)
        vls_buf_add_text(out, vls_time_text_of(to).s);
    else if (to != VALISE_NONE)
        vls_buf_add_i64(out, to);
}

void vls_lens_write_filters(vls_buf *out, const vls_lens *lens)
{
    write_limit(out, "max", lens->max_frames);
    write_limit(out, "max_bytes", lens->max_bytes);
    write_limit(out, "max_tokens", lens->max_tokens);
    write_globs(out, "type", &lens->types);
    write_globs(out, "agent", &lens->agents);
    write_globs(out, "path", &lens->paths);
    for (int i = 0; vls_state_names[i]; i++) {
        if (lens->states & 1u << i)
            vls_buf_printf(out, ",state=%s", vls_state_names[i]);
    }
    write_range(out, "seq", lens->seq_from, lens->seq_to, false);
    write_range(out, "time", lens->time_from, lens->time_to, true);
}

void vls_lens_write(vls_buf *out, const vls_lens *lens)
{
    vls_buf_add_text(out, scopes[lens->scope]);
    vls_buf_add_byte(out, ',');
    vls_buf_add_text(out, orders[lens->order]);
    vls_lens_write_filters(out, lens);
}

int vls_lens_hash(valise_id *out, const vls_lens *lens, valise_error *err)
{
    vls_hasher hasher;
    char room[2 * VLS_LENS_TEXT_MAX + 1];
    vls_buf text = {.ptr = room, .cap = sizeof(room), .max = sizeof(room) - 1};
    int rc;

    vls_lens_write(&text, lens);
    rc = vls_buf_check(&text, err);
    if (rc < 0)
        return rc;
    vls_hash_begin_tagged(&hasher, VLS_LENS_TAG);
    vls_hash_field(&hasher, vls_buf_str(&text));
    vls_hash_end(out, &hasher);
    return 0;
}

/* ---- filters ---- */

bool vls_lens_fits_any(const vls_lens_globs *globs, const vls_glob_rules *rules, valise_str text)
{
    for (size_t i = 0; i < globs->count; i++) {
        if (vls_glob_match(rules, globs->globs[i], text))
            return true;
    }
    return globs->count == 0;
}

static bool is_between(int64_t value, int64_t from, int64_t to)
{
    return (from == VALISE_NONE || value >= from) && (to == VALISE_NONE || value <= to);
}

bool vls_lens_fits(const vls_lens *lens, const vls_lens_item *item)
{
    return vls_lens_fits_any(&lens->types, &vls_glob_flat, item->type) &&
           vls_lens_fits_any(&lens->agents, &vls_glob_flat, item->agent) &&
           vls_lens_fits_any(&lens->paths, &vls_glob_path, item->path) &&
           is_between(item->seq, lens->seq_from, lens->seq_to) &&
           is_between(item->time, lens->time_from, lens->time_to);
}
