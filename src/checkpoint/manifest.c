/* manifest.c -- see manifest.h. */
#include "checkpoint/manifest.h"

#include "base/str.h"
#include "base/text.h"

#define MAGIC VLS_STR("valise manifest 1\n")
#define PARTIAL 1u

const char *const vls_manifest_kinds[] = {"gone", "file", "dir", "link", "lacking", NULL};

const char *vls_lack_text(int lack)
{
    static const char *const texts[] = {
        [VLS_LACK_NONE] = "",
        [VLS_LACK_SIZE] = "it is larger than checkpoint.max-file",
        [VLS_LACK_UNREADABLE] = "it could not be read",
        [VLS_LACK_CHANGED] = "it changed while it was read",
        [VLS_LACK_NAME] = "its name means .git or .valise on some disks",
        [VLS_LACK_ERASED] = "its content was erased",
        [VLS_LACK_DAMAGED] = "the copy that is kept of it is damaged",
    };

    return lack > 0 && (size_t)lack < VLS_COUNT(texts) ? texts[lack] : texts[0];
}

/* ---- names ---- */

/* Code points that some disks leave out of names: joiners, directions, a byte order mark. */
static size_t skipped_len(valise_str rest)
{
    const unsigned char *b = (const unsigned char *)rest.ptr;

    if (rest.len < 3)
        return 0;
    if (b[0] == 0xe2 && b[1] == 0x80)
        return (b[2] >= 0x8c && b[2] <= 0x8f) || (b[2] >= 0xaa && b[2] <= 0xae) ? 3 : 0;
    if (b[0] == 0xe2 && b[1] == 0x81)
        return b[2] >= 0xaa && b[2] <= 0xaf ? 3 : 0;
    return b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf ? 3 : 0;
}

/* What some disk may take a name for: in small letters, without the above, without dots and blanks
 * at its end and the name of a stream. */
static valise_str plain_name(char room[VLS_NODE_NAME_MAX], valise_str name)
{
    size_t len = 0;

    for (size_t i = 0; i < name.len && i < VLS_NODE_NAME_MAX && name.ptr[i] != ':';) {
        size_t skipped = skipped_len(vls_str_from(name, i));
        char c = name.ptr[i];
        if (skipped == 0)
            room[len++] = vls_to_lower(c);
        i += skipped ? skipped : 1;
    }
    while (len > 0 && (room[len - 1] == '.' || room[len - 1] == ' '))
        len--;
    return vls_str(room, len);
}

/* ".git", or "git~1" as disks with short names call it. */
static bool is_word(valise_str name, valise_str word)
{
    size_t len = word.len - 1;

    return vls_str_equal(name, word) ||
           (name.len == len + 2 && vls_str_starts(name, vls_str_from(word, 1)) &&
            name.ptr[len] == '~' && name.ptr[len + 1] >= '0' && name.ptr[len + 1] <= '9');
}

bool vls_manifest_is_reserved(valise_str path)
{
    char room[VLS_NODE_NAME_MAX];
    valise_str name;

    while (path.len > 0) {
        (void)vls_str_cut(&name, &path, path, '/');
        name = plain_name(room, name);
        if (is_word(name, VLS_STR(".git")) || is_word(name, VLS_STR(".valise")))
            return true;
    }
    return false;
}

/* ---- writing ---- */

void vls_manifest_begin(vls_buf *out, bool partial)
{
    vls_buf_add(out, MAGIC);
    vls_buf_add_byte(out, partial ? (char)PARTIAL : 0);
}

void vls_manifest_add(vls_buf *out, const vls_manifest_entry *entry)
{
    vls_buf_add_byte(out, (char)entry->kind);
    vls_bytes_add_string(out, entry->path);
    switch (entry->kind) {
    case VLS_MANIFEST_GONE:
        break;
    case VLS_MANIFEST_FILE:
        vls_bytes_add_varint(out, vls_mode_of(entry->mode, false));
        vls_bytes_add_varint(out, (uint64_t)entry->size);
        vls_buf_add(out, vls_str(entry->content.bytes, sizeof(entry->content.bytes)));
        break;
    case VLS_MANIFEST_DIR:
        vls_bytes_add_varint(out, vls_mode_of(entry->mode, true));
        break;
    case VLS_MANIFEST_LINK:
        vls_bytes_add_string(out, entry->target);
        break;
    case VLS_MANIFEST_LACKING:
        vls_buf_add_byte(out, (char)entry->lack);
        break;
    }
}

/* ---- reading ---- */

static int fail(valise_error *err, const char *why, valise_str path)
{
    return vls_fail(err, VALISE_E_CORRUPT, "a checkpoint is damaged: %s ('%s')", why,
                    vls_text_short(path).s);
}

int vls_manifest_open(vls_manifest_reader *out, const valise_env *env, valise_str bytes,
                      valise_error *err)
{
    vls_reader in;
    uint8_t flags;

    if (!vls_str_starts(bytes, MAGIC))
        return vls_fail(err, VALISE_E_CORRUPT, "a checkpoint is damaged: this is not a manifest");
    in = vls_reader_of(vls_str_from(bytes, MAGIC.len));
    flags = vls_reader_u8(&in);
    if (in.failed || flags > PARTIAL)
        return vls_fail(err, VALISE_E_CORRUPT, "a checkpoint is damaged: unknown flags");
    *out = (vls_manifest_reader){.in = in, .partial = flags & PARTIAL};
    vls_buf_init(&out->last, env, VLS_PATH_MAX); /* of the directories that are open */
    return 0;
}

void vls_manifest_close(vls_manifest_reader *reader)
{
    vls_buf_release(&reader->last);
}

/* The directories above, in a whole manifest: `last` is the innermost that is open. */
static int check_parent(vls_manifest_reader *r, const vls_manifest_entry *e, valise_error *err)
{
    valise_str dir = vls_buf_str(&r->last);

    if (r->partial)
        return 0;
    if (!r->any)
        return e->path.len == 0 && e->kind == VLS_MANIFEST_DIR
                   ? 0
                   : fail(err, "it does not begin with its root", e->path);
    /* Leaving directories only makes the path of the innermost shorter; entering one needs its
     * entry, by which it became the innermost. */
    if (!vls_path_is_under(e->path, dir)) {
        while (dir.len > 0 && !vls_path_is_under(e->path, dir))
            dir = vls_path_parent(dir);
        r->last.len = dir.len;
    }
    if (!vls_str_equal(vls_path_parent(e->path), dir))
        return fail(err, "something is in no directory", e->path);
    return 0;
}

static int check_entry(vls_manifest_reader *r, const vls_manifest_entry *e, valise_error *err)
{
    if (vls_path_check(e->path, NULL) < 0)
        return fail(err, "something is not a path", e->path);
    if (r->any && vls_path_compare(r->e.path, e->path) >= 0)
        return fail(err, "its paths are not in order", e->path);
    if (e->kind != VLS_MANIFEST_LACKING && vls_manifest_is_reserved(e->path))
        return fail(err, "it has a path that must not be touched", e->path);
    if (e->kind == VLS_MANIFEST_GONE && !r->partial)
        return fail(err, "it lists something that is missing", e->path);
    if (e->path.len == 0 && e->kind != VLS_MANIFEST_DIR)
        return fail(err, "its root is not a directory", e->path);
    if (e->mode != vls_mode_of(e->mode, e->kind == VLS_MANIFEST_DIR) || e->size < 0)
        return fail(err, "a mode or size is impossible", e->path);
    if (e->kind == VLS_MANIFEST_LINK && (e->target.len == 0 || e->target.len > VLS_PATH_MAX + 96 ||
                                         memchr(e->target.ptr, '\0', e->target.len)))
        return fail(err, "a link has an impossible target", e->path);
    return check_parent(r, e, err);
}

/* One that is no mode stays none. */
static uint32_t read_mode(vls_reader *in)
{
    uint64_t mode = vls_reader_varint(in);

    return mode > VLS_MODE_DIR_BITS ? UINT32_MAX : (uint32_t)mode;
}

int vls_manifest_next(vls_manifest_entry *out, vls_manifest_reader *r, valise_error *err)
{
    vls_manifest_entry e = {.kind = VLS_MANIFEST_GONE};
    valise_str id = {NULL, 0};
    uint8_t kind;
    int rc;

    if (vls_reader_is_done(&r->in))
        return r->any || r->partial ? 0 : fail(err, "it has no root", VLS_STR(""));
    kind = vls_reader_u8(&r->in);
    if (r->in.failed || kind > VLS_MANIFEST_LACKING)
        return fail(err, "an entry of no known kind", VLS_STR(""));
    e.kind = (vls_manifest_kind)kind;
    e.path = vls_reader_string(&r->in);
    if (e.kind == VLS_MANIFEST_FILE || e.kind == VLS_MANIFEST_DIR)
        e.mode = read_mode(&r->in);
    if (e.kind == VLS_MANIFEST_FILE) {
        e.size = (int64_t)vls_reader_varint(&r->in);
        id = vls_reader_slice(&r->in, sizeof(e.content.bytes));
    }
    if (e.kind == VLS_MANIFEST_LINK)
        e.target = vls_reader_string(&r->in);
    if (e.kind == VLS_MANIFEST_LACKING)
        e.lack = vls_reader_u8(&r->in);
    if (r->in.failed)
        return fail(err, "it ends too early", e.path);
    if (id.ptr)
        memcpy(e.content.bytes, id.ptr, id.len);
    rc = check_entry(r, &e, err);
    if (rc < 0)
        return rc;
    if (e.kind == VLS_MANIFEST_DIR && !r->partial) {
        vls_buf_clear(&r->last);
        vls_buf_add(&r->last, e.path);
        rc = vls_buf_check(&r->last, err);
    }
    r->any = true;
    r->e = e;
    if (rc == 0)
        *out = e;
    return rc < 0 ? rc : 1;
}
