/* patch.c -- see patch.h. */
#include "diff/patch.h"

#include "base/hash.h"
#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "tree/node.h"

#define NOTHING "/dev/null"

/* "a/src/a.c", quoted where that is needed. */
static void add_name(vls_buf *out, const valise_env *env, const char *front, valise_str path)
{
    VLS_AUTO(buf) vls_buf name = {0};

    vls_buf_init(&name, env, VLS_PATH_MAX + 16);
    vls_buf_add_text(&name, front);
    vls_buf_add(&name, path);
    if (vls_buf_check(&name, NULL) < 0)
        out->failed = VALISE_E_NO_MEMORY;
    vls_text_quote(out, vls_buf_str(&name));
}

/* A line on top of the hunks. Behind a name with a blank stands a tab, so that it has an end. */
static void add_label(vls_buf *out, const valise_env *env, const char *sign, const char *front,
                      const vls_patch_side *side)
{
    vls_buf_add_text(out, sign);
    if (side->mode == 0) {
        vls_buf_add_text(out, NOTHING "\n");
        return;
    }
    add_name(out, env, front, side->path);
    vls_buf_add_text(out, vls_str_find_byte(side->path, ' ') < side->path.len ? "\t\n" : "\n");
}

static void add_head(vls_buf *out, const vls_patch_side *was, const vls_patch_side *is,
                     const valise_env *env)
{
    const vls_patch_side *old = was->mode ? was : is, *new = is->mode ? is : was;

    vls_buf_add_text(out, "diff --git ");
    add_name(out, env, "a/", old->path);
    vls_buf_add_byte(out, ' ');
    add_name(out, env, "b/", new->path);
    vls_buf_add_byte(out, '\n');
    if (was->mode == 0)
        vls_buf_printf(out, "new file mode %o\n", is->mode);
    else if (is->mode == 0)
        vls_buf_printf(out, "deleted file mode %o\n", was->mode);
    else if (was->mode != is->mode)
        vls_buf_printf(out, "old mode %o\nnew mode %o\n", was->mode, is->mode);
    if (vls_str_equal(old->path, new->path))
        return;
    vls_buf_add_text(out, "similarity index 100%\nrename from ");
    vls_text_quote(out, old->path);
    vls_buf_add_text(out, "\nrename to ");
    vls_text_quote(out, new->path);
    vls_buf_add_byte(out, '\n');
}

/* The first digits of what git calls the object, in a repository with SHA-256. */
static void add_object(vls_buf *out, const vls_patch_side *side)
{
    vls_hasher hasher;
    valise_id id = {{0}};
    char head[32];
    int len = snprintf(head, sizeof(head), "blob %zu", side->bytes.len);

    if (side->mode) {
        vls_hash_begin(&hasher);
        vls_hash_update(&hasher, vls_str(head, (size_t)len + 1));
        vls_hash_update(&hasher, side->bytes);
        vls_hash_end(&id, &hasher);
    }
    vls_buf_printf(out, "%.7s", vls_id_hex(&id).s);
}

/* Without this line git does not see that a patch without lines is one, and takes the next for a
 * part of it; and `patch` does not see what is a link. */
static void add_index(vls_buf *out, const vls_patch_side *was, const vls_patch_side *is)
{
    vls_buf_add_text(out, "index ");
    add_object(out, was);
    vls_buf_add_text(out, "..");
    add_object(out, is);
    if (was->mode == is->mode)
        vls_buf_printf(out, " %o", is->mode);
    vls_buf_add_byte(out, '\n');
}

static bool is_binary(valise_str was, valise_str is)
{
    return vls_text_is_binary(was) || vls_text_is_binary(is);
}

/* 1: they are compared; 0: too large, which *why says. */
static int compare(vls_line_diff *out, const char **why, valise_str was, valise_str is,
                   const valise_env *env, valise_error *err)
{
    int rc = vls_line_diff_make(out, env, was, is, 0, err);

    if (rc == VALISE_E_TOO_LARGE) {
        vls_error_clear(err);
        *why = "it has too many lines";
        return 0;
    }
    return rc < 0 ? rc : 1;
}

static int write_one(vls_buf *out, const char **why, const vls_patch_side *was,
                     const vls_patch_side *is, const valise_env *env, valise_error *err)
{
    VLS_AUTO(line_diff) vls_line_diff diff = {.env = NULL};
    valise_str old = was->mode ? was->bytes : VLS_STR(""), new = is->mode ? is->bytes : VLS_STR("");
    bool same = old.ptr && new.ptr &&vls_str_equal(old, new);
    bool binary = !same && old.ptr && new.ptr &&is_binary(old, new);
    int rc = 1;

    if (!old.ptr || !new.ptr) {
        *why = "its bytes are not known";
        return 0;
    }
    if (!same && !binary)
        rc = compare(&diff, why, old, new, env, err);
    if (rc <= 0)
        return rc;
    add_head(out, was, is, env);
    if (binary || (!same && was->mode == VLS_PATCH_LINK && is->mode == VLS_PATCH_LINK))
        add_index(out, was, is);
    if (binary) {
        vls_buf_add_text(out, "Binary files ");
        add_name(out, env, was->mode ? "a/" : NOTHING, was->mode ? was->path : VLS_STR(""));
        vls_buf_add_text(out, " and ");
        add_name(out, env, is->mode ? "b/" : NOTHING, is->mode ? is->path : VLS_STR(""));
        vls_buf_add_text(out, " differ\n");
    } else if (!same) {
        add_label(out, env, "--- ", "a/", was);
        add_label(out, env, "+++ ", "b/", is);
        vls_unified_write(out, &diff, VLS_UNIFIED_AROUND);
    }
    rc = vls_buf_check(out, err);
    return rc < 0 ? rc : 1;
}

int vls_patch_write(vls_buf *out, const char **why, const vls_patch_side *was,
                    const vls_patch_side *is, const valise_env *env, valise_error *err)
{
    static const vls_patch_side none = {.mode = 0};
    int rc;

    *why = NULL;
    if (was->mode == 0 && is->mode == 0)
        return 0;
    if (was->mode == 0 || is->mode == 0 || (was->mode & 0170000u) == (is->mode & 0170000u))
        return write_one(out, why, was, is, env, err);
    rc = write_one(out, why, was, &none, env, err);
    return rc <= 0 ? rc : write_one(out, why, &none, is, env, err);
}

int vls_patch_texts(vls_buf *out, const char **why, valise_str was_label, valise_str was,
                    valise_str is_label, valise_str is, const valise_env *env, valise_error *err)
{
    VLS_AUTO(line_diff) vls_line_diff diff = {.env = NULL};
    int rc = 1;

    *why = NULL;
    if (vls_str_equal(was, is))
        return 0;
    if (is_binary(was, is)) {
        *why = "it is not a text";
        return 0;
    }
    rc = compare(&diff, why, was, is, env, err);
    if (rc <= 0)
        return rc;
    vls_buf_add_text(out, "--- ");
    vls_buf_add(out, was_label);
    vls_buf_add_text(out, "\n+++ ");
    vls_buf_add(out, is_label);
    vls_buf_add_byte(out, '\n');
    vls_unified_write(out, &diff, VLS_UNIFIED_AROUND);
    rc = vls_buf_check(out, err);
    return rc < 0 ? rc : 1;
}
