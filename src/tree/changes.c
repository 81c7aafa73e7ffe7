/* changes.c -- see changes.h. */
#include "tree/changes.h"

#include "base/text.h"

#define MAGIC VLS_STR("valise changes 1\n")

/* ---- writing ---- */

void vls_tree_changes_begin(vls_tree_changes_writer *w, vls_buf *out)
{
    w->out = out;
    w->path_len = 0;
    vls_buf_add(out, MAGIC);
}

static void add_path(vls_tree_changes_writer *w, valise_str path)
{
    size_t most = VLS_MIN(path.len, w->path_len), shared = 0;

    while (shared < most && path.ptr[shared] == w->path[shared])
        shared++;
    vls_bytes_add_varint(w->out, shared);
    vls_bytes_add_string(w->out, vls_str_from(path, shared));
    if (path.len > shared)
        memcpy(w->path + shared, path.ptr + shared, path.len - shared);
    w->path_len = path.len;
}

static void add_id(vls_buf *out, const valise_id *id)
{
    vls_buf_add(out, vls_str(id->bytes, sizeof(id->bytes)));
}

void vls_tree_changes_add(vls_tree_changes_writer *w, const vls_tree_change *change)
{
    const vls_node *node = &change->node;

    assert(change->path.len <= VLS_PATH_MAX);
    vls_buf_add_byte(w->out, (char)node->kind);
    vls_buf_add_byte(w->out, (char)node->exec);
    add_path(w, change->path);
    switch (node->kind) {
    case VLS_NODE_FILE:
        vls_bytes_add_varint(w->out, (uint64_t)node->size);
        add_id(w->out, &node->content);
        break;
    case VLS_NODE_LINK:
        vls_bytes_add_string(w->out, node->target);
        break;
    case VLS_NODE_DIR:
        vls_bytes_add_varint(w->out, (uint64_t)node->size);
        add_id(w->out, &node->object);
        break;
    case VLS_NODE_GONE:
    case VLS_NODE_UNREADABLE:
        break;
    }
}

/* ---- reading ---- */

void vls_tree_changes_open(vls_tree_changes_reader *r, valise_str bytes)
{
    valise_str magic;

    r->in = vls_reader_of(bytes);
    r->size = bytes.len;
    r->begun = false;
    r->path_len = 0;
    magic = vls_reader_slice(&r->in, MAGIC.len);
    if (!r->in.failed && !vls_str_equal(magic, MAGIC))
        vls_reader_fail(&r->in);
}

static int fail(const vls_tree_changes_reader *r, const char *what, valise_error *err)
{
    return vls_fail(err, VALISE_E_CORRUPT, "a list of changes of %zu bytes %s, after '%s'", r->size,
                    what, vls_text_short(vls_str(r->path, r->path_len)).s);
}

/* The path of the next change, which comes behind the one before it. */
static int read_path(vls_tree_changes_reader *r, valise_error *err)
{
    char before[VLS_PATH_MAX];
    size_t before_len = r->path_len;
    uint64_t shared = vls_reader_varint(&r->in);
    valise_str rest = vls_reader_string(&r->in);

    if (r->in.failed)
        return fail(r, "is cut", err);
    if (shared > r->path_len || rest.len > VLS_PATH_MAX - shared)
        return fail(r, "has a path that is too long", err);
    memcpy(before, r->path, before_len);
    if (rest.len > 0)
        memcpy(r->path + shared, rest.ptr, rest.len);
    r->path_len = (size_t)shared + rest.len;
    if (vls_path_check(vls_str(r->path, r->path_len), NULL) < 0)
        return fail(r, "has an invalid path", err);
    if (r->begun &&
        vls_path_compare(vls_str(before, before_len), vls_str(r->path, r->path_len)) >= 0)
        return fail(r, "is not in order", err);
    r->begun = true;
    return 0;
}

static valise_id read_id(vls_reader *in)
{
    valise_str bytes = vls_reader_slice(in, sizeof(valise_id));
    valise_id id = {{0}};

    if (bytes.len == sizeof(id))
        memcpy(id.bytes, bytes.ptr, sizeof(id));
    return id;
}

static void read_node(vls_node *out, vls_reader *in, uint8_t kind)
{
    uint64_t size = 0;

    switch (kind) {
    case VLS_NODE_FILE:
        size = vls_reader_varint(in);
        out->content = read_id(in);
        break;
    case VLS_NODE_LINK:
        out->target = vls_reader_string(in);
        size = out->target.len;
        break;
    case VLS_NODE_DIR:
        size = vls_reader_varint(in);
        out->object = read_id(in);
        break;
    default:
        break;
    }
    out->size = (int64_t)size;
    if (size > INT64_MAX)
        vls_reader_fail(in);
}

int vls_tree_changes_next(vls_tree_change *out, vls_tree_changes_reader *r, valise_error *err)
{
    vls_tree_change change = {.path = {r->path, 0}};
    uint8_t kind, exec;
    int rc;

    if (vls_reader_is_done(&r->in))
        return 0;
    kind = vls_reader_u8(&r->in);
    exec = vls_reader_u8(&r->in);
    if (r->in.failed)
        return fail(r, "is not one, or was cut off", err);
    if (kind > VLS_NODE_UNREADABLE || exec > (kind == VLS_NODE_FILE))
        return fail(r, "has a change of an unknown kind", err);
    rc = read_path(r, err);
    if (rc < 0)
        return rc;
    change.node.kind = (vls_node_kind)kind;
    change.node.exec = exec;
    read_node(&change.node, &r->in, kind);
    if (r->in.failed)
        return fail(r, "is cut", err);
    change.path.len = r->path_len;
    *out = change;
    return 1;
}
