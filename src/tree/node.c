/* node.c -- see node.h. */
#include "tree/node.h"

#include "base/text.h"

const char *const vls_node_kinds[] = {"gone", "file", "dir", "link", "unreadable", NULL};

void vls_tree_count(vls_tree_counts *counts, vls_node_kind kind, int64_t size, int sign)
{
    switch (kind) {
    case VLS_NODE_FILE:
        counts->files += sign;
        counts->bytes += sign * size;
        break;
    case VLS_NODE_DIR:
        counts->dirs += sign;
        break;
    case VLS_NODE_LINK:
        counts->links += sign;
        break;
    default:
        counts->unreadable += sign;
        break;
    }
}

/* ---- paths ---- */

static int check_name(valise_str path, valise_str name, valise_error *err)
{
    if (!name.ptr || name.len == 0)
        return vls_fail(err, VALISE_E_INVALID, "the path '%s' has an empty name",
                        vls_text_short(path).s);
    if (vls_str_equal(name, VLS_STR(".")) || vls_str_equal(name, VLS_STR("..")))
        return vls_fail(err, VALISE_E_INVALID, "the path '%s' has the name '%.*s'",
                        vls_text_short(path).s, VALISE_STR_ARG(name));
    if (name.len > VLS_NODE_NAME_MAX)
        return vls_fail(err, VALISE_E_INVALID, "a name of %zu bytes in '%s': %u are allowed",
                        name.len, vls_text_short(path).s, VLS_NODE_NAME_MAX);
    if (memchr(name.ptr, '\0', name.len))
        return vls_fail(err, VALISE_E_INVALID, "the path '%s' has a NUL byte",
                        vls_text_short(path).s);
    return 0;
}

int vls_path_check(valise_str path, valise_error *err)
{
    valise_str left = path;
    int rc = 0;

    if (path.len > VLS_PATH_MAX)
        return vls_fail(err, VALISE_E_INVALID, "a path has %zu bytes: at most %u are allowed",
                        path.len, VLS_PATH_MAX);
    while (rc == 0 && path.len > 0) {
        size_t slash = vls_str_find_byte(left, '/');
        rc = check_name(path, vls_str_head(left, slash), err);
        if (slash == left.len)
            break;
        left = vls_str_from(left, slash + 1); /* a slash at the end: an empty name is behind it */
    }
    return rc;
}

valise_str vls_path_parent(valise_str path)
{
    size_t len = path.len;

    if (len == 0)
        return VLS_STR("");
    while (len > 0 && path.ptr[len - 1] != '/')
        len--;
    return vls_str_head(path, len > 0 ? len - 1 : 0);
}

valise_str vls_path_name(valise_str path)
{
    valise_str parent = vls_path_parent(path);

    return path.len > 0 ? vls_str_from(path, parent.len > 0 ? parent.len + 1 : 0) : VLS_STR("");
}

void vls_path_below(vls_buf *out, valise_str dir, valise_str name)
{
    vls_buf_add(out, dir);
    if (dir.len > 0)
        vls_buf_add_byte(out, '/');
    vls_buf_add(out, name);
}

bool vls_path_is_under(valise_str path, valise_str dir)
{
    return dir.len == 0 ||
           (vls_str_starts(path, dir) && (path.len == dir.len || path.ptr[dir.len] == '/'));
}

bool vls_path_is_among(valise_str path, const valise_str *dirs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (vls_path_is_under(path, dirs[i]))
            return true;
    return count == 0;
}

int vls_path_compare(valise_str a, valise_str b)
{
    size_t most = VLS_MIN(a.len, b.len), at = 0;
    int x, y;

    while (at < most && a.ptr[at] == b.ptr[at])
        at++;
    /* What a byte sorts as: the end of a path first, the end of a name next. */
    x = at == a.len ? -1 : a.ptr[at] == '/' ? 0 : (unsigned char)a.ptr[at] + 1;
    y = at == b.len ? -1 : b.ptr[at] == '/' ? 0 : (unsigned char)b.ptr[at] + 1;
    return (x > y) - (x < y);
}

int vls_path_order(const void *a, const void *b)
{
    return vls_path_compare(*(const valise_str *)a, *(const valise_str *)b);
}

/* ---- what people write ---- */

/* Take the last name off; false where there is none. */
static bool go_up(vls_buf *out)
{
    if (out->len == 0)
        return false;
    out->len = vls_path_parent(vls_buf_str(out)).len;
    return true;
}

int vls_path_resolve(vls_buf *out, valise_str here, valise_str given, valise_error *err)
{
    valise_str left = given;

    vls_buf_clear(out);
    vls_buf_add(out, here);
    while (left.len > 0) {
        size_t slash = vls_str_find_byte(left, '/');
        valise_str name = vls_str_head(left, slash);
        left = vls_str_from(left, VLS_MIN(slash + 1, left.len));
        if (name.len == 0 || vls_str_equal(name, VLS_STR(".")))
            continue;
        if (vls_str_equal(name, VLS_STR(".."))) {
            if (!go_up(out))
                return vls_fail(err, VALISE_E_INVALID, "'%s' is outside the tree",
                                vls_text_short(given).s);
            continue;
        }
        if (out->len > 0)
            vls_buf_add_byte(out, '/');
        vls_buf_add(out, name);
    }
    if (out->failed == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    if (out->failed)
        return vls_fail(err, VALISE_E_INVALID, "'%s' is too long: a path may have at most %u bytes",
                        vls_text_short(given).s, VLS_PATH_MAX);
    return vls_path_check(vls_buf_str(out), err);
}

int vls_paths_resolve(valise_str **out, vls_arena *arena, const valise_str *given, size_t count,
                      valise_error *err)
{
    valise_str *paths = NULL;
    int rc = 0;

    if (count > 0) {
        paths = vls_arena_array(arena, count, sizeof(*paths));
        if (!paths)
            return vls_arena_fail(arena, err);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        vls_buf path;
        vls_buf_init_in(&path, arena, VLS_PATH_MAX);
        rc = vls_path_resolve(&path, VLS_STR(""), given[i], err);
        if (rc == 0)
            rc = vls_buf_keep(&paths[i], &path, err);
    }
    if (rc == 0)
        *out = paths;
    return rc;
}

/* ---- ids ---- */

void vls_node_hash(vls_node *node)
{
    vls_hasher hasher;

    switch (node->kind) {
    case VLS_NODE_FILE:
        vls_hash_begin_tagged(&hasher, "valise.file.1");
        vls_hash_field_u64(&hasher, node->exec);
        vls_hash_field_id(&hasher, &node->content);
        break;
    case VLS_NODE_LINK:
        vls_hash_begin_tagged(&hasher, "valise.link.1");
        vls_hash_field(&hasher, node->target);
        break;
    default:
        assert(node->kind == VLS_NODE_UNREADABLE);
        vls_hash_begin_tagged(&hasher, "valise.unreadable.1");
        break;
    }
    vls_hash_end(&node->object, &hasher);
}

void vls_dir_hash_begin(vls_hasher *hasher, size_t count)
{
    vls_hash_begin_tagged(hasher, "valise.dir.1");
    vls_hash_field_u64(hasher, count);
}

void vls_dir_hash_entry(vls_hasher *hasher, valise_str name, vls_node_kind kind,
                        const valise_id *object)
{
    assert(kind != VLS_NODE_GONE);
    vls_hash_field(hasher, name);
    vls_hash_field(hasher, valise_str_of(vls_node_kinds[kind]));
    vls_hash_field_id(hasher, object);
}

void vls_dir_hash_end(valise_id *out, vls_hasher *hasher)
{
    vls_hash_end(out, hasher);
}

void vls_node_id(valise_id *out, valise_str path, const valise_id *object)
{
    vls_hasher hasher;

    vls_hash_begin_tagged(&hasher, "valise.node.1");
    vls_hash_field(&hasher, path);
    vls_hash_field_id(&hasher, object);
    vls_hash_end(out, &hasher);
}
