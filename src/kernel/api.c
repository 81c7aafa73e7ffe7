/* api.c -- the C functions of valise/workspace.h for the upkeep of a workspace.
 *
 * Called once in a while and with little to say, they go the way of every other surface: JSON in,
 * JSON out. */
#include <valise/json.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/sized.h"
#include "base/str.h"
#include "bus/bus.h"
#include "json/json.h"

#define PAYLOAD_MAX ((size_t)1 << 24)

static void vls_auto_reply(valise_reply *reply)
{
    valise_reply_release(reply);
}

static int dispatch(valise_reply *out, valise *v, const char *type, vls_buf *payload,
                    const valise_call *call, valise_error *err)
{
    int rc = vls_buf_check(payload, err);

    return rc < 0
               ? rc
               : valise_dispatch_str(out, v, valise_str_of(type), vls_buf_str(payload), call, err);
}

int valise_workspace_hash(valise_id *out, valise *v, const valise_call *call, valise_error *err)
{
    VLS_AUTO(reply) valise_reply reply = VALISE_REPLY_INIT;
    VLS_AUTO(blob) valise_blob *hash = NULL;
    int rc;

    VLS_ARG(out && v, err);
    rc = valise_dispatch(&reply, v, "workspace:hash", NULL, call, err);
    if (rc == 0)
        rc = valise_json_get_text(&hash, valise_blob_bytes(reply.json), "/hash", err);
    return rc < 0 ? rc : valise_id_parse(out, valise_blob_bytes(hash), err);
}

/* ---- bundles ---- */

static void add_file(vls_buf *out, valise *v, const char *file)
{
    vls_buf_init(out, v->env, PAYLOAD_MAX);
    vls_buf_add_text(out, "{\"file\":");
    vls_json_write_string(out, valise_str_of(file));
}

int valise_workspace_export(valise *v, const char *file, const valise_export_options *options,
                            const valise_call *call, valise_error *err)
{
    valise_export_options o = VALISE_EXPORT_OPTIONS_INIT;
    valise_list places;
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    VLS_ARG(v && file, err);
    rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_export_options, places),
                        "valise_export_options", err);
    if (rc == 0 && (o.flags & ~(unsigned)VALISE_EXPORT_REPLACE))
        rc = vls_fail(err, VALISE_E_INVALID, "unknown flags: 0x%x", o.flags);
    if (rc == 0)
        rc = vls_sized_list(&places, o.places, o.place_count, SIZE_MAX, "places", err);
    if (rc < 0)
        return rc;
    add_file(&payload, v, file);
    if (o.flags & VALISE_EXPORT_REPLACE)
        vls_buf_add_text(&payload, ",\"force\":true");
    for (size_t i = 0; i < o.place_count; i++) {
        vls_buf_add_text(&payload, i == 0 ? ",\"places\":[" : ",");
        vls_json_write_string(&payload, o.places[i]);
    }
    vls_buf_add_text(&payload, o.place_count > 0 ? "]}" : "}");
    return dispatch(NULL, v, "workspace:export", &payload, call, err);
}

int valise_workspace_import(valise *v, const char *file, const valise_call *call, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};

    VLS_ARG(v && file, err);
    add_file(&payload, v, file);
    vls_buf_add_byte(&payload, '}');
    return dispatch(NULL, v, "workspace:import", &payload, call, err);
}

/* ---- erasing, collecting ---- */

static int64_t count(vls_json answer, const char *name)
{
    const vls_json *list = vls_json_get(answer, valise_str_of(name));

    return list && list->type == VLS_JSON_ARRAY ? (int64_t)list->len : 0;
}

static int64_t whole(vls_json answer, const char *name)
{
    const vls_json *member = vls_json_get(answer, valise_str_of(name));

    return member && member->type == VLS_JSON_INT ? member->integer : 0;
}

static int read_erased(valise_erased *out, valise *v, const valise_reply *reply, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_erased ours = VALISE_ERASED_INIT;
    vls_json answer;
    int rc;

    vls_arena_init(&arena, v->env, (size_t)1 << 30);
    rc = vls_json_parse(&answer, &arena, valise_blob_bytes(reply->json), NULL, err);
    if (rc < 0)
        return rc;
    ours.places = count(answer, "places");
    ours.others = count(answer, "others");
    ours.entries = whole(answer, "entries");
    ours.objects = whole(answer, "objects");
    ours.chunks = whole(answer, "chunks");
    ours.blobs = whole(answer, "blobs");
    ours.residue = vls_json_get(answer, VLS_STR("residue")) != NULL;
    vls_sized_give(out, &ours, sizeof(ours));
    return 0;
}

int valise_workspace_erase(valise_erased *out, valise *v, const char *place, const char *reason,
                           const valise_call *call, valise_error *err)
{
    VLS_AUTO(reply) valise_reply reply = VALISE_REPLY_INIT;
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    VLS_ARG(v && place, err);
    rc = out ? vls_sized_check(out, offsetof(valise_erased, entries), "valise_erased", err) : 0;
    if (rc < 0)
        return rc;
    vls_buf_init(&payload, v->env, PAYLOAD_MAX);
    vls_buf_add_text(&payload, "{\"place\":");
    vls_json_write_string(&payload, valise_str_of(place));
    if (reason) {
        vls_buf_add_text(&payload, ",\"reason\":");
        vls_json_write_string(&payload, valise_str_of(reason));
    }
    vls_buf_add_byte(&payload, '}');
    rc = dispatch(&reply, v, "workspace:erase", &payload, call, err);
    return rc < 0 || !out ? rc : read_erased(out, v, &reply, err);
}

int valise_workspace_gc(int64_t *freed_bytes, valise *v, int64_t grace_ns, const valise_call *call,
                        valise_error *err)
{
    VLS_AUTO(reply) valise_reply reply = VALISE_REPLY_INIT;
    VLS_AUTO(buf) vls_buf payload = {0};
    int rc;

    VLS_ARG(v, err);
    vls_buf_init(&payload, v->env, PAYLOAD_MAX);
    if (grace_ns == VALISE_NONE)
        vls_buf_add_text(&payload, "{}");
    else
        vls_buf_printf(&payload, "{\"grace\":\"%lldns\"}", (long long)grace_ns);
    rc = dispatch(&reply, v, "workspace:gc", &payload, call, err);
    if (rc == 0 && freed_bytes)
        rc = vls_settle(
            valise_json_get_int(freed_bytes, valise_blob_bytes(reply.json), "/freed", err));
    return rc;
}

/* ---- validating ---- */

typedef struct telling {
    valise *v;
    valise_finding_fn *fn;
    void *arg;
} telling;

static valise_str text(vls_json row, const char *name)
{
    const vls_json *member = vls_json_get(row, valise_str_of(name));

    return member && member->type == VLS_JSON_STRING ? vls_json_str(*member) : VLS_STR("");
}

static int tell(void *arg, valise_str json, valise_error *err)
{
    const telling *t = arg;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json row;
    int rc;

    if (!t->fn)
        return 0;
    vls_arena_init(&arena, t->v->env, (size_t)1 << 26);
    rc = vls_json_parse(&row, &arena, json, NULL, err);
    if (rc < 0)
        return rc;
    return t->fn(t->arg,
                 &(valise_finding){.is_note = vls_str_equal(text(row, "kind"), VLS_STR("note")),
                                   .place = text(row, "place"),
                                   .problem = text(row, "problem"),
                                   .remedy = text(row, "remedy")},
                 err);
}

int valise_workspace_validate(valise *v, valise_finding_fn *fn, void *arg, const valise_call *call,
                              valise_error *err)
{
    telling t = {v, fn, arg};

    VLS_ARG(v, err);
    return valise_stream(NULL, v, "workspace:validate", NULL, tell, &t, call, err);
}
