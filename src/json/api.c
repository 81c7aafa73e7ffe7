/* api.c -- valise/json.h: a value out of a text, a text into one. */
#include <valise/json.h>

#include "base/arena.h"
#include "base/blob.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/pointer.h"

#define PARSED_MAX ((size_t)1 << 30) /* memory for the values of one text */

static int blob_of(valise_blob **out, const vls_buf *buf, valise_error *err)
{
    int rc = vls_buf_check(buf, err);

    return rc < 0 ? rc : vls_blob_new(out, valise_env_default(), vls_buf_str(buf), err);
}

int valise_json_quote(valise_blob **out, valise_str text, valise_error *err)
{
    VLS_AUTO(buf) vls_buf buf = {0};

    VLS_ARG(out, err);
    vls_buf_init(&buf, valise_env_default(), VLS_JSON_MAX_BYTES);
    if (!vls_utf8_valid(text))
        return vls_fail(err, VALISE_E_INVALID, "the text is not UTF-8");
    vls_json_write_string(&buf, text);
    return blob_of(out, &buf, err);
}

/* 1, and what is there; 0: nothing is. */
static int find(vls_json *out, vls_arena *arena, valise_str json, const char *path,
                valise_error *err)
{
    const vls_json *found = NULL;
    vls_pointer pointer;
    vls_json root;
    int rc = vls_pointer_parse(&pointer, arena, valise_str_of(path), err);

    if (rc == 0)
        rc = vls_json_parse(&root, arena, json, NULL, err);
    if (rc < 0)
        return rc;
    if (vls_pointer_get(&found, &root, &pointer, NULL) < 0)
        return 0; /* it leads nowhere; there is no other way to fail */
    *out = *found;
    return 1;
}

int valise_json_get(valise_blob **out, valise_str json, const char *pointer, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    VLS_AUTO(buf) vls_buf buf = {0};
    vls_json found;
    int rc;

    VLS_ARG(out && pointer, err);
    vls_arena_init(&arena, valise_env_default(), PARSED_MAX);
    vls_buf_init(&buf, valise_env_default(), VLS_JSON_MAX_BYTES);
    rc = find(&found, &arena, json, pointer, err);
    if (rc <= 0)
        return rc;
    rc = vls_json_write(&buf, found, err);
    if (rc == 0)
        rc = blob_of(out, &buf, err);
    return rc < 0 ? rc : 1;
}

static int other(vls_json found, const char *pointer, const char *wanted, valise_error *err)
{
    return vls_fail(err, VALISE_E_INVALID, "%s is not %s but of the type %s",
                    vls_pointer_brief(valise_str_of(pointer)).s, wanted, vls_json_type_name(found));
}

/* 1: there is one, and it is of this type. */
static int find_typed(vls_json *found, vls_arena *arena, valise_str json, const char *pointer,
                      uint8_t type, const char *wanted, valise_error *err)
{
    int rc;

    vls_arena_init(arena, valise_env_default(), PARSED_MAX);
    rc = find(found, arena, json, pointer, err);
    if (rc <= 0)
        return rc;
    if (found->type == VLS_JSON_NULL)
        return 0;
    return found->type == type ? 1 : other(*found, pointer, wanted, err);
}

int valise_json_get_text(valise_blob **out, valise_str json, const char *pointer, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json found;
    int rc;

    VLS_ARG(out && pointer, err);
    rc = find_typed(&found, &arena, json, pointer, VLS_JSON_STRING, "a string", err);
    if (rc <= 0)
        return rc;
    rc = vls_blob_new(out, valise_env_default(), vls_json_str(found), err);
    return rc < 0 ? rc : 1;
}

int valise_json_get_int(int64_t *out, valise_str json, const char *pointer, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json found;
    int rc;

    VLS_ARG(out && pointer, err);
    rc = find_typed(&found, &arena, json, pointer, VLS_JSON_INT, "a whole number of 64 bits", err);
    if (rc > 0)
        *out = found.integer;
    return rc;
}
