/* coll_describe.c -- what the store remembers of a collection.
 *
 *     {"fields":[...],"first":3,"flags":0,"help":"...","indexes":[["name","field",...],...]}
 *
 * fields is what vls_fields_describe makes of the table; first counts the fields the table was made
 * with (coll.h). It is enough to read, check, hash and export the rows without the program that
 * wrote them, and to tell whether a program means the same by the name. */
#include "base/text.h"
#include "store/coll.h"

/* ---- writing ---- */

static void add_indexes(vls_json_builder *b, const valise_coll *desc)
{
    vls_json_open(b, VLS_JSON_ARRAY);
    for (const valise_coll_index *i = desc->indexes; i && i->name; i++) {
        vls_json_open(b, VLS_JSON_ARRAY);
        vls_json_add(b, vls_json_string(valise_str_of(i->name)));
        for (const char *const *field = i->fields; *field; field++)
            vls_json_add(b, vls_json_string(valise_str_of(*field)));
        vls_json_close(b);
    }
    vls_json_close(b);
}

static int describe(vls_json *out, const valise_coll *desc, size_t first_count, vls_arena *arena,
                    valise_error *err)
{
    VLS_AUTO(json_builder) vls_json_builder b = {0};
    const vls_json *fields;
    vls_json table;
    int rc = vls_fields_describe(&table, desc->fields, arena, err);

    if (rc < 0)
        return rc;
    fields = vls_json_get(table, VLS_STR("fields"));
    assert(fields && fields->type == VLS_JSON_ARRAY);
    vls_json_builder_init(&b, arena);
    vls_json_open(&b, VLS_JSON_OBJECT);
    vls_json_add_member(&b, VLS_STR("fields"), *fields);
    vls_json_add_member(&b, VLS_STR("first"), vls_json_int((int64_t)first_count));
    vls_json_add_member(&b, VLS_STR("flags"), vls_json_int(desc->flags));
    vls_json_add_text(&b, VLS_STR("help"), valise_str_of(desc->help));
    vls_json_add_key(&b, VLS_STR("indexes"));
    add_indexes(&b, desc);
    vls_json_close(&b);
    return vls_json_builder_finish(out, &b, err);
}

int vls_coll_describe(vls_buf *out, const vls_coll *coll, vls_arena *arena, valise_error *err)
{
    vls_json v = {0};
    int rc = describe(&v, coll->desc, coll->first_count, arena, err);

    return rc < 0 ? rc : vls_json_write(out, v, err);
}

/* ---- reading ---- */

typedef struct description {
    vls_json fields, indexes; /* arrays */
    int64_t first;
    uint32_t flags;
    valise_str help;
} description;

static const vls_json *member(vls_json v, valise_str name, vls_json_type type)
{
    const vls_json *found = vls_json_get(v, name);

    return found && found->type == type ? found : NULL;
}

static bool has_strings(vls_json list)
{
    bool ok = list.type == VLS_JSON_ARRAY && list.len >= 2;

    for (uint32_t i = 0; ok && i < list.len; i++)
        ok = list.items[i].type == VLS_JSON_STRING;
    return ok;
}

static bool take_apart(description *out, vls_json v)
{
    const vls_json *fields = member(v, VLS_STR("fields"), VLS_JSON_ARRAY);
    const vls_json *indexes = member(v, VLS_STR("indexes"), VLS_JSON_ARRAY);
    const vls_json *first = member(v, VLS_STR("first"), VLS_JSON_INT);
    const vls_json *flags = member(v, VLS_STR("flags"), VLS_JSON_INT);
    const vls_json *help = member(v, VLS_STR("help"), VLS_JSON_STRING);
    bool ok = fields && indexes && first && flags && help && first->integer > 0 &&
              first->integer <= fields->len && flags->integer >= 0 && flags->integer <= UINT32_MAX;

    for (uint32_t i = 0; ok && i < indexes->len; i++)
        ok = has_strings(indexes->items[i]);
    if (ok)
        *out = (description){.fields = *fields,
                             .indexes = *indexes,
                             .first = first->integer,
                             .flags = (uint32_t)flags->integer,
                             .help = vls_json_str(*help)};
    return ok;
}

static int fail_description(valise_str name, valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_CORRUPT, "the description of collection %s is damaged",
                      vls_text_short(name).s);

    vls_hint(err, "import a bundle or a backup");
    return rc;
}

/* Everything that is made of it lives in arena. */
static int read_description(description *out, valise_str name, valise_str text, vls_arena *arena,
                            valise_error *err)
{
    vls_json v = {0};
    int rc = vls_arena_dup(&text, arena, text, err);

    if (rc == 0)
        rc = vls_json_parse(&v, arena, text, NULL, err);
    if (rc == VALISE_E_NO_MEMORY || rc == VALISE_E_TOO_LARGE)
        return rc;
    return rc < 0 || !take_apart(out, v) ? fail_description(name, err) : 0;
}

/* ---- a collection from its description ---- */

static int dup_cstr(const char **out, valise_str s, vls_arena *arena, valise_error *err)
{
    valise_str copy;
    int rc = vls_arena_dup(&copy, arena, s, err);

    if (rc == 0)
        *out = copy.ptr;
    return rc;
}

static int restore_index(valise_coll_index *out, vls_json list, vls_arena *arena, valise_error *err)
{
    const char **names = vls_arena_array(arena, list.len, sizeof(*names));
    int rc = 0;

    if (!names)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 1; rc == 0 && i < list.len; i++)
        rc = dup_cstr(&names[i - 1], vls_json_str(list.items[i]), arena, err);
    if (rc < 0)
        return rc;
    names[list.len - 1] = NULL;
    out->fields = names;
    return dup_cstr(&out->name, vls_json_str(list.items[0]), arena, err);
}

static int restore_indexes(const valise_coll_index **out, vls_json lists, vls_arena *arena,
                           valise_error *err)
{
    valise_coll_index *indexes = vls_arena_array(arena, (size_t)lists.len + 1, sizeof(*indexes));
    int rc = 0;

    if (!indexes)
        return vls_arena_fail(arena, err);
    for (uint32_t i = 0; rc == 0 && i < lists.len; i++)
        rc = restore_index(&indexes[i], lists.items[i], arena, err);
    if (rc < 0)
        return rc;
    indexes[lists.len] = (valise_coll_index){NULL, NULL};
    *out = indexes;
    return 0;
}

/* fields as vls_fields_describe has them: in an object of their own. */
static int restore_fields(valise_coll *desc, vls_json fields, vls_arena *arena, valise_error *err)
{
    vls_member *members = vls_arena_array(arena, 1, sizeof(*members));
    vls_json table;
    int rc;

    if (!members)
        return vls_arena_fail(arena, err);
    members[0] = (vls_member){.key = vls_json_string(VLS_STR("fields")), .value = fields};
    rc = vls_json_object(&table, members, 1, err);
    if (rc < 0)
        return rc;
    return vls_fields_restore(&desc->fields, &desc->row_size, table, arena, err);
}

static int restore_desc(valise_coll **out, valise_str name, const description *from,
                        vls_arena *arena, valise_error *err)
{
    valise_coll *desc = vls_arena_zalloc(arena, sizeof(*desc));
    int rc;

    if (!desc)
        return vls_arena_fail(arena, err);
    desc->size = sizeof(*desc);
    desc->flags = from->flags;
    rc = dup_cstr(&desc->name, name, arena, err);
    if (rc == 0)
        rc = dup_cstr(&desc->help, from->help, arena, err);
    if (rc == 0)
        rc = restore_indexes(&desc->indexes, from->indexes, arena, err);
    if (rc == 0)
        rc = restore_fields(desc, from->fields, arena, err);
    if (rc == 0)
        *out = desc;
    return rc;
}

int vls_coll_restore(vls_coll *out, valise_str name, valise_str text, vls_arena *arena,
                     valise_error *err)
{
    description from;
    valise_coll *desc;
    int rc = read_description(&from, name, text, arena, err);

    if (rc == 0)
        rc = restore_desc(&desc, name, &from, arena, err);
    if (rc == 0)
        rc = vls_coll_build_grown(out, desc, (size_t)from.first, arena, err);
    if (rc == VALISE_E_INVALID || rc == VALISE_E_LIMIT)
        return fail_description(name, err);
    if (rc == 0)
        out->foreign = true;
    return rc;
}

/* ---- a descriptor beside the description ---- */

/* Old and new mean different things by this name. */
static int fail_changed(const valise_coll *desc, const char *what, valise_str name,
                        valise_error *err)
{
    int rc = vls_fail(err, VALISE_E_UNSUPPORTED,
                      "collection %s: %s '%s' is not the same as in this store", desc->name, what,
                      vls_text_short(name).s);

    vls_hint(err, "use the version of the program or extension that wrote it, or a newer one");
    return rc;
}

static valise_str name_of(vls_json field)
{
    const vls_json *name = member(field, VLS_STR("name"), VLS_JSON_STRING);

    return name ? vls_json_str(*name) : VLS_STR("?");
}

static bool has_flag(vls_json field, valise_str flag)
{
    const vls_json *flags = member(field, VLS_STR("flags"), VLS_JSON_ARRAY);

    for (uint32_t i = 0; flags && i < flags->len; i++) {
        if (vls_json_equal(flags->items[i], vls_json_string(flag)))
            return true;
    }
    return false;
}

/* Limits and how a command line shows a field may change: rows are read all the same. */
static bool is_same_field(vls_json old, vls_json now)
{
    static const char *const parts[] = {"name",   "type", "ref",  "names", "item",
                                        "fields", "tag",  "open", "cases"};
    static const char *const flags[] = {"key", "nullable", "content"};

    if (vls_json_equal(old, now))
        return true; /* as in nearly all of them, whenever a store is opened */
    for (size_t i = 0; i < VLS_COUNT(parts); i++) {
        const vls_json *a = vls_json_get(old, valise_str_of(parts[i]));
        const vls_json *b = vls_json_get(now, valise_str_of(parts[i]));
        if (!a != !b || (a && !vls_json_equal(*a, *b)))
            return false;
    }
    for (size_t i = 0; i < VLS_COUNT(flags); i++) {
        valise_str flag = valise_str_of(flags[i]);
        if (has_flag(old, flag) != has_flag(now, flag))
            return false;
    }
    return true;
}

static int compare_fields(const valise_coll *desc, vls_json old, vls_json now, valise_error *err)
{
    for (uint32_t i = 0; i < old.len; i++) {
        if (i >= now.len || !is_same_field(old.items[i], now.items[i]))
            return fail_changed(desc, "field", name_of(old.items[i]), err);
    }
    for (uint32_t i = old.len; i < now.len; i++) {
        if (!(desc->fields[i].flags & VALISE_NULLABLE))
            return fail_changed(desc, "new field that is not NULLABLE,",
                                valise_str_of(desc->fields[i].name), err);
    }
    return 0;
}

static int compare_indexes(const valise_coll *desc, vls_json old, vls_json now, valise_error *err)
{
    for (uint32_t i = 0; i < old.len; i++) {
        if (i >= now.len || !vls_json_equal(old.items[i], now.items[i]))
            return fail_changed(desc, "index", vls_json_str(old.items[i].items[0]), err);
    }
    return 0;
}

int vls_coll_build_over(vls_coll *out, uint16_t *have, bool *grown, const valise_coll *desc,
                        valise_str text, vls_arena *arena, valise_error *err)
{
    VLS_AUTO(buf) vls_buf same = {0};
    description old, now = {0};
    vls_coll coll;
    vls_json v = {0};
    /* Also checks the descriptor, before anything else looks at it. */
    int rc = vls_coll_build(&coll, desc, false, arena, err);

    if (rc == 0)
        rc = describe(&v, desc, coll.field_count, arena, err);
    vls_buf_init(&same, arena->env, VLS_JSON_MAX_BYTES);
    if (rc == 0)
        rc = vls_json_write(&same, v, err);
    if (rc < 0)
        return rc;
    if (vls_str_equal(vls_buf_str(&same), text)) { /* as nearly always */
        *out = coll;
        *have = (uint16_t)(coll.field_count + 2);
        *grown = false;
        return 0;
    }
    rc = read_description(&old, valise_str_of(desc->name), text, arena, err);
    if (rc < 0)
        return rc;
    if (!take_apart(&now, v))
        return fail_description(valise_str_of(desc->name), err);
    rc = compare_fields(desc, old.fields, now.fields, err);
    if (rc == 0)
        rc = compare_indexes(desc, old.indexes, now.indexes, err);
    if (rc == 0 && old.flags != now.flags)
        rc = fail_changed(desc, "the list of", VLS_STR("flags"), err);
    if (rc == 0)
        rc = vls_coll_build_grown(&coll, desc, (size_t)old.first, arena, err);
    if (rc < 0)
        return rc;
    *out = coll;
    *have = (uint16_t)(old.fields.len + 2);
    *grown = old.fields.len < now.fields.len || old.indexes.len < now.indexes.len;
    return 0;
}
