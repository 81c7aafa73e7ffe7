/* reference.c -- ${NAME} and @cred:NAME in params. [F6]
 *
 *     "Bearer ${TOKEN}"   the variable TOKEN of the environment, anywhere in a text
 *     "@cred:mail"        a whole text: what the user's configuration calls mail
 *     "$${"               "${"
 *
 * Only texts have references, and what comes in is never looked at again: there is nothing to be
 * evaluated. Names of members stay as they are. */
#include "base/text.h"
#include "base/utf8.h"
#include "client/key.h"
#include "flow/config.h"
#include "prompt/clients.h"

#define CREDENTIAL VLS_STR("@cred:")
#define OPEN VLS_STR("${")
#define ESCAPED VLS_STR("$${")
#define TEXT_MAX ((size_t)1 << 20)
#define HIDDEN VLS_STR("[redacted]")

/* ---- one text, piece by piece ---- */

enum { PIECE_PLAIN, PIECE_VARIABLE, PIECE_CREDENTIAL };

typedef struct piece {
    int kind;
    valise_str text; /* what it stands for, or the name */
} piece;

static bool is_variable(valise_str name)
{
    return name.ptr && vls_flow_is_id(name) && vls_str_find_byte(name, '-') == name.len &&
           !(name.ptr[0] >= '0' && name.ptr[0] <= '9');
}

/* Cut the first piece off *rest, which is not empty. whole: *rest is all of the text. */
static int next_piece(piece *out, valise_str *rest, bool whole, valise_error *err)
{
    size_t at, end;

    if (whole && vls_str_starts(*rest, CREDENTIAL)) {
        *out = (piece){PIECE_CREDENTIAL, vls_str_from(*rest, CREDENTIAL.len)};
        *rest = (valise_str){NULL, 0};
        if (vls_flow_is_id(out->text))
            return 0;
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not the name of a credential",
                       vls_text_short(out->text).s);
        vls_hint(err, "write @cred:NAME, with letters, digits, '-' and '_'");
        return VALISE_E_INVALID;
    }
    if (vls_str_starts(*rest, ESCAPED)) {
        *out = (piece){PIECE_PLAIN, OPEN};
        *rest = vls_str_from(*rest, ESCAPED.len);
        return 0;
    }
    if (vls_str_starts(*rest, OPEN)) {
        valise_str name = vls_str_from(*rest, OPEN.len);
        end = vls_str_find_byte(name, '}');
        *out = (piece){PIECE_VARIABLE, vls_str_head(name, end)};
        *rest = vls_str_from(name, end + 1);
        if (end < name.len && is_variable(out->text))
            return 0;
        (void)vls_fail(err, VALISE_E_INVALID, "'${%s' is not a reference",
                       vls_text_short(vls_str_head(name, VLS_MIN(end + 1, 40))).s);
        vls_hint(err, "write ${NAME} for a variable, or $${ for the characters");
        return VALISE_E_INVALID;
    }
    for (at = 1; at < rest->len; at++)
        if (rest->ptr[at] == '$')
            break;
    *out = (piece){PIECE_PLAIN, vls_str_head(*rest, at)};
    *rest = vls_str_from(*rest, at);
    return 0;
}

/* Is there nothing in it that would be another text? */
static bool is_plain(valise_str text)
{
    return !vls_str_starts(text, CREDENTIAL) && vls_str_find(text, OPEN) == text.len;
}

/* ---- asking ---- */

bool vls_references_in(vls_json value)
{
    const bool object = value.type == VLS_JSON_OBJECT;

    if (value.type == VLS_JSON_STRING)
        return !is_plain(vls_json_str(value));
    if (!object && value.type != VLS_JSON_ARRAY)
        return false;
    for (uint32_t i = 0; i < value.len; i++)
        if (vls_references_in(object ? value.members[i].value : value.items[i]))
            return true;
    return false;
}

int vls_reference_check(valise_str text, valise_error *err)
{
    valise_str rest = text;
    piece p;
    int rc = 0;

    while (rest.len > 0 && rc == 0)
        rc = next_piece(&p, &rest, rest.ptr == text.ptr, err);
    return rc;
}

/* ---- resolving ---- */

typedef struct resolving {
    vls_arena *arena;
    const valise *v;
    vls_secrets *found;
    valise_error *err;
} resolving;

/* In the arena, and noted. */
static int take_secret(valise_str *out, const resolving *r, valise_str secret)
{
    int rc = vls_arena_dup(out, r->arena, secret, r->err);

    if (rc == 0 && out->len > 0 && !vls_vec_push_in(&r->found->all, r->found->arena, *out))
        rc = vls_arena_fail(r->found->arena, r->err);
    return rc;
}

static int read_variable(valise_str *out, const resolving *r, valise_str name, const char *whose)
{
    char variable[VLS_FLOW_ID_MAX + 1];
    const char *value;

    (void)snprintf(variable, sizeof(variable), "%.*s", VALISE_STR_ARG(name));
    value = getenv(variable);
    if (!value) {
        (void)vls_fail(r->err, VALISE_E_NOT_FOUND, "the variable %s%s is not set", variable, whose);
        vls_hint(r->err, "set it before you run the flow: %s=...", variable);
        return VALISE_E_NOT_FOUND;
    }
    if (!vls_utf8_valid(valise_str_of(value)))
        return vls_fail(r->err, VALISE_E_INVALID, "the variable %s%s is not UTF-8", variable,
                        whose);
    return take_secret(out, r, valise_str_of(value));
}

/* What the user's configuration says of it; ptr NULL: nothing. */
static int read_setting(valise_str *out, const resolving *r, valise_str name, const char *key)
{
    char setting[VLS_FLOW_ID_MAX + 32];

    (void)snprintf(setting, sizeof(setting), "credential.%.*s.%s", VALISE_STR_ARG(name), key);
    return vls_setting_read(out, r->arena, r->v, setting, r->err);
}

static int read_credential(valise_str *out, const resolving *r, valise_str name)
{
    VLS_AUTO(key) vls_key key = {.len = 0};
    valise_str variable = {NULL, 0}, file = {NULL, 0};
    int rc = read_setting(&variable, r, name, "env");

    if (rc == 0)
        rc = read_setting(&file, r, name, "file");
    if (rc < 0)
        return rc;
    if (file.ptr) {
        rc = vls_key_read_file(&key, file.ptr, r->err);
        return rc < 0 ? rc : take_secret(out, r, vls_key_str(&key));
    }
    if (variable.ptr && is_variable(variable))
        return read_variable(out, r, variable, " of a credential");
    if (variable.ptr)
        return vls_fail(r->err, VALISE_E_INVALID,
                        "credential.%.*s.env is not the name of a variable", VALISE_STR_ARG(name));
    (void)vls_fail(r->err, VALISE_E_NOT_FOUND, "there is no credential '%.*s'",
                   VALISE_STR_ARG(name));
    vls_hint(r->err, "valise config set --user credential.%.*s.env VARIABLE", VALISE_STR_ARG(name));
    return VALISE_E_NOT_FOUND;
}

static int resolve_text(vls_json *out, const resolving *r, valise_str text)
{
    valise_str rest = text, value;
    vls_buf made;
    int rc = 0;

    vls_buf_init_in(&made, r->arena, VLS_MAX(TEXT_MAX, text.len));
    while (rest.len > 0 && rc == 0) {
        piece p = {PIECE_PLAIN, {NULL, 0}};
        rc = next_piece(&p, &rest, rest.ptr == text.ptr, r->err);
        value = p.text;
        if (rc == 0 && p.kind == PIECE_VARIABLE)
            rc = read_variable(&value, r, p.text, "");
        else if (rc == 0 && p.kind == PIECE_CREDENTIAL)
            rc = read_credential(&value, r, p.text);
        if (rc == 0)
            vls_buf_add(&made, value);
    }
    if (rc == 0)
        rc = vls_buf_check(&made, r->err);
    if (rc == 0)
        rc = vls_buf_keep(&value, &made, r->err);
    if (rc == 0)
        *out = vls_json_string(value);
    return rc;
}

static int resolve(vls_json *out, const resolving *r, vls_json value);

static int resolve_items(vls_json *out, const resolving *r, vls_json array)
{
    vls_json *items = vls_arena_array(r->arena, array.len + (size_t)1, sizeof(*items));
    int rc = 0;

    if (!items)
        return vls_arena_fail(r->arena, r->err);
    for (uint32_t i = 0; i < array.len && rc == 0; i++) {
        rc = resolve(&items[i], r, array.items[i]);
        if (rc < 0)
            vls_error_prepend(r->err, "[%u]", (unsigned)i);
    }
    *out = vls_json_array(items, array.len);
    return rc;
}

static int resolve_members(vls_json *out, const resolving *r, vls_json object)
{
    vls_member *members = vls_arena_array(r->arena, object.len + (size_t)1, sizeof(*members));
    int rc = 0;

    if (!members)
        return vls_arena_fail(r->arena, r->err);
    for (uint32_t i = 0; i < object.len && rc == 0; i++) {
        members[i].key = object.members[i].key;
        rc = resolve(&members[i].value, r, object.members[i].value);
        if (rc < 0)
            vls_error_prepend(r->err, "%s", vls_text_short(vls_json_str(object.members[i].key)).s);
    }
    *out = object; /* the same keys, in the same order */
    out->members = members;
    return rc;
}

/* What has no references is shared. The depth of JSON is limited. */
static int resolve(vls_json *out, const resolving *r, vls_json value)
{
    if (value.type == VLS_JSON_STRING && !is_plain(vls_json_str(value)))
        return resolve_text(out, r, vls_json_str(value));
    if (value.type == VLS_JSON_ARRAY)
        return resolve_items(out, r, value);
    if (value.type == VLS_JSON_OBJECT)
        return resolve_members(out, r, value);
    *out = value;
    return 0;
}

int vls_references_resolve(vls_json *out, vls_arena *arena, vls_json value, const valise *v,
                           vls_secrets *found, valise_error *err)
{
    valise_error own = VALISE_ERROR_INIT;
    const resolving r = {.arena = arena, .v = v, .found = found, .err = err ? err : &own};
    vls_json made = vls_json_null();
    int rc = resolve(&made, &r, value);

    if (rc == 0)
        *out = made;
    return rc;
}

void vls_secrets_hide(const vls_secrets *secrets, valise_error *err)
{
    for (size_t i = 0; i < secrets->all.len; i++)
        vls_secret_hide_error(err, secrets->all.ptr[i], HIDDEN);
}

int vls_secrets_hide_text(valise_str *text, vls_arena *arena, const vls_secrets *secrets,
                          valise_error *err)
{
    for (size_t i = 0; i < secrets->all.len; i++) {
        /* A mark is longer than the four bytes that it may stand for. */
        size_t size = text->len * HIDDEN.len + 1;
        char *clean = vls_arena_alloc(arena, size);

        if (!clean)
            return vls_arena_fail(arena, err);
        text->len = vls_secret_hide(clean, size, *text, secrets->all.ptr[i], HIDDEN);
        text->ptr = clean;
    }
    return 0;
}
