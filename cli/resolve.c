/* resolve.c -- ids as they were printed: short. [K2]
 *
 * The engine wants whole ids. Where a field is an id and the word is shorter, `workspace:show` is
 * asked for what it stands for: the first digits of a hash, the last ones of a UUID. It refuses
 * what is ambiguous, with the candidates. */
#include "cli/call.h"

#include "base/text.h"
#include "blob/ops.h"
#include "json/make.h"

#define SHOW "workspace:show"
#define SHORTEST 4u

static size_t whole_len(const valise_field *field)
{
    return field->type == VALISE_T_ID ? 64 : 36;
}

static bool is_id(const valise_field *field)
{
    return field->type == VALISE_T_ID || field->type == VALISE_T_UUID;
}

static bool is_hex(valise_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!strchr("0123456789abcdefABCDEF-", text.ptr[i]) || !text.ptr[i])
            return false;
    }
    return true;
}

/* "preference:list.id": who lists them. */
static void hint_list(const valise_field *field, valise_error *err)
{
    valise_str op, area, verb, name;

    if (field->ref && vls_str_cut(&op, &name, valise_str_of(field->ref), '.') &&
        vls_str_cut(&area, &verb, op, ':'))
        vls_hint(err, "'valise %.*s %.*s' lists them", VALISE_STR_ARG(area), VALISE_STR_ARG(verb));
}

static int refuse_word(const valise_field *field, valise_str word, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not an id", vls_text_short(word).s);
    hint_list(field, err);
    return VALISE_E_INVALID;
}

/* "frame", where the field is a key of that collection: things of other kinds may have the same
 * digits, or even the same id, as a blob and the contents of a file have. */
static const char *collection_of(const valise_field *field)
{
    if (!field->ref || strcmp(field->ref, "object") == 0)
        return NULL;
    if (strcmp(field->ref, VLS_REF_BLOB) == 0 || strcmp(field->ref, "blob") == 0)
        return "blob_records";
    return strchr(field->ref, ':') ? NULL : field->ref;
}

static int ask(vls_json *out, cli *c, const char *collection, vls_json value, valise_error *err)
{
    VLS_AUTO(buf) vls_buf payload = {0};
    VLS_AUTO(buf) vls_buf target = {0};
    vls_json answer = vls_json_null();
    int rc;

    vls_buf_init(&payload, c->env, 4096);
    vls_buf_init(&target, c->env, 4096);
    if (collection)
        vls_buf_printf(&target, "%s/", collection);
    vls_buf_add(&target, vls_json_str(value));
    vls_buf_add_text(&payload, "{\"target\":");
    vls_json_write_string(&payload, vls_buf_str(&target));
    vls_buf_add_byte(&payload, '}');
    rc = vls_buf_check(&target, err);
    if (rc == 0)
        rc = cli_ask(&answer, c, SHOW, &payload, err);
    if (rc < 0)
        return rc;
    *out = vls_member_of(answer, "id");
    return 0;
}

/* Of a row the key is meant: "frame/1f2e..." */
static vls_json key_of(vls_json id)
{
    valise_str place = id.type == VLS_JSON_STRING ? vls_json_str(id) : VLS_STR("");
    valise_str collection, key = {NULL, 0};

    return vls_str_cut(&collection, &key, place, '/') ? vls_json_string(key) : id;
}

static int resolve_value(vls_json *value, cli *c, const valise_field *field, valise_error *err)
{
    const char *collection = collection_of(field);
    vls_json id = vls_json_null();
    int rc = VALISE_E_NOT_FOUND;

    if (!is_id(field) || value->type != VLS_JSON_STRING)
        return 0;
    if (!is_hex(vls_json_str(*value)))
        return refuse_word(field, vls_json_str(*value), err);
    if (value->len < SHORTEST || value->len >= whole_len(field))
        return 0;
    if (collection)
        rc = ask(&id, c, collection, *value, NULL);
    if (rc < 0)
        rc = ask(&id, c, NULL, *value, err);
    if (rc == VALISE_E_NOT_FOUND)
        hint_list(field, err);
    if (rc < 0)
        return rc;
    id = key_of(id);
    /* A UUID that ends like this where a hash was meant, or the other way round. */
    if (id.type != VLS_JSON_STRING || id.len != whole_len(field)) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "nothing of this kind has the id '%s'",
                       vls_text_short(vls_json_str(*value)).s);
        hint_list(field, err);
        return VALISE_E_NOT_FOUND;
    }
    *value = id;
    return 0;
}

int cli_change_items(vls_json *list, cli *c, const valise_field *item, cli_change_fn *change,
                     valise_error *err)
{
    vls_json *items = vls_arena_array(&c->arena, (size_t)list->len + 1, sizeof(*items));
    int rc = 0;

    if (!items)
        return vls_arena_fail(&c->arena, err);
    for (uint32_t i = 0; i < list->len && rc == 0; i++) {
        items[i] = list->items[i];
        rc = change(&items[i], c, item, err);
    }
    if (rc == 0)
        *list = vls_json_array(items, list->len);
    return rc;
}

static bool has_ids(const valise_op *op)
{
    for (const valise_field *f = op->in; f && f->type != VALISE_T_END; f++) {
        const valise_field *item = f->type == VALISE_T_LIST ? f->more : f;
        if (item->type == VALISE_T_ID || item->type == VALISE_T_UUID)
            return true;
    }
    return false;
}

int cli_resolve_ids(vls_json *payload, cli *c, const valise_op *op, valise_error *err)
{
    vls_member *members;
    int rc = 0;

    if (op->flags & VALISE_OP_NO_WORKSPACE || !has_ids(op) ||
        !vls_registry_op(c->registry, VLS_STR(SHOW)))
        return 0;
    members = vls_arena_array(&c->arena, (size_t)payload->len + 1, sizeof(*members));
    if (!members)
        return vls_arena_fail(&c->arena, err);
    for (uint32_t i = 0; i < payload->len && rc == 0; i++) {
        members[i] = payload->members[i];
        valise_str key = vls_json_str(members[i].key);
        const valise_field *field = vls_fields_find(op->in, key);
        assert(field);
        if (field->type == VALISE_T_LIST && members[i].value.type == VLS_JSON_ARRAY)
            rc = cli_change_items(&members[i].value, c, field->more, resolve_value, err);
        else
            rc = resolve_value(&members[i].value, c, field, err);
        if (rc < 0)
            vls_error_prepend(err, "%s", field->name);
    }
    return rc < 0 ? rc : vls_json_object(payload, members, payload->len, err);
}
