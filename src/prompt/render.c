/* render.c -- parts to the neutral prompt: text, spans, and the same as a value.
 *
 *     {"messages":[context, history, tail],"params":{},"sections":{},"system":[],"tools":[],
 *      "version":1}
 *
 * Members of a canonical object are in the order of their keys, so the text is not in the order of
 * the parts: each span says whose it is. A turn is one message; neighbours of another kind in the
 * same section are the blocks of one message of the user.
 *
 * The text is hashed in lots, while it is still in the caches of the processor. Most builds need no
 * more of it: then each lot is written over the one before. */
#include "base/hex.h"
#include "json/make.h"
#include "prompt/edit.h"

const char *const vls_sections[] = {"tools",   "params", "system", "context",
                                    "history", "tail",   NULL};
const char *const vls_part_kinds[] = {"turn", "role",  "preference", "entry", "frame",
                                      "item", "given", "builder",    NULL};
const char *const vls_edit_kinds[] = {"drop", "clear", "cut", "text", "asset", "file text", NULL};

#define LOT_BYTES ((size_t)64 << 10)

typedef vls_vec(vls_json) values;

typedef struct rendering {
    vls_rendered *out;
    vls_arena *arena;
    const vls_part *parts;
    size_t count;
    vls_bytes_fn *bytes;
    void *arg;
    const vls_render_how *how;
    vls_hasher hasher;
    size_t marked;           /* bytes of the text that have a span */
    size_t hashed;           /* bytes of the text that are in the hash */
    values messages;         /* all of them */
    values blocks;           /* of the message at hand */
    size_t context, history; /* messages */
    vls_json params, system, tools;
} rendering;

/* ---- spans ---- */

/* All that was written since the last span is of this part. */
static int mark(rendering *r, int32_t part, const char *reason, valise_error *err)
{
    vls_rendered *out = r->out;
    size_t length = out->text.len - r->marked;
    vls_span *last = out->spans.len > 0 ? &out->spans.ptr[out->spans.len - 1] : NULL;

    r->marked = out->text.len;
    if (length == 0)
        return 0;
    if (last && last->part == part && last->reason == reason) {
        last->length += length;
        return 0;
    }
    if (!vls_vec_reserve_in(&out->spans, r->arena, out->spans.len + 1))
        return vls_arena_fail(r->arena, err);
    assert(out->spans.ptr);
    out->spans.ptr[out->spans.len++] = (vls_span){length, part, reason};
    return 0;
}

/* The builder's own. */
static int put(rendering *r, const char *text, valise_error *err)
{
    vls_buf_add_text(&r->out->text, text);
    return mark(r, -1, NULL, err);
}

static int put_value(rendering *r, vls_json value, int32_t part, const char *reason,
                     valise_error *err)
{
    int rc = vls_json_write_around(&r->out->text, value, err);

    return rc < 0 ? rc : mark(r, part, reason, err);
}

/* Hash what is new, if that is so much. All of it has a span. */
static void hash_lot(rendering *r, size_t at_least)
{
    vls_rendered *out = r->out;
    size_t fresh = out->text.len - r->hashed;

    if (fresh < at_least)
        return;
    assert(r->marked == out->text.len);
    vls_hash_update(&r->hasher, vls_str_from(vls_buf_str(&out->text), r->hashed));
    out->bytes += fresh;
    r->hashed = out->text.len;
    if (!r->how->no_text)
        return;
    r->hashed = r->marked = out->text.len = 0;
    if (out->bytes > r->how->max_bytes && out->text.failed == 0)
        out->text.failed = VALISE_E_TOO_LARGE;
}

static int keep(values *list, rendering *r, vls_json value, valise_error *err)
{
    return vls_vec_push_in(list, r->arena, value) ? 0 : vls_arena_fail(r->arena, err);
}

/* ---- what a part says ---- */

/* The word that stands for what is not there. */
static valise_str word_for(rendering *r, const char *why)
{
    r->out->missing++;
    if (why && strcmp(why, "denied") == 0)
        return VLS_STR("[denied]");
    return why && strcmp(why, "not kept") == 0 ? VLS_STR("[not kept]") : VLS_STR("[erased]");
}

/* Its bytes: 1; or the word that stands for them: 0. */
static int bytes_of(valise_str *out, rendering *r, const vls_part *part, valise_error *err)
{
    const char *why = NULL;
    int rc;

    if (part->text.ptr || (vls_id_is_none(&part->id) && vls_id_is_none(&part->blob))) {
        *out = part->text.ptr ? part->text : VLS_STR("");
        return 1;
    }
    rc = r->bytes(out, &why, r->arg, part, NULL, err);
    if (rc == 0)
        *out = word_for(r, why);
    return rc;
}

/* What a file says: vls_file_text_fn. */
static int file_text(valise_str *out, void *arg, const vls_part *part, const vls_prompt_edit *edit,
                     const valise_id *blob, valise_error *err)
{
    rendering *r = arg;
    valise_str text = edit->bytes;
    const char *why = NULL;
    int rc = text.ptr ? 1 : r->bytes(&text, &why, r->arg, part, blob, err);

    if (rc == 0)
        *out = word_for(r, why);
    if (rc <= 0)
        return rc;
    r->out->files++;
    return vls_arena_dup(out, r->arena, text, err);
}

/* The value that its object holds: 1; or a text block of the word that stands for it: 0. */
static int value_of(vls_json *out, valise_str *text, rendering *r, const vls_part *part,
                    valise_error *err)
{
    static const vls_json_limits limits = {.max_bytes = UINT32_MAX - 1};
    int rc = bytes_of(text, r, part, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return vls_text_block(out, r->arena, *text, err);
    *out = part->value;
    if (out->type == VLS_JSON_NULL)
        rc = vls_json_parse(out, r->arena, *text, &limits, err);
    return rc < 0 ? rc : 1;
}

/* ---- turns ---- */

/* The blocks of a turn as they are in the store are what they are here. */
static int put_plain(rendering *r, valise_str text, vls_json value, int32_t part, valise_error *err)
{
    if (text.len < 2 || value.type != VLS_JSON_ARRAY)
        return put_value(r, value, part, NULL, err);
    vls_buf_add(&r->out->text, text);
    for (uint32_t i = 0; i < value.len; i++) {
        int rc = keep(&r->blocks, r, value.items[i], err);

        if (rc < 0)
            return rc;
    }
    return mark(r, part, NULL, err);
}

static int put_block(rendering *r, vls_json block, int32_t part, const char *reason,
                     valise_error *err)
{
    int rc = put(r, r->blocks.len > 0 ? "," : "[", err);

    if (rc == 0)
        rc = keep(&r->blocks, r, block, err);
    return rc < 0 ? rc : put_value(r, block, part, reason, err);
}

static int put_edited(rendering *r, const vls_part *part, vls_json value, int32_t number,
                      valise_error *err)
{
    const vls_editing editing = {r->arena, part, file_text, r};
    size_t from = 0;
    int rc = 0;

    for (uint32_t i = 0; i < value.len && rc >= 0; i++) {
        const char *reason = NULL;
        vls_json block = vls_json_null();

        rc = vls_edit_block(&block, &reason, &editing, value.items[i], (int32_t)i, &from, err);
        if (rc > 0)
            rc = put_block(r, block, number, reason, err);
    }
    if (rc == 0 && r->blocks.len > 0)
        rc = put(r, "]", err);
    return vls_settle(rc);
}

/* A message is kept as a value as well. */
static int end_message(rendering *r, int says, valise_error *err)
{
    vls_json message = vls_json_null();
    vls_json blocks = vls_json_array(r->blocks.ptr, r->blocks.len);
    int rc = VLS_PAIRS(&message, r->arena, err, {"blocks", blocks, false},
                       {"role", vls_json_string(valise_str_of(vls_says[says])), false});

    r->blocks = (values)VLS_VEC_INIT;
    return rc < 0 ? rc : keep(&r->messages, r, message, err);
}

static int put_role(rendering *r, int says, int32_t part, valise_error *err)
{
    vls_buf_add_text(&r->out->text, ",\"role\":\"");
    vls_buf_add_text(&r->out->text, vls_says[says]);
    vls_buf_add_text(&r->out->text, "\"}");
    return mark(r, part, NULL, err);
}

static int begin_message(rendering *r, valise_error *err)
{
    return put(r, r->messages.len > 0 ? ",{\"blocks\":" : "{\"blocks\":", err);
}

/* Is anything left of it? */
static int edits_leave(bool *out, rendering *r, const vls_part *part, vls_json value,
                       valise_error *err)
{
    const vls_editing editing = {r->arena, part, NULL, NULL};
    size_t from = 0;
    int rc = 0;

    *out = false;
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        const char *reason;
        vls_json block;

        rc = vls_edit_block(&block, &reason, &editing, value.items[i], (int32_t)i, &from, err);
    }
    *out = rc > 0;
    return vls_settle(rc);
}

static int put_turn(rendering *r, const vls_part *part, int32_t number, valise_error *err)
{
    bool leaves = true;
    valise_str text = {NULL, 0};
    vls_json value = vls_json_null();
    int rc = value_of(&value, &text, r, part, err);
    bool whole = rc > 0;

    if (rc >= 0 && whole && part->edits.len > 0)
        rc = edits_leave(&leaves, r, part, value, err);
    if (rc < 0 || !leaves)
        return vls_settle(rc);
    rc = begin_message(r, err);
    if (rc == 0 && !whole) {
        rc = put_block(r, value, number, "not there", err);
        if (rc == 0)
            rc = put(r, "]", err);
    } else if (rc == 0) {
        rc = part->edits.len > 0 ? put_edited(r, part, value, number, err)
                                 : put_plain(r, text, value, number, err);
    }
    if (rc == 0)
        rc = put_role(r, part->says, number, err);
    return rc < 0 ? rc : end_message(r, part->says, err);
}

/* ---- everything else that is told ---- */

/* Words and text of a part as one text block: 1; with the word that stands for its text: 0. */
static int put_told(rendering *r, const vls_part *part, int32_t number, valise_error *err)
{
    vls_buf joined;
    valise_str text = {NULL, 0}, all = {NULL, 0};
    vls_json block = vls_json_null();
    int rc = bytes_of(&text, r, part, err);
    bool there = rc > 0;

    if (rc < 0)
        return rc;
    vls_buf_init_in(&joined, r->arena, VLS_NEUTRAL_MAX_BYTES);
    if (there || !vls_str_equal(text, VLS_STR("[denied]"))) /* words have the name */
        vls_buf_add(&joined, part->words);
    vls_buf_add(&joined, text);
    rc = vls_buf_keep(&all, &joined, err);
    if (rc == 0)
        rc = vls_text_block(&block, r->arena, all, err);
    if (rc == 0)
        rc = put_block(r, block, number, NULL, err);
    return rc < 0 ? rc : there;
}

/* What stands for a file that cannot be sent. */
static int put_line(rendering *r, const vls_prompt_edit *edit, int32_t number, valise_error *err)
{
    vls_buf line;
    valise_str text = {NULL, 0};
    vls_json block = vls_json_null();
    int rc;

    vls_buf_init_in(&line, r->arena, edit->text.len + 16);
    vls_buf_add_text(&line, "[file: ");
    vls_buf_add(&line, edit->text);
    vls_buf_add_byte(&line, ']');
    rc = vls_buf_keep(&text, &line, err);
    if (rc == 0)
        rc = vls_text_block(&block, r->arena, text, err);
    return rc < 0 ? rc : put_block(r, block, number, edit->reason, err);
}

/* An entry that is a blob: its first edit says what it is. */
static int put_file(rendering *r, const vls_part *part, int32_t number, valise_error *err)
{
    const vls_prompt_edit *asset = part->edits.len > 0 ? &part->edits.ptr[0] : NULL;
    vls_id_text id = vls_id_hex(&part->blob);
    valise_str digits = {NULL, 0}, text = {NULL, 0};
    vls_json block = vls_json_null();
    bool image, is_text = asset && asset->kind == VLS_EDIT_FILE_TEXT;
    int rc;

    if (!asset)
        return 0;
    if (asset->kind != VLS_EDIT_ASSET && !is_text)
        return put_line(r, asset, number, err);
    image = !is_text && vls_str_starts(asset->text, VLS_STR("image/"));
    rc = vls_arena_dup(&digits, r->arena, valise_str_of(id.s), err);
    if (rc == 0 && is_text)
        rc = file_text(&text, r, part, asset, &part->blob, err);
    if (rc == 0)
        rc = VLS_PAIRS(
            &block, r->arena, err, {"blob", vls_json_string(digits), false},
            {"fileId", vls_json_string(asset->more), asset->more.len == 0},
            {"mediaType", vls_json_string(asset->text), false},
            {"size", vls_json_int(asset->a), false}, {"text", vls_json_string(text), !is_text},
            {"type", vls_json_string(valise_str_of(image ? "image" : "document")), false});
    return rc < 0 ? rc : put_block(r, block, number, NULL, err);
}

/* The neighbours from *at on that are no turns, in one message. */
static int put_group(rendering *r, size_t *at, valise_error *err)
{
    uint8_t section = r->parts[*at].section;
    int rc = begin_message(r, err);

    for (; rc == 0 && *at < r->count; ++*at) {
        const vls_part *part = &r->parts[*at];

        if (part->section != section || part->kind == VLS_PART_TURN)
            break;
        rc = put_told(r, part, (int32_t)*at, err);
        if (rc > 0 && !vls_id_is_none(&part->blob))
            rc = put_file(r, part, (int32_t)*at, err);
        rc = vls_settle(rc);
    }
    if (rc == 0)
        rc = put(r, "],\"role\":\"user\"}", err);
    return rc < 0 ? rc : end_message(r, VLS_SAYS_USER, err);
}

static int put_messages(rendering *r, valise_error *err)
{
    int rc = put(r, "{\"messages\":[", err);
    size_t i = 0;

    while (i < r->count && rc == 0) {
        uint8_t section = r->parts[i].section;

        if (section < VLS_SECTION_CONTEXT) {
            i++;
            continue;
        }
        if (r->parts[i].kind == VLS_PART_TURN) {
            rc = put_turn(r, &r->parts[i], (int32_t)i, err);
            i++;
        } else {
            rc = put_group(r, &i, err);
        }
        if (section == VLS_SECTION_CONTEXT)
            r->context = r->messages.len;
        if (section <= VLS_SECTION_HISTORY)
            r->history = r->messages.len - r->context;
        if (rc == 0)
            hash_lot(r, LOT_BYTES);
    }
    return rc < 0 ? rc : put(r, "]", err);
}

/* ---- params, sections, system, tools ---- */

/* The last part that has a member says it. `window` is for the budget, not for the model. */
static int put_params(rendering *r, valise_error *err)
{
    vls_json all = vls_json_null();
    vls_vec(int32_t) from = VLS_VEC_INIT;
    int rc = VLS_PAIRS(&all, r->arena, err, {"", vls_json_null(), true});

    for (size_t i = 0; i < r->count && rc >= 0; i++) {
        vls_json value = vls_json_null();
        valise_str text;

        if (r->parts[i].section != VLS_SECTION_PARAMS)
            continue;
        rc = value_of(&value, &text, r, &r->parts[i], err);
        for (uint32_t m = 0; rc > 0 && m < value.len && value.type == VLS_JSON_OBJECT; m++) {
            valise_str key = vls_json_str(value.members[m].key);
            bool there;
            size_t at = vls_json_find(&there, all, key);

            if (vls_str_equal(key, VLS_STR("window")))
                continue;
            if (!there && !vls_vec_push_in(&from, r->arena, 0))
                return vls_arena_fail(r->arena, err);
            assert(from.ptr && at < from.len);
            if (!there)
                memmove(from.ptr + at + 1, from.ptr + at, (from.len - 1 - at) * sizeof(*from.ptr));
            from.ptr[at] = (int32_t)i;
            rc = vls_json_with_key(&all, r->arena, all, key, value.members[m].value, err);
            rc = rc < 0 ? rc : 1;
        }
    }
    r->params = all;
    rc = rc < 0 ? rc : put(r, ",\"params\":{", err);
    for (uint32_t m = 0; m < all.len && m < from.len && rc == 0; m++) {
        assert(from.ptr);
        if (m > 0)
            rc = put(r, ",", err);
        vls_json_write_string(&r->out->text, vls_json_str(all.members[m].key));
        vls_buf_add_byte(&r->out->text, ':');
        if (rc == 0)
            rc = put_value(r, all.members[m].value, from.ptr[m], NULL, err);
    }
    return rc < 0 ? rc : put(r, "}", err);
}

static int put_sections(rendering *r, valise_error *err)
{
    vls_buf_printf(&r->out->text, ",\"sections\":{\"context\":%zu,\"history\":%zu}", r->context,
                   r->history);
    return mark(r, -1, NULL, err);
}

/* A tool whose definition is gone. */
static int stand_in(vls_json *out, rendering *r, valise_str word, valise_error *err)
{
    vls_json schema = vls_json_null();
    int rc = VLS_PAIRS(&schema, r->arena, err, {"type", vls_json_string(VLS_STR("object")), false});

    return rc < 0 ? rc
                  : VLS_PAIRS(out, r->arena, err, {"description", vls_json_string(word), false},
                              {"inputSchema", schema, false},
                              {"name", vls_json_string(VLS_STR("erased")), false});
}

/* System texts and tools: a list of one section. */
static int put_list(vls_json *out, rendering *r, const char *before, int section, valise_error *err)
{
    int rc = put(r, before, err);
    size_t n = 0;

    for (size_t i = 0; i < r->count && rc == 0; i++) {
        const vls_part *part = &r->parts[i];
        vls_json value = vls_json_null();
        valise_str text;

        if (part->section != section)
            continue;
        n++;
        if (section == VLS_SECTION_SYSTEM) {
            rc = vls_settle(put_told(r, part, (int32_t)i, err));
            continue;
        }
        rc = value_of(&value, &text, r, part, err);
        if (rc == 0)
            rc = stand_in(&value, r, text, err);
        rc = rc < 0 ? rc : put_block(r, value, (int32_t)i, NULL, err);
    }
    *out = vls_json_array(r->blocks.ptr, r->blocks.len);
    r->blocks = (values)VLS_VEC_INIT;
    return rc < 0 ? rc : put(r, n > 0 ? "]" : "[]", err);
}

static int finish(rendering *r, valise_error *err)
{
    vls_json sections = vls_json_null();
    int rc =
        VLS_PAIRS(&sections, r->arena, err, {"context", vls_json_int((int64_t)r->context), false},
                  {"history", vls_json_int((int64_t)r->history), false});

    if (rc == 0)
        rc = VLS_PAIRS(&r->out->all, r->arena, err,
                       {"messages", vls_json_array(r->messages.ptr, r->messages.len), false},
                       {"params", r->params, false}, {"sections", sections, false},
                       {"system", r->system, false}, {"tools", r->tools, false},
                       {"version", vls_json_int(VLS_NEUTRAL_VERSION), false});
    r->out->context = r->context;
    r->out->history = r->history;
    hash_lot(r, 0);
    if (rc == 0)
        rc = vls_buf_check(&r->out->text, err);
    vls_hash_end(&r->out->hash, &r->hasher);
    return rc;
}

/* About so much room the text needs. */
static size_t text_size(const rendering *r)
{
    size_t size = 64, most = r->how->no_text ? 2 * LOT_BYTES : r->how->max_bytes;

    for (size_t i = 0; i < r->count && size < most; i++)
        size += r->parts[i].text.len + 64; /* and what stands around it */
    return VLS_MIN(size, most);
}

int vls_render(vls_rendered *out, vls_arena *arena, const vls_part *parts, size_t count,
               vls_bytes_fn *bytes, void *arg, const vls_render_how *how, valise_error *err)
{
    vls_rendered made = {0};
    rendering r = {.out = &made,
                   .arena = arena,
                   .parts = parts,
                   .count = count,
                   .bytes = bytes,
                   .arg = arg,
                   .how = how};
    int rc = 0;

    vls_buf_init(&made.text, arena->env, how->max_bytes);
    (void)vls_buf_reserve(&made.text, text_size(&r));
    /* A span for each part, and one for what stands before it. */
    if (!vls_vec_reserve_in(&made.spans, arena, 2 * count + 8))
        rc = vls_arena_fail(arena, err);
    vls_hash_begin(&r.hasher);
    if (rc == 0)
        rc = put_messages(&r, err);
    if (rc == 0)
        rc = put_params(&r, err);
    if (rc == 0)
        rc = put_sections(&r, err);
    if (rc == 0)
        rc = put_list(&r.system, &r, ",\"system\":", VLS_SECTION_SYSTEM, err);
    if (rc == 0)
        rc = put_list(&r.tools, &r, ",\"tools\":", VLS_SECTION_TOOLS, err);
    if (rc == 0)
        rc = put(&r, ",\"version\":1}", err);
    if (rc == 0)
        rc = finish(&r, err);
    if (rc < 0) {
        vls_buf_release(&made.text);
        return rc;
    }
    *out = made;
    return 0;
}

void vls_rendered_release(vls_rendered *rendered)
{
    vls_buf_release(&rendered->text);
    *rendered = (vls_rendered){0};
}

bool vls_part_equal(const vls_part *a, const vls_part *b)
{
    if (a->section != b->section || a->kind != b->kind || a->says != b->says ||
        a->version != b->version || !vls_id_equal(&a->id, &b->id) ||
        !vls_id_equal(&a->blob, &b->blob) || !vls_str_equal(a->name, b->name) ||
        !vls_str_equal(a->words, b->words) || a->edits.len != b->edits.len)
        return false;
    for (size_t i = 0; i < a->edits.len; i++) {
        const vls_prompt_edit *x = &a->edits.ptr[i], *y = &b->edits.ptr[i];

        if (x->kind != y->kind || x->block != y->block || x->inner != y->inner || x->a != y->a ||
            x->b != y->b || !vls_str_equal(x->text, y->text) || !vls_str_equal(x->more, y->more))
            return false;
    }
    return true;
}
