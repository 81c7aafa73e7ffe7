/* name.c -- keys, namespaces, nodes and tags: what they may look like, and lists of them. */
#include "backpack/bag.h"

#include "base/utf8.h"

/* ---- one ---- */

static int check(const char *what, valise_str text, size_t max, valise_error *err)
{
    size_t at = 0;

    if (text.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "%s is empty", what);
    if (!text.ptr)
        return vls_fail(err, VALISE_E_INVALID, "%s has a length, but no bytes", what);
    if (text.len > max)
        return vls_fail(err, VALISE_E_INVALID, "%s has %zu bytes: %zu are allowed", what, text.len,
                        max);
    if (VLS_LIKELY(vls_utf8_is_plain(text)))
        return 0;
    while (at < text.len) {
        uint32_t c;
        size_t n = vls_utf8_decode(&c, text.ptr + at, text.len - at);
        if (n == 0)
            return vls_fail_at(err, VALISE_E_INVALID, at, "%s is not UTF-8 at byte %zu", what, at);
        if (vls_utf8_is_control(c))
            return vls_fail_at(err, VALISE_E_INVALID, at, "%s has a control character at byte %zu",
                               what, at);
        at += n;
    }
    return 0;
}

int vls_bag_check_name(valise_str name, valise_error *err)
{
    return check("the name of a backpack", name, VLS_BAG_NAME_MAX, err);
}

int vls_bag_check_key(valise_str key, valise_error *err)
{
    return check("the key of an item", key, VLS_BAG_KEY_MAX, err);
}

int vls_bag_check_node(valise_str id, valise_error *err)
{
    return check("the id of a node", id, VLS_BAG_NODE_MAX, err);
}

int vls_bag_check_tag(valise_str tag, valise_error *err)
{
    return check("a tag", tag, VLS_BAG_TAG_MAX, err);
}

int vls_bag_check_namespace(valise_str name, valise_error *err)
{
    int rc = check("a namespace", name, VLS_BAG_NAMESPACE_MAX, err);

    for (size_t i = 0; rc == 0 && i < name.len; i++) {
        if (name.ptr[i] == '*')
            rc = vls_fail_at(err, VALISE_E_INVALID, i, "'%.*s' is a pattern, not a namespace",
                             VALISE_STR_ARG(name));
        else if (name.ptr[i] == '.' && (i == 0 || i + 1 == name.len || name.ptr[i + 1] == '.'))
            rc = vls_fail_at(err, VALISE_E_INVALID, i, "the namespace '%.*s' has an empty segment",
                             VALISE_STR_ARG(name));
    }
    return rc;
}

valise_str vls_bag_pattern_prefix(valise_str pattern)
{
    size_t len = vls_str_find_byte(pattern, '*');

    /* "sales.**" means "sales" too. */
    if (len > 0 && len + 1 < pattern.len && pattern.ptr[len + 1] == '*' &&
        pattern.ptr[len - 1] == '.')
        len--;
    return vls_str_head(pattern, len);
}

/* ---- lists ---- */

int vls_bag_sort_names(valise_list *out, valise_list names, vls_arena *arena, valise_error *err)
{
    valise_str *copy;
    size_t kept = 0;

    if (!names.items) {
        *out = names;
        return 0;
    }
    copy = vls_arena_array(arena, names.count + 1, sizeof(*copy));
    if (!copy)
        return vls_arena_fail(arena, err);
    if (names.count > 0)
        memcpy(copy, names.items, names.count * sizeof(*copy));
    qsort(copy, names.count, sizeof(*copy), vls_str_order);
    for (size_t i = 0; i < names.count; i++) {
        if (kept == 0 || !vls_str_equal(copy[kept - 1], copy[i]))
            copy[kept++] = copy[i];
    }
    *out = (valise_list){copy, kept};
    return 0;
}

int vls_bag_take_tags(valise_list *out, valise_list tags, vls_arena *arena, valise_error *err)
{
    const valise_str *tag = tags.items;
    int rc = 0;

    if (tags.count > VLS_BAG_TAGS_MAX)
        return vls_fail(err, VALISE_E_LIMIT, "%zu tags: %d are allowed", tags.count,
                        VLS_BAG_TAGS_MAX);
    for (size_t i = 0; i < tags.count && rc == 0; i++)
        rc = vls_bag_check_tag(tag[i], err);
    return rc < 0 ? rc : vls_bag_sort_names(out, tags, arena, err);
}

int vls_bag_copy_names(valise_list *list, vls_arena *arena, valise_error *err)
{
    const valise_str *from = list->items;
    valise_str *to;
    int rc = 0;

    if (!from)
        return 0;
    to = vls_arena_array(arena, list->count + 1, sizeof(*to));
    if (!to)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < list->count && rc == 0; i++)
        rc = vls_arena_dup(&to[i], arena, from[i], err);
    if (rc == 0)
        list->items = to;
    return rc;
}

int vls_rule_copy(vls_rule_row *rule, vls_arena *arena, valise_error *err)
{
    int rc = vls_arena_dup(&rule->tag, arena, rule->tag, err);

    if (rc == 0)
        rc = vls_bag_copy_names(&rule->read, arena, err);
    return rc < 0 ? rc : vls_bag_copy_names(&rule->write, arena, err);
}

int vls_permissions_copy(valise_permissions *permissions, vls_arena *arena, valise_error *err)
{
    valise_list *lists[] = {&permissions->read, &permissions->write, &permissions->deny,
                            &permissions->namespace_read, &permissions->namespace_write};
    int rc = 0;

    for (size_t i = 0; i < VLS_COUNT(lists) && rc == 0; i++)
        rc = vls_bag_copy_names(lists[i], arena, err);
    return rc;
}

bool vls_bag_has_name(valise_list sorted, valise_str name)
{
    return sorted.count > 0 &&
           bsearch(&name, sorted.items, sorted.count, sizeof(valise_str), vls_str_order) != NULL;
}

bool vls_bag_same_names(valise_list a, valise_list b)
{
    const valise_str *x = a.items, *y = b.items;

    if (x == y && a.count == b.count)
        return true;
    if (a.count != b.count || !x != !y)
        return false;
    for (size_t i = 0; i < a.count; i++) {
        if (!vls_str_equal(x[i], y[i]))
            return false;
    }
    return true;
}
