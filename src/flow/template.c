/* template.c -- see template.h. */
#include "flow/template.h"

#include "base/text.h"
#include "json/make.h"

#define OPEN "{{"
#define CLOSE "}}"
#define REFERENCE "${"
#define CREDENTIAL "@cred:"

vls_renderer vls_renderer_of(valise_node_run *at)
{
    at->secrets.arena = at->arena;
    return (vls_renderer){at->arena, at->view, at->run->v, &at->secrets};
}

/* ---- reading ---- */

typedef struct part {
    valise_str text; /* ptr NULL: it is a pick */
    vls_pick pick;
} part;

typedef struct pieces {
    const part *parts;
    size_t count;
} pieces;

int vls_pick_parse(vls_pick *out, vls_arena *arena, valise_str text, valise_error *err)
{
    vls_pick pick = {.optional = false};
    valise_str whole = vls_str_trim(text), pointer = VLS_STR("");
    int rc;

    text = whole;
    if (text.len > 0 && text.ptr[text.len - 1] == '?') {
        pick.optional = true;
        text = vls_str_trim(vls_str_head(text, text.len - 1));
    }
    if (!vls_str_cut(&pick.key, &pointer, text, '#') || !pointer.ptr)
        pointer = VLS_STR("");
    pick.key = vls_str_trim(pick.key);
    if (pick.key.len == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' does not say which item",
                       vls_text_short(whole).s);
        vls_hint(err,
                 "write {{key}}, {{key#/pointer}} or {{key?}}; for two literal braces write {{{{");
        return VALISE_E_INVALID;
    }
    rc = vls_bag_check_key(pick.key, err);
    if (rc == 0)
        rc = vls_pointer_parse(&pick.pointer, arena, pointer, err);
    if (rc == 0)
        *out = pick;
    return rc;
}

typedef vls_vec(part) parts;

static int add_text(parts *all, vls_arena *arena, valise_str text, valise_error *err)
{
    if (text.len == 0)
        return 0;
    return vls_vec_push_in(all, arena, (part){.text = text}) ? 0 : vls_arena_fail(arena, err);
}

static int add_pick(parts *all, vls_arena *arena, valise_str text, size_t at, valise_error *err)
{
    part made = {.text = {NULL, 0}};
    int rc = vls_pick_parse(&made.pick, arena, text, err);

    if (rc < 0) {
        if (err)
            err->offset = (int64_t)at;
        return rc;
    }
    return vls_vec_push_in(all, arena, made) ? 0 : vls_arena_fail(arena, err);
}

/* It borrows from the text. VALISE_E_INVALID, with the offset. */
static int parse(pieces *out, vls_arena *arena, valise_str text, valise_error *err)
{
    parts all = VLS_VEC_INIT;
    valise_str rest = text;
    int rc = 0;

    while (rest.len > 0 && rc == 0) {
        size_t open = vls_str_find(rest, VLS_STR(OPEN)), at, close;
        valise_str behind = vls_str_from(rest, open + 2);

        if (all.len >= VLS_TEMPLATE_PARTS_MAX)
            return vls_fail(err, VALISE_E_LIMIT, "more than %u pieces in one template",
                            VLS_TEMPLATE_PARTS_MAX);
        at = text.len - rest.len + open;
        if (vls_str_starts(behind, VLS_STR(OPEN))) {
            rc = add_text(&all, arena, vls_str_head(rest, open + 2), err);
            rest = vls_str_from(behind, 2);
            continue;
        }
        rc = add_text(&all, arena, vls_str_head(rest, open), err);
        if (open == rest.len)
            break;
        close = vls_str_find(behind, VLS_STR(CLOSE));
        if (rc == 0 && close == behind.len) {
            (void)vls_fail_at(err, VALISE_E_INVALID, at, "a placeholder is not closed: '%s'",
                              vls_text_short(vls_str_from(rest, open)).s);
            vls_hint(err, "write {{key}}; for two literal braces write {{{{");
            return VALISE_E_INVALID;
        }
        if (rc == 0)
            rc = add_pick(&all, arena, vls_str_head(behind, close), at, err);
        rest = vls_str_from(behind, close + 2);
    }
    if (rc == 0)
        *out = (pieces){all.ptr, all.len};
    return rc;
}

/* ---- rendering ---- */

static int fail_absent(const vls_pick *pick, bool item, valise_error *err)
{
    if (item)
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no item '%.*s'",
                       VALISE_STR_ARG(pick->key));
    else
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "item '%.*s' has nothing at %s",
                       VALISE_STR_ARG(pick->key), vls_pointer_brief(pick->pointer.text).s);
    vls_hint(err, "give it with --set, or let a node before this one pack it; with {{key?}} it may "
                  "be missing");
    return VALISE_E_NOT_FOUND;
}

/* 1 or 0. What must be there is asked for as such: in a lenient backpack, too, what is denied is
 * then no absence. */
static int read_item(valise_blob **out, const vls_renderer *r, const vls_pick *pick,
                     valise_error *err)
{
    VLS_AUTO(buf) vls_buf key = {0};
    const char *text;
    int rc;

    if (pick->optional)
        return valise_unpack_str(out, r->view, pick->key, err);
    vls_buf_init(&key, r->arena->env, VLS_BAG_KEY_MAX + 1);
    vls_buf_add(&key, pick->key);
    text = vls_buf_cstr(&key);
    if (!text)
        return vls_buf_check(&key, err);
    rc = valise_unpack_required(out, r->view, text, err);
    if (rc == VALISE_E_NOT_FOUND)
        return fail_absent(pick, true, err);
    return rc < 0 ? rc : 1;
}

int vls_pick_get(vls_json *out, const vls_renderer *r, const vls_pick *pick, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    valise_str text;
    vls_json value = vls_json_null();
    const vls_json *found = NULL;
    int rc = read_item(&blob, r, pick, err);

    if (rc <= 0)
        return rc;
    rc = vls_arena_dup(&text, r->arena, vls_blob_bytes(blob), err);
    if (rc == 0)
        rc = vls_json_parse(&value, r->arena, text, NULL, err);
    if (rc < 0)
        return rc;
    if (vls_pointer_get(&found, &value, &pick->pointer, NULL) < 0)
        return pick->optional ? 0 : fail_absent(pick, false, err);
    *out = *found;
    return 1;
}

/* A piece of the text itself. */
static int resolve(valise_str *out, const vls_renderer *r, valise_str text, bool whole,
                   valise_error *err)
{
    vls_json value = vls_json_string(text);
    bool is_one = vls_str_find(text, VLS_STR(REFERENCE)) < text.len ||
                  (whole && vls_str_starts(text, VLS_STR(CREDENTIAL)));
    int rc =
        r->v && is_one ? vls_references_resolve(&value, r->arena, value, r->v, r->secrets, err) : 0;

    if (rc == 0)
        *out = vls_json_str(value);
    return rc;
}

static int add_part(vls_buf *out, const vls_renderer *r, const part *p, bool whole,
                    valise_error *err)
{
    valise_str text;
    vls_json value;
    int rc;

    if (p->text.ptr) {
        rc = resolve(&text, r, p->text, whole, err);
        if (rc == 0)
            vls_buf_add(out, text);
        return rc;
    }
    rc = vls_pick_get(&value, r, &p->pick, err);
    if (rc <= 0)
        return rc;
    if (value.type != VLS_JSON_STRING)
        return vls_json_write(out, value, err);
    vls_buf_add(out, vls_json_str(value));
    return 0;
}

static int render(valise_str *out, const vls_renderer *r, const pieces *of, valise_error *err)
{
    vls_buf text;
    int rc = 0;

    vls_buf_init_in(&text, r->arena, VLS_JSON_MAX_BYTES);
    vls_buf_add_text(&text, "");
    for (size_t i = 0; i < of->count && rc == 0; i++) {
        rc = add_part(&text, r, &of->parts[i], of->count == 1, err);
        if (rc == 0)
            rc = vls_buf_check(&text, err);
    }
    return rc < 0 ? rc : vls_buf_keep(out, &text, err);
}

int vls_template_text(valise_str *out, const vls_renderer *r, valise_str text, valise_error *err)
{
    pieces of;
    int rc = parse(&of, r->arena, text, err);

    return rc < 0 ? rc : render(out, r, &of, err);
}

static int text_value(vls_json *out, const vls_renderer *r, valise_str text, valise_error *err)
{
    pieces of;
    valise_str made = VLS_STR("");
    int rc = parse(&of, r->arena, text, err);

    if (rc == 0 && of.count == 1 && !of.parts[0].text.ptr) {
        rc = vls_pick_get(out, r, &of.parts[0].pick, err);
        if (rc == 0)
            *out = vls_json_null();
        return vls_settle(rc);
    }
    if (rc == 0)
        rc = render(&made, r, &of, err);
    if (rc == 0)
        *out = vls_json_string(made);
    return rc;
}

static int items_value(vls_json *out, const vls_renderer *r, vls_json value, valise_error *err)
{
    vls_json *items = vls_arena_array(r->arena, VLS_MAX(value.len, 1u), sizeof(*items));
    int rc = 0;

    if (!items)
        return vls_arena_fail(r->arena, err);
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        rc = vls_template_value(&items[i], r, value.items[i], err);
        if (rc < 0)
            vls_error_prepend(err, "[%u]", i);
    }
    if (rc == 0)
        *out = vls_json_array(items, value.len);
    return rc;
}

static int members_value(vls_json *out, const vls_renderer *r, vls_json value, valise_error *err)
{
    vls_member *members = vls_arena_array(r->arena, VLS_MAX(value.len, 1u), sizeof(*members));
    int rc = 0;

    if (!members)
        return vls_arena_fail(r->arena, err);
    for (uint32_t i = 0; i < value.len && rc == 0; i++) {
        members[i].key = value.members[i].key;
        rc = vls_template_value(&members[i].value, r, value.members[i].value, err);
        if (rc < 0)
            vls_error_prepend(err, "%s", vls_text_short(vls_json_str(members[i].key)).s);
    }
    return rc < 0 ? rc : vls_json_object(out, members, value.len, err);
}

int vls_template_value(vls_json *out, const vls_renderer *r, vls_json value, valise_error *err)
{
    switch (value.type) {
    case VLS_JSON_STRING:
        return text_value(out, r, vls_json_str(value), err);
    case VLS_JSON_ARRAY:
        return items_value(out, r, value, err);
    case VLS_JSON_OBJECT:
        return members_value(out, r, value, err);
    default:
        *out = value;
        return 0;
    }
}

/* ---- checking ---- */

typedef struct checking {
    vls_flow_findings *findings;
    vls_buf path;
    bool packed;
} checking;

static int note(checking *c, const valise_error *why, valise_error *err)
{
    valise_str path = {NULL, 0};
    int rc = vls_buf_check(&c->path, err);

    if (rc == 0)
        rc = vls_arena_dup(&path, c->findings->arena, vls_buf_str(&c->path), err);
    return rc < 0 ? rc : vls_flow_findings_take(c->findings, path, why, err);
}

static int check_text(checking *c, valise_str text, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    valise_error why = VALISE_ERROR_INIT;
    pieces of;
    int rc;

    if (c->packed && vls_references_in(vls_json_string(text))) {
        (void)vls_fail(&why, VALISE_E_INVALID, "a secret does not belong in a backpack: '%s'",
                       vls_text_short(text).s);
        vls_hint(&why, "references work only in prompts, programs and tools");
        return note(c, &why, err);
    }
    vls_arena_init(&arena, c->findings->arena->env, 16 * VLS_FLOW_CONFIG_MAX);
    rc = parse(&of, &arena, text, &why);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    return rc < 0 ? note(c, &why, err) : 0;
}

static int check_value(checking *c, vls_json value, valise_error *err)
{
    size_t len = c->path.len;
    int rc = 0;

    if (value.type == VLS_JSON_STRING)
        return check_text(c, vls_json_str(value), err);
    for (uint32_t i = 0; value.type == VLS_JSON_ARRAY && i < value.len && rc == 0; i++) {
        vls_buf_printf(&c->path, "[%u]", i);
        rc = check_value(c, value.items[i], err);
        c->path.len = len;
    }
    for (uint32_t i = 0; value.type == VLS_JSON_OBJECT && i < value.len && rc == 0; i++) {
        vls_buf_printf(&c->path, ".%s", vls_text_short(vls_json_str(value.members[i].key)).s);
        rc = check_value(c, value.members[i].value, err);
        c->path.len = len;
    }
    return rc;
}

int vls_template_check(vls_flow_findings *findings, valise_str path, vls_json value, bool packed,
                       valise_error *err)
{
    checking c = {.findings = findings, .packed = packed};
    int rc;

    vls_buf_init(&c.path, findings->arena->env, (size_t)1 << 20);
    vls_buf_add(&c.path, path);
    rc = check_value(&c, value, err);
    vls_buf_release(&c.path);
    return rc;
}
