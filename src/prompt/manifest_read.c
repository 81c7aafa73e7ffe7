/* manifest_read.c -- a manifest from its JSON. It may come from a bundle: nothing is believed. */
#include "base/hex.h"
#include "json/make.h"
#include "prompt/manifest.h"
#include "prompt/manifest_impl.h"
#include "prompt/scale.h"

typedef struct reading {
    vls_manifest *out;
    vls_arena *arena;
    vls_json all, names;
    const char *what; /* what is wrong; NULL: nothing yet */
    bool memory;      /* there was not enough */
} reading;

/* The first thing that is wrong counts. */
static bool wrong(reading *r, const char *what)
{
    if (!r->what)
        r->what = what;
    return false;
}

static bool no_memory(reading *r)
{
    r->memory = true;
    return wrong(r, "memory");
}

/* ---- values ---- */

static bool take_int(int64_t *out, reading *r, vls_json value, int64_t min, int64_t max,
                     const char *what)
{
    if (value.type != VLS_JSON_INT || value.integer < min || value.integer > max)
        return wrong(r, what);
    *out = value.integer;
    return true;
}

static bool take_int_or_none(int64_t *out, reading *r, vls_json value, const char *what)
{
    *out = VALISE_NONE;
    return value.type == VLS_JSON_NULL || take_int(out, r, value, INT64_MIN + 1, INT64_MAX, what);
}

static bool take_size(size_t *out, reading *r, vls_json value, const char *what)
{
    int64_t number;

    if (!take_int(&number, r, value, 0, INT64_MAX, what))
        return false;
    *out = (size_t)number;
    return true;
}

static bool take_str(valise_str *out, reading *r, vls_json value, const char *what)
{
    if (value.type != VLS_JSON_STRING)
        return wrong(r, what);
    *out = vls_json_str(value);
    return true;
}

static bool take_str_or_none(valise_str *out, reading *r, vls_json value, const char *what)
{
    *out = (valise_str){NULL, 0};
    return value.type == VLS_JSON_NULL || take_str(out, r, value, what);
}

static bool take_id(valise_id *out, reading *r, vls_json value, const char *what)
{
    valise_error ignored = VALISE_ERROR_INIT;

    *out = (valise_id){{0}};
    if (value.type == VLS_JSON_NULL)
        return true;
    return (value.type == VLS_JSON_STRING && vls_id_parse(out, vls_json_str(value), &ignored) == 0)
               ? true
               : wrong(r, what);
}

static bool take_name(valise_str *out, reading *r, vls_json value, const char *what)
{
    int64_t at;

    return take_int(&at, r, value, 0, (int64_t)r->names.len - 1, what) &&
           take_str(out, r, r->names.items[at], what);
}

/* The same as a C string; NULL for "". */
static bool take_reason(const char **out, reading *r, vls_json value, valise_error *err)
{
    valise_str text = {NULL, 0};

    if (!take_name(&text, r, value, "a reason"))
        return false;
    *out = NULL;
    if (text.len > 0 && vls_arena_dup(&text, r->arena, text, err) < 0)
        return no_memory(r);
    *out = text.len > 0 ? text.ptr : NULL;
    return true;
}

static vls_json list_of(reading *r, const char *key)
{
    vls_json list = vls_member_of(r->all, key);

    if (list.type != VLS_JSON_ARRAY)
        (void)wrong(r, key);
    return list.type == VLS_JSON_ARRAY ? list : vls_json_array(NULL, 0);
}

static bool is_list(vls_json value, uint32_t min, uint32_t max)
{
    return value.type == VLS_JSON_ARRAY && value.len >= min && value.len <= max;
}

/* ---- parts ---- */

static bool read_edit(vls_prompt_edit *out, reading *r, vls_json value, valise_error *err)
{
    const vls_json *v = value.items;
    int64_t kind, block, inner;

    if (!is_list(value, 8, 8) ||
        !take_int(&kind, r, v[0], 0, VLS_EDIT_FILE_TEXT, "the kind of an edit") ||
        !take_int(&block, r, v[1], 0, INT32_MAX, "an edit") ||
        !take_int(&inner, r, v[2], -1, INT32_MAX, "an edit") ||
        !take_int(&out->a, r, v[3], INT64_MIN, INT64_MAX, "an edit") ||
        !take_int(&out->b, r, v[4], INT64_MIN, INT64_MAX, "an edit") ||
        !take_str(&out->text, r, v[5], "an edit") || !take_str(&out->more, r, v[6], "an edit") ||
        !take_reason(&out->reason, r, v[7], err))
        return wrong(r, "an edit");
    out->kind = (uint8_t)kind;
    out->block = (int32_t)block;
    out->inner = (int32_t)inner;
    return true;
}

enum { PART_FIELDS = 12 };

static bool read_part(vls_part *out, reading *r, vls_json value, valise_error *err)
{
    const vls_json *v = value.items;
    int64_t section, kind, says, kept;

    if (!is_list(value, PART_FIELDS, UINT32_MAX) ||
        !take_int(&section, r, v[0], 0, VLS_SECTION_COUNT - 1, "a section") ||
        !take_int(&kind, r, v[1], 0, VLS_PART_BUILDER, "the kind of a part") ||
        !take_int(&says, r, v[2], 0, VLS_SAYS_TOOL, "who says a part") ||
        !take_int(&kept, r, v[3], 0, 1, "a part") || !take_str(&out->name, r, v[4], "a name") ||
        !take_int_or_none(&out->version, r, v[5], "a version") ||
        !take_id(&out->id, r, v[6], "the id of a part") ||
        !take_id(&out->blob, r, v[7], "the blob of a part") ||
        !take_str(&out->words, r, v[8], "the words of a part") ||
        !take_name(&out->author, r, v[9], "an author") ||
        !take_name(&out->reason, r, v[10], "a reason") ||
        !take_int(&out->tokens, r, v[11], 0, INT64_MAX, "tokens"))
        return wrong(r, "a part");
    out->section = (uint8_t)section;
    out->kind = (uint8_t)kind;
    out->says = (uint8_t)says;
    out->kept = kept == 1;
    if (kind == VLS_PART_ITEM)
        out->as = r->out->as;
    for (uint32_t i = PART_FIELDS; i < value.len; i++) {
        vls_prompt_edit edit = {0};

        if (!read_edit(&edit, r, v[i], err))
            return wrong(r, "an edit");
        if (!vls_vec_push_in(&out->edits, r->arena, edit))
            return no_memory(r);
    }
    return true;
}

static bool read_parts(reading *r, valise_error *err)
{
    vls_json list = list_of(r, "parts");

    for (uint32_t i = 0; i < list.len && !r->what; i++) {
        vls_part part = {0};

        if (!read_part(&part, r, list.items[i], err))
            return wrong(r, "a part");
        if (!vls_vec_push_in(&r->out->parts, r->arena, part))
            return no_memory(r);
        if (i > 0 && part.section < r->out->parts.ptr[i - 1].section)
            return wrong(r, "the order of parts");
    }
    return !r->what;
}

/* ---- the other lists ---- */

static bool read_spans(reading *r, valise_error *err)
{
    vls_json list = list_of(r, "spans");
    int64_t total = 0;

    for (uint32_t i = 0; i < list.len && !r->what; i++) {
        const vls_json *v = list.items[i].items;
        vls_span span = {0};
        int64_t length, part;

        if (!is_list(list.items[i], 2, 3) ||
            !take_int(&length, r, v[0], 1, INT64_MAX - total, "a span") ||
            !take_int(&part, r, v[1], -1, (int64_t)r->out->parts.len - 1, "a span") ||
            (list.items[i].len == 3 && !take_reason(&span.reason, r, v[2], err)))
            return wrong(r, "a span");
        span.length = (size_t)length;
        span.part = (int32_t)part;
        total += length;
        if (!vls_vec_push_in(&r->out->spans, r->arena, span))
            return no_memory(r);
    }
    return total == r->out->neutral_bytes ? !r->what : wrong(r, "the length of the spans");
}

static bool read_left(reading *r)
{
    vls_json list = list_of(r, "left");

    for (uint32_t i = 0; i < list.len && !r->what; i++) {
        const vls_json *v = list.items[i].items;
        vls_left left = {0};
        int64_t kind;

        if (!is_list(list.items[i], 4, 4) ||
            !take_int(&kind, r, v[0], 0, VLS_PART_BUILDER, "what was left out") ||
            !take_str(&left.name, r, v[1], "what was left out") ||
            !take_name(&left.reason, r, v[2], "a reason") ||
            !take_int(&left.tokens, r, v[3], 0, INT64_MAX, "tokens"))
            return wrong(r, "what was left out");
        left.kind = (uint8_t)kind;
        if (!vls_vec_push_in(&r->out->left, r->arena, left))
            return no_memory(r);
    }
    return !r->what;
}

static bool read_repairs(reading *r, valise_error *err)
{
    vls_json list = list_of(r, "repairs");

    for (uint32_t i = 0; i < list.len && !r->what; i++) {
        const vls_json *v = list.items[i].items;
        valise_str rule = {NULL, 0}, what = {NULL, 0};
        vls_repair repair = {0};

        if (!is_list(list.items[i], 5, 5) || !take_str(&rule, r, v[0], "a repair") ||
            !take_str(&what, r, v[1], "a repair") ||
            !take_int(&repair.message, r, v[2], -1, INT64_MAX, "a repair") ||
            !take_int(&repair.block, r, v[3], -1, INT64_MAX, "a repair") ||
            !take_str(&repair.name, r, v[4], "a repair"))
            return wrong(r, "a repair");
        if (vls_arena_dup(&rule, r->arena, rule, err) < 0 ||
            vls_arena_dup(&what, r->arena, what, err) < 0)
            return no_memory(r);
        repair.rule = rule.ptr;
        repair.what = what.ptr;
        if (!vls_vec_push_in(&r->out->repairs, r->arena, repair))
            return no_memory(r);
    }
    return !r->what;
}

static bool read_numbers(reading *r)
{
    vls_json budget = vls_member_of(r->all, "budget"), chain = list_of(r, "chain");
    vls_json sections = vls_member_of(budget, "sections");
    vls_budget *out = &r->out->budget;

    if (!is_list(sections, VLS_SECTION_COUNT, VLS_SECTION_COUNT) ||
        !is_list(chain, VLS_SECTION_COUNT, VLS_SECTION_COUNT) ||
        !take_int_or_none(&out->limit, r, vls_member_of(budget, "limit"), "the budget") ||
        !take_int(&out->used, r, vls_member_of(budget, "used"), 0, INT64_MAX, "the budget"))
        return wrong(r, "the budget");
    for (int i = 0; i < VLS_SECTION_COUNT; i++)
        if (!take_int(&out->sections[i], r, sections.items[i], 0, INT64_MAX, "the budget") ||
            !take_id(&r->out->chain[i], r, chain.items[i], "the chain"))
            return false;
    return true;
}

/* Why it was these parts. */
static bool read_why(reading *r)
{
    vls_manifest *m = r->out;
    vls_json all = r->all;

    return take_int(&m->scale, r, vls_member_of(all, "scale"), VLS_SCALE_MIN, VLS_SCALE_MAX,
                    "the scale") &&
           take_str(&m->retriever, r, vls_member_of(all, "retriever"), "the retriever") &&
           take_int(&m->retriever_version, r, vls_member_of(all, "retrieverVersion"), 1, INT64_MAX,
                    "the retriever") &&
           take_int(&m->trimmed, r, vls_member_of(all, "trimmed"), 0, INT64_MAX,
                    "what was trimmed");
}

static bool read_head(reading *r, valise_error *err)
{
    vls_manifest *m = r->out;
    vls_json all = r->all, request = vls_member_of(all, "request");
    valise_str session = {NULL, 0};
    int64_t how = 0;

    if (!take_int(&how, r, vls_member_of(all, "how"), 0, 3, "how it was written"))
        return false;
    m->how.stream = (how & VLS_HOW_STREAM) != 0;
    m->how.no_cache = (how & VLS_HOW_NO_CACHE) != 0;
    if (request.type != VLS_JSON_OBJECT)
        return wrong(r, "the request");
    if (vls_json_text(&m->request, r->arena, request, err) < 0)
        return no_memory(r);
    m->as = (vls_bag_reader){vls_text_of(request, "backpack"), vls_text_of(request, "node")};
    return take_str(&m->actor, r, vls_member_of(all, "actor"), "the actor") &&
           take_str(&m->adapter, r, vls_member_of(all, "adapter"), "the adapter") &&
           take_int(&m->adapter_version, r, vls_member_of(all, "adapterVersion"), 0, INT64_MAX,
                    "the adapter") &&
           take_int(&m->builder, r, vls_member_of(all, "builder"), 0, INT64_MAX, "the builder") &&
           take_size(&m->context, r, vls_member_of(all, "context"), "the sections") &&
           take_size(&m->history, r, vls_member_of(all, "history"), "the sections") &&
           take_str_or_none(&m->head, r, vls_member_of(all, "head"), "the head") &&
           take_str_or_none(&m->model, r, vls_member_of(all, "model"), "the model") &&
           take_id(&m->neutral, r, vls_member_of(all, "neutral"), "a hash") &&
           take_id(&m->wire, r, vls_member_of(all, "wire"), "a hash") &&
           take_int(&m->neutral_bytes, r, vls_member_of(all, "neutralBytes"), 0, INT64_MAX,
                    "a length") &&
           take_int(&m->wire_bytes, r, vls_member_of(all, "wireBytes"), 0, INT64_MAX, "a length") &&
           take_int(&m->seq, r, vls_member_of(all, "seq"), 0, INT64_MAX, "the seq") &&
           take_int(&m->time, r, vls_member_of(all, "time"), INT64_MIN + 1, INT64_MAX,
                    "the time") &&
           take_str(&session, r, vls_member_of(all, "session"), "the session") &&
           (vls_uuid_parse(&m->session, session, err) == 0 || wrong(r, "the session"));
}

int vls_manifest_read(vls_manifest *out, vls_arena *arena, valise_str json, valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = UINT32_MAX - 1};
    vls_manifest made = {0};
    reading r = {.out = &made, .arena = arena};
    valise_error inner = VALISE_ERROR_INIT;
    int64_t version = 0;
    valise_str own;
    int rc = vls_arena_dup(&own, arena, json, err);

    if (rc < 0)
        return rc;
    rc = vls_json_parse(&r.all, arena, own, &limits, &inner);
    if (rc == VALISE_E_NO_MEMORY || rc == VALISE_E_TOO_LARGE)
        return vls_fail(err, rc, "%s", inner.message);
    if (rc < 0)
        return vls_fail(err, VALISE_E_CORRUPT, "this is not a manifest: %s", inner.message);
    if (take_int(&version, &r, vls_member_of(r.all, "version"), 1, INT64_MAX, "the version") &&
        version > VLS_MANIFEST_VERSION)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "the manifest has version %lld; this program knows up to %d",
                        (long long)version, VLS_MANIFEST_VERSION);
    r.names = list_of(&r, "names");
    if (!r.what && read_head(&r, &inner) && read_why(&r) && read_numbers(&r) &&
        read_parts(&r, &inner) && read_spans(&r, &inner) && read_left(&r) &&
        read_repairs(&r, &inner)) {
        *out = made;
        return 0;
    }
    if (r.memory)
        return vls_arena_fail(arena, err);
    return vls_fail(err, VALISE_E_CORRUPT, "a manifest is damaged: %s", r.what ? r.what : "?");
}
