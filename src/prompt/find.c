/* find.c -- see find.h. */
#include "prompt/find.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/bus.h"
#include "store/place.h"

#define ID_DIGITS 64u
#define ID_DIGITS_MIN 4u

static int fail_none(valise_str text, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no prompt '%s'", vls_text_short(text).s);
    vls_hint(err, "'valise prompt list' lists them");
    return VALISE_E_NOT_FOUND;
}

static bool is_digits(valise_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("0123456789abcdef", text.ptr[i]) || text.ptr[i] == '\0')
            return false;
    return true;
}

static int find_id(vls_prompt_row *out, valise_view *view, valise_str text, valise_error *err)
{
    const vls_coll *coll = NULL;
    valise_cell key[VALISE_MAX_COLUMNS];
    char place[sizeof("prompt/") + ID_DIGITS];
    vls_prompt_row row = {.seq = 0};
    int rc;

    (void)snprintf(place, sizeof(place), "prompt/%.*s", VALISE_STR_ARG(text));
    rc = vls_place_parse(&coll, key, view, valise_str_of(place), err);
    if (rc < 0)
        return rc;
    memcpy(row.id.bytes, key[0].as.bytes.ptr, sizeof(row.id.bytes));
    rc = valise_view_get(&row, view, &vls_prompts, err);
    if (rc <= 0)
        return rc < 0 ? rc : fail_none(text, err);
    *out = row;
    return 0;
}

/* SESSION, SESSION~3; "~" alone is one up. */
static bool take_up(int64_t *up, valise_str *session, valise_str text)
{
    const char *mark = memrchr(text.ptr, '~', text.len);
    valise_str count = {NULL, 0};

    *up = 0;
    *session = text;
    if (!mark)
        return true;
    *session = (valise_str){text.ptr, (size_t)(mark - text.ptr)};
    count = (valise_str){mark + 1, text.len - session->len - 1};
    *up = 1;
    return count.len == 0 || (vls_str_to_i64(up, count) && *up >= 0);
}

/* The prompts of a session, the last one first. */
static int find_last(vls_prompt_row *out, valise_view *view, const vls_session_row *session,
                     int64_t up, valise_error *err)
{
    vls_prompt_row from = {.session = session->id}, row = {.seq = 0};
    const valise_select select = {
        .index = "session", .row = &from, .equal = 1, .flags = VALISE_SCAN_REVERSE};
    valise_scan *scan = NULL;
    int64_t seen = 0;
    int rc = valise_view_scan(&scan, view, &vls_prompts, &select, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0 && seen++ < up)
        rc = 0;
    valise_scan_close(scan);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "this session has only %lld prompts",
                       (long long)seen);
        vls_hint(err, "'valise prompt build' makes one, 'valise prompt list' lists them");
        return VALISE_E_NOT_FOUND;
    }
    *out = row;
    return 0;
}

static int find_session(vls_prompt_row *out, valise_view *view, valise_str text, valise_error *err)
{
    vls_session_row session;
    valise_str name = {NULL, 0};
    int64_t up = 0;
    int rc = valise_view_allows(view, "session:read", NULL, err);

    if (rc < 0)
        return rc;
    if (!take_up(&up, &name, text))
        return fail_none(text, err);
    rc = vls_session_find(&session, view, name, NULL);
    if (rc == VALISE_E_NOT_FOUND || rc == VALISE_E_INVALID)
        return fail_none(text, err);
    if (rc < 0)
        return vls_session_find(&session, view, name, err);
    return find_last(out, view, &session, up, err);
}

int vls_prompt_find(vls_prompt_row *out, valise_view *view, valise_str text, valise_error *err)
{
    int rc = VALISE_E_NOT_FOUND;

    if (text.len >= ID_DIGITS_MIN && text.len <= ID_DIGITS && is_digits(text)) {
        valise_error why = VALISE_ERROR_INIT;
        rc = find_id(out, view, text, &why);
        if (rc < 0 && rc != VALISE_E_NOT_FOUND && err)
            *err = why;
    }
    return rc == VALISE_E_NOT_FOUND ? find_session(out, view, text, err) : rc;
}

static int read_manifest(vls_manifest *out, valise_view *view, const vls_prompt_row *row,
                         valise_error *err)
{
    valise_str json = {NULL, 0};
    int rc = valise_view_allows(view, "session:read", NULL, err);

    if (rc == 0 && vls_id_is_none(&row->manifest))
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "the manifest of prompt %.12s was erased",
                      vls_id_hex(&row->id).s);
    if (rc == 0)
        rc = valise_view_object(&json, view, &row->manifest, err);
    return rc < 0 ? rc : vls_manifest_read(out, &view->arena, json, err);
}

int vls_prompt_open(vls_prompt_row *row, vls_manifest *out, valise_view *view, valise_str text,
                    valise_error *err)
{
    int rc = vls_prompt_find(row, view, text, err);

    return rc < 0 ? rc : read_manifest(out, view, row, err);
}
