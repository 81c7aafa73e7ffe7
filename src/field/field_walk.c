/* field_walk.c -- everything in a struct that names something else. */
#include "field/impl.h"

typedef struct walker {
    vls_field_fn *fn;
    void *arg;
    bool contents_only;
} walker;

static int walk_row(const walker *w, void *row, const valise_field *fields, unsigned depth);

/* Structs and lists are const to whom they are shown; who walks made them, and may change them. */
static void *writable(const void *p)
{
    void *plain;

    memcpy(&plain, &p, sizeof(plain));
    return plain;
}

static bool is_wanted(const walker *w, const valise_field *field)
{
    if (vls_field_is_content(field))
        return true;
    return !w->contents_only && (field->type == VALISE_T_ID || field->ref);
}

static int walk_member(const walker *w, void *member, const valise_field *field, unsigned depth)
{
    const valise_list *list = member;
    const valise_variant *variant = member;
    const valise_struct *type = field->more;
    int rc = 0;

    assert(depth > 0);
    switch (field->type) {
    case VALISE_T_LIST:
        for (size_t i = 0; i < list->count && rc == 0; i++) {
            size_t size = vls_field_size(field->more);
            rc = walk_member(w, (char *)writable(list->items) + i * size, field->more, depth - 1);
        }
        return rc;
    case VALISE_T_STRUCT:
        return walk_row(w, *(void **)member, type->fields, depth - 1);
    case VALISE_T_UNION:
        if (variant->which < 0)
            return 0; /* an unknown case names nothing that we know of */
        type = ((const valise_union *)field->more)->cases[variant->which].type;
        return walk_row(w, writable(variant->value), type->fields, depth - 1);
    default:
        return is_wanted(w, field) ? w->fn(w->arg, field, member) : 0;
    }
}

static int walk_row(const walker *w, void *row, const valise_field *fields, unsigned depth)
{
    int rc = 0;

    for (const valise_field *f = fields; f->type != VALISE_T_END && rc == 0; f++) {
        if (!vls_field_is_none(f, row))
            rc = walk_member(w, (char *)row + f->offset, f, depth);
    }
    return rc;
}

/* One level more than tables have, for the scalars at the bottom. */
#define LEVELS (VLS_FIELDS_MAX_DEPTH + 1)

int vls_fields_each_ref(void *row, const valise_field *fields, vls_field_fn *fn, void *arg)
{
    walker w = {.fn = fn, .arg = arg};

    return walk_row(&w, row, fields, LEVELS);
}

int vls_fields_each_content(void *row, const valise_field *fields, vls_field_fn *fn, void *arg)
{
    walker w = {.fn = fn, .arg = arg, .contents_only = true};

    return walk_row(&w, row, fields, LEVELS);
}

/* ---- tables ---- */

static bool names_something(const valise_field *field, unsigned depth);

static bool any_names_something(const valise_field *fields, unsigned depth)
{
    for (const valise_field *f = fields; f->type != VALISE_T_END; f++) {
        if (names_something(f, depth))
            return true;
    }
    return false;
}

static bool names_something(const valise_field *field, unsigned depth)
{
    const walker all = {.contents_only = false};
    const valise_struct *type = field->more;
    const valise_union *choice = field->more;
    bool any = false;

    assert(depth > 0);
    switch (field->type) {
    case VALISE_T_LIST:
        return names_something(field->more, depth - 1);
    case VALISE_T_STRUCT:
        return any_names_something(type->fields, depth - 1);
    case VALISE_T_UNION:
        for (size_t i = 0; !any && choice->cases[i].name; i++)
            any = any_names_something(choice->cases[i].type->fields, depth - 1);
        return any;
    default:
        return is_wanted(&all, field);
    }
}

bool vls_field_refers(const valise_field *field)
{
    return names_something(field, LEVELS);
}
