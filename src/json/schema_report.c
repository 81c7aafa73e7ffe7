/* schema_report.c -- saying what is wrong and where.
 *
 * Places are JSON Pointers made from the way back: nodes and frames know whom they came from.
 * Nothing of this happens while an instance is valid. */
#include <stdarg.h>

#include "json/schema_impl.h"

#include "base/utf8.h"
#include "json/pointer.h"

#define MAX_SHOWN_TEXT 64u
#define MAX_SHOWN_DIGITS 40u
#define MAX_SHOWN_PATH 120u

/* ---- pointers ---- */

void vls_schema_place(vls_buf *out, const vls_schema_node *node)
{
    const vls_schema_node *way[VLS_JSON_MAX_DEPTH + 1];
    size_t len = 0;

    for (const vls_schema_node *n = node; n->parent; n = n->parent) {
        assert(len < VLS_COUNT(way));
        way[len++] = n;
    }
    while (len > 0) {
        const vls_schema_step *step = &way[--len]->step;
        vls_buf_add_byte(out, '/');
        vls_buf_add(out, step->raw); /* a whole piece of pointer, if need be */
        if (step->key)
            vls_pointer_add_key(out, vls_json_str(*step->key));
        if (step->index >= 0)
            vls_pointer_add_index(out, (size_t)step->index);
    }
}

/* Append the JSON Pointer of the frame's instance. */
static void add_path(vls_buf *out, const vls_schema_frame *frame)
{
    const vls_schema_frame *way[VLS_SCHEMA_MAX_DEPTH + 1];
    size_t len = 0;

    for (const vls_schema_frame *f = frame; f; f = f->up) {
        assert(len < VLS_COUNT(way));
        way[len++] = f;
    }
    while (len > 0) {
        const vls_schema_frame *f = way[--len];
        if (f->way == VLS_WAY_KEY)
            vls_pointer_add_key(out, vls_json_str(*f->key));
        else if (f->way == VLS_WAY_ITEM)
            vls_pointer_add_index(out, f->index);
    }
}

/* ---- values ---- */

static void describe_text(vls_buf *out, valise_str text)
{
    valise_str shown = vls_utf8_head(text, MAX_SHOWN_TEXT);

    vls_json_write_string(out, shown);
    if (shown.len < text.len)
        vls_buf_printf(out, "... (%zu bytes)", text.len);
}

static void describe_digits(vls_buf *out, valise_str digits)
{
    vls_buf_add(out, vls_str_head(digits, MAX_SHOWN_DIGITS));
    if (digits.len > MAX_SHOWN_DIGITS)
        vls_buf_printf(out, "... (%zu digits)", digits.len);
}

void vls_schema_describe(vls_buf *out, vls_json v)
{
    switch ((vls_json_type)v.type) {
    case VLS_JSON_NULL:
    case VLS_JSON_BOOL:
    case VLS_JSON_INT:
    case VLS_JSON_REAL:
        (void)vls_json_write(out, v, NULL); /* a failure stays in the buffer */
        break;
    case VLS_JSON_BIG:
        describe_digits(out, vls_json_str(v));
        break;
    case VLS_JSON_STRING:
        describe_text(out, vls_json_str(v));
        break;
    case VLS_JSON_ARRAY:
        vls_buf_printf(out, "an array of %u item%s", v.len, v.len == 1 ? "" : "s");
        break;
    case VLS_JSON_OBJECT:
        vls_buf_printf(out, "an object with %u propert%s", v.len, v.len == 1 ? "y" : "ies");
        break;
    }
}

void vls_schema_say_is(vls_schema_run *run, vls_json v, bool type)
{
    const bool discreet = run->schema->limits.discreet;

    if (discreet && !type)
        return;
    vls_buf_add(&run->reason, VLS_STR(", is "));
    if (discreet)
        vls_buf_add_text(&run->reason, vls_json_type_name(v));
    else
        vls_schema_describe(&run->reason, v);
}

/* ---- findings ---- */

bool vls_schema_bad_start(vls_schema_run *run)
{
    vls_buf_clear(&run->reason);
    return run->mode != VLS_MODE_QUIET && (run->report || run->err);
}

/* The end of a pointer, which is the part that tells places apart. */
static void add_shown_path(vls_buf *out, valise_str path)
{
    if (path.len == 0) {
        vls_buf_add(out, VLS_STR("(root)"));
        return;
    }
    if (path.len > MAX_SHOWN_PATH) {
        path = vls_utf8_tail(path, MAX_SHOWN_PATH);
        vls_buf_add(out, VLS_STR("..."));
    }
    vls_buf_add(out, path);
}

/* Among the findings of failed alternatives the one that came furthest is likely about the
 * alternative that was meant. Failing by type at the spot, or by const or enum anywhere, means
 * that it was not. */
static int64_t score(const vls_schema_run *run, const vls_schema_frame *f, const char *keyword)
{
    bool other = strcmp(keyword, "const") == 0 || strcmp(keyword, "enum") == 0;
    int64_t depth = 0;

    for (const vls_schema_frame *at = f; at != run->probe; at = at->up)
        depth += at->way == VLS_WAY_KEY || at->way == VLS_WAY_ITEM;
    if (strcmp(keyword, "type") == 0 && depth == 0)
        other = true;
    return depth + (other ? 0 : VLS_JSON_MAX_DEPTH);
}

static int remember(vls_schema_run *run, const vls_schema_frame *f, const char *keyword)
{
    int64_t points = score(run, f, keyword);
    int rc;

    if (points <= run->nearest_score)
        return VLS_BAD;
    run->nearest_score = points;
    vls_buf_clear(&run->nearest);
    add_shown_path(&run->nearest, vls_buf_str(&run->path));
    vls_buf_add_byte(&run->nearest, ' ');
    vls_buf_add(&run->nearest, vls_buf_str(&run->reason));
    rc = vls_buf_check(&run->nearest, run->err);
    return rc < 0 ? rc : VLS_BAD;
}

/* The name that is being checked, if that is what is wrong. */
static void name_the_name(vls_schema_run *run, const vls_schema_frame *f)
{
    while (f->up && (f->way == VLS_WAY_SAME || f->way == VLS_WAY_REF))
        f = f->up;
    if (f->way == VLS_WAY_NAME) {
        vls_buf_add(&run->reason, VLS_STR(" in the property name "));
        vls_schema_describe(&run->reason, *f->instance);
    }
}

static int say(vls_schema_run *run, const vls_schema_frame *f, const char *keyword)
{
    vls_schema_finding finding = {
        .instance_path = vls_buf_str(&run->path),
        .schema_uri = f->node->home->document_uri,
        .schema_path = vls_buf_str(&run->place),
        .keyword = valise_str_of(keyword),
        .reason = vls_buf_str(&run->reason),
    };

    if (run->found++ == 0 && run->err) {
        vls_buf_clear(&run->nearest);
        add_shown_path(&run->nearest, finding.instance_path);
        vls_buf_printf(&run->nearest, ": %.*s", VALISE_STR_ARG(finding.reason));
        if (keyword[0])
            vls_buf_printf(&run->nearest, " (%s)", keyword);
        int rc = vls_buf_check(&run->nearest, run->err);
        if (rc < 0)
            return rc;
        (void)vls_fail(&run->first, VALISE_E_INVALID, "%.*s",
                       VALISE_STR_ARG(vls_buf_str(&run->nearest)));
    }
    if (!run->report)
        return VLS_BAD;
    run->report->count = run->found;
    if (run->report->found && run->report->found(run->report->arg, &finding) != 0)
        run->more = false;
    if (run->found == run->report->max_findings)
        run->more = false;
    return VLS_BAD;
}

int vls_schema_bad_finish(vls_schema_run *run, const vls_schema_frame *f, const char *keyword)
{
    int rc;

    name_the_name(run, f);
    vls_buf_clear(&run->path);
    add_path(&run->path, f);
    vls_buf_clear(&run->place);
    vls_schema_place(&run->place, f->node);
    if (f->node->kind == VLS_SCHEMA_RULES)
        vls_buf_printf(&run->place, "/%s", keyword);
    rc = vls_buf_check(&run->reason, run->err);
    if (rc == 0)
        rc = vls_buf_check(&run->path, run->err);
    if (rc == 0)
        rc = vls_buf_check(&run->place, run->err);
    if (rc == 0)
        rc = vls_schema_spend(run, 1 + (run->path.len + run->place.len) / 16);
    if (rc < 0)
        return rc;
    return run->mode == VLS_MODE_PROBE ? remember(run, f, keyword) : say(run, f, keyword);
}

int vls_schema_bad(vls_schema_run *run, const vls_schema_frame *f, const char *keyword,
                   const vls_json *is, const char *format, ...)
{
    va_list args;

    if (!vls_schema_bad_start(run))
        return VLS_BAD;
    va_start(args, format);
    vls_buf_vprintf(&run->reason, format, args);
    va_end(args);
    if (is)
        vls_schema_say_is(run, *is, false);
    return vls_schema_bad_finish(run, f, keyword);
}
