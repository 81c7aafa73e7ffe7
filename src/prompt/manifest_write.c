/* manifest_write.c -- a manifest as canonical JSON: members in the order of their keys. */
#include "base/hex.h"
#include "base/map.h"
#include "prompt/manifest.h"
#include "prompt/manifest_impl.h"

/* ---- names: texts that repeat ---- */

typedef struct named {
    valise_str text;
    size_t number;
} named;

typedef struct writing {
    vls_buf *out;
    vls_arena arena;
    vls_vec(valise_str) names;
    vls_map map; /* of named, by text */
    bool failed; /* no memory */
} writing;

static bool is_name(const void *item, const void *key)
{
    return vls_str_equal(((const named *)item)->text, *(const valise_str *)key);
}

/* Its number; the names are all there before the first one is written. */
static size_t name_of(writing *w, valise_str text)
{
    uint64_t hash = vls_str_hash(text, 0);
    named *found = vls_map_get(&w->map, hash, &text);

    if (found)
        return found->number;
    found = vls_arena_alloc(&w->arena, sizeof(*found));
    if (!found)
        w->failed = true;
    else
        *found = (named){text, w->names.len};
    if (found && (!vls_vec_push_in(&w->names, &w->arena, text) ||
                  vls_map_put(NULL, &w->map, hash, &found->text, found) < 0))
        w->failed = true;
    return found ? found->number : 0;
}

static valise_str reason_of(const char *reason)
{
    return valise_str_of(reason ? reason : "");
}

static void collect(writing *w, const vls_manifest *m)
{
    (void)name_of(w, VLS_STR(""));
    for (size_t i = 0; i < m->parts.len; i++) {
        const vls_part *part = &m->parts.ptr[i];

        (void)name_of(w, part->author);
        (void)name_of(w, part->reason);
        for (size_t e = 0; e < part->edits.len; e++)
            (void)name_of(w, reason_of(part->edits.ptr[e].reason));
    }
    for (size_t i = 0; i < m->spans.len; i++)
        (void)name_of(w, reason_of(m->spans.ptr[i].reason));
    for (size_t i = 0; i < m->left.len; i++)
        (void)name_of(w, m->left.ptr[i].reason);
}

/* ---- pieces ---- */

static void key(writing *w, const char *before, const char *name)
{
    vls_buf_add_text(w->out, before);
    vls_buf_add_byte(w->out, '"');
    vls_buf_add_text(w->out, name);
    vls_buf_add_text(w->out, "\":");
}

static void key_int(writing *w, const char *name, int64_t value)
{
    key(w, ",", name);
    vls_buf_add_i64(w->out, value);
}

/* none: null. */
static void str_or_null(writing *w, valise_str text)
{
    if (text.ptr)
        vls_json_write_string(w->out, text);
    else
        vls_buf_add_text(w->out, "null");
}

static void id_or_null(writing *w, const valise_id *id)
{
    if (vls_id_is_none(id))
        vls_buf_add_text(w->out, "null");
    else
        vls_json_write_string(w->out, valise_str_of(vls_id_hex(id).s));
}

static void int_or_null(writing *w, int64_t value)
{
    if (value == VALISE_NONE)
        vls_buf_add_text(w->out, "null");
    else
        vls_buf_add_i64(w->out, value);
}

static void more_int(writing *w, int64_t value)
{
    vls_buf_add_byte(w->out, ',');
    vls_buf_add_i64(w->out, value);
}

static void more_str(writing *w, valise_str text)
{
    vls_buf_add_byte(w->out, ',');
    vls_json_write_string(w->out, text);
}

/* ---- lists ---- */

static void write_edit(writing *w, const vls_prompt_edit *edit)
{
    vls_buf_add_byte(w->out, '[');
    vls_buf_add_i64(w->out, edit->kind);
    more_int(w, edit->block);
    more_int(w, edit->inner);
    more_int(w, edit->a);
    more_int(w, edit->b);
    more_str(w, edit->text);
    more_str(w, edit->more);
    more_int(w, (int64_t)name_of(w, reason_of(edit->reason)));
    vls_buf_add_byte(w->out, ']');
}

static void write_part(writing *w, const vls_part *part)
{
    vls_buf_add_byte(w->out, '[');
    vls_buf_add_i64(w->out, part->section);
    more_int(w, part->kind);
    more_int(w, part->says);
    more_int(w, part->kept);
    more_str(w, part->name);
    vls_buf_add_byte(w->out, ',');
    int_or_null(w, part->version);
    vls_buf_add_byte(w->out, ',');
    id_or_null(w, &part->id);
    vls_buf_add_byte(w->out, ',');
    id_or_null(w, &part->blob);
    more_str(w, part->words);
    more_int(w, (int64_t)name_of(w, part->author));
    more_int(w, (int64_t)name_of(w, part->reason));
    more_int(w, part->tokens);
    for (size_t i = 0; i < part->edits.len; i++) {
        vls_buf_add_byte(w->out, ',');
        write_edit(w, &part->edits.ptr[i]);
    }
    vls_buf_add_byte(w->out, ']');
}

static void write_parts(writing *w, const vls_manifest *m)
{
    key(w, ",", "parts");
    vls_buf_add_byte(w->out, '[');
    for (size_t i = 0; i < m->parts.len; i++) {
        if (i > 0)
            vls_buf_add_byte(w->out, ',');
        write_part(w, &m->parts.ptr[i]);
    }
    vls_buf_add_byte(w->out, ']');
}

static void write_spans(writing *w, const vls_manifest *m)
{
    key(w, ",", "spans");
    vls_buf_add_byte(w->out, '[');
    for (size_t i = 0; i < m->spans.len; i++) {
        const vls_span *span = &m->spans.ptr[i];

        vls_buf_add_text(w->out, i > 0 ? ",[" : "[");
        vls_buf_add_u64(w->out, span->length);
        more_int(w, span->part);
        if (span->reason)
            more_int(w, (int64_t)name_of(w, reason_of(span->reason)));
        vls_buf_add_byte(w->out, ']');
    }
    vls_buf_add_byte(w->out, ']');
}

static void write_left(writing *w, const vls_manifest *m)
{
    key(w, ",", "left");
    vls_buf_add_byte(w->out, '[');
    for (size_t i = 0; i < m->left.len; i++) {
        const vls_left *left = &m->left.ptr[i];

        vls_buf_add_text(w->out, i > 0 ? ",[" : "[");
        vls_buf_add_i64(w->out, left->kind);
        more_str(w, left->name);
        more_int(w, (int64_t)name_of(w, left->reason));
        more_int(w, left->tokens);
        vls_buf_add_byte(w->out, ']');
    }
    vls_buf_add_byte(w->out, ']');
}

static void write_names(writing *w)
{
    key(w, ",", "names");
    vls_buf_add_byte(w->out, '[');
    for (size_t i = 0; i < w->names.len; i++) {
        if (i > 0)
            vls_buf_add_byte(w->out, ',');
        vls_json_write_string(w->out, w->names.ptr[i]);
    }
    vls_buf_add_byte(w->out, ']');
}

static void write_repairs(writing *w, const vls_manifest *m)
{
    key(w, ",", "repairs");
    vls_buf_add_byte(w->out, '[');
    for (size_t i = 0; i < m->repairs.len; i++) {
        const vls_repair *repair = &m->repairs.ptr[i];

        vls_buf_add_text(w->out, i > 0 ? ",[" : "[");
        vls_json_write_string(w->out, valise_str_of(repair->rule));
        more_str(w, valise_str_of(repair->what));
        more_int(w, repair->message);
        more_int(w, repair->block);
        more_str(w, repair->name);
        vls_buf_add_byte(w->out, ']');
    }
    vls_buf_add_byte(w->out, ']');
}

static void write_budget(writing *w, const vls_budget *budget)
{
    key(w, ",", "budget");
    key(w, "{", "limit");
    int_or_null(w, budget->limit);
    key(w, ",", "sections");
    for (int i = 0; i < VLS_SECTION_COUNT; i++) {
        vls_buf_add_byte(w->out, i > 0 ? ',' : '[');
        vls_buf_add_i64(w->out, budget->sections[i]);
    }
    vls_buf_add_byte(w->out, ']');
    key_int(w, "used", budget->used);
    vls_buf_add_byte(w->out, '}');
}

static void write_chain(writing *w, const vls_manifest *m)
{
    key(w, ",", "chain");
    for (int i = 0; i < VLS_SECTION_COUNT; i++) {
        vls_buf_add_byte(w->out, i > 0 ? ',' : '[');
        id_or_null(w, &m->chain[i]);
    }
    vls_buf_add_byte(w->out, ']');
}

/* ---- all of it ---- */

static void write_first_half(writing *w, const vls_manifest *m)
{
    key(w, "{", "actor");
    vls_json_write_string(w->out, m->actor);
    key(w, ",", "adapter");
    vls_json_write_string(w->out, m->adapter);
    key_int(w, "adapterVersion", m->adapter_version);
    write_budget(w, &m->budget);
    key_int(w, "builder", m->builder);
    write_chain(w, m);
    key_int(w, "context", (int64_t)m->context);
    key(w, ",", "head");
    str_or_null(w, m->head);
    key_int(w, "history", (int64_t)m->history);
    key_int(w, "how",
            (m->how.stream ? VLS_HOW_STREAM : 0) | (m->how.no_cache ? VLS_HOW_NO_CACHE : 0));
    write_left(w, m);
    key(w, ",", "model");
    str_or_null(w, m->model);
    write_names(w);
}

static void write_second_half(writing *w, const vls_manifest *m)
{
    key(w, ",", "neutral");
    id_or_null(w, &m->neutral);
    key_int(w, "neutralBytes", m->neutral_bytes);
    write_parts(w, m);
    write_repairs(w, m);
    key(w, ",", "request");
    vls_buf_add(w->out, m->request);
    key(w, ",", "retriever");
    vls_json_write_string(w->out, m->retriever);
    key_int(w, "retrieverVersion", m->retriever_version);
    key_int(w, "scale", m->scale);
    key_int(w, "seq", m->seq);
    key(w, ",", "session");
    vls_json_write_string(w->out, valise_str_of(vls_uuid_text(&m->session).s));
    write_spans(w, m);
    key_int(w, "time", m->time);
    key_int(w, "trimmed", m->trimmed);
    key_int(w, "version", VLS_MANIFEST_VERSION);
    key(w, ",", "wire");
    id_or_null(w, &m->wire);
    key_int(w, "wireBytes", m->wire_bytes);
    vls_buf_add_byte(w->out, '}');
}

int vls_manifest_write(vls_buf *out, const vls_manifest *manifest, valise_error *err)
{
    const valise_env *env = out->arena ? out->arena->env : out->env;
    writing w = {.out = out};
    int rc;

    vls_arena_init(&w.arena, env, VLS_NEUTRAL_MAX_BYTES);
    vls_map_init(&w.map, env, is_name);
    collect(&w, manifest);
    write_first_half(&w, manifest);
    write_second_half(&w, manifest);
    rc = w.failed ? vls_fail_memory(err) : vls_buf_check(out, err);
    vls_map_release(&w.map);
    vls_arena_release(&w.arena);
    return rc;
}
