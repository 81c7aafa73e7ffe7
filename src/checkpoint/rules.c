/* rules.c -- see rules.h. */
#include "checkpoint/rules.h"

#include "base/hash.h"
#include "base/str.h"
#include "checkpoint/rows.h"

static bool is_rule_file(const vls_manifest_entry *e)
{
    valise_str name = vls_path_name(e->path);

    return e->kind == VLS_MANIFEST_FILE && e->size <= (int64_t)VLS_IGNORE_MAX_SIZE &&
           (vls_str_equal(name, VLS_STR(".gitignore")) ||
            vls_str_equal(name, VLS_STR(".valiseignore")));
}

static bool is_missing(int rc)
{
    return rc == VALISE_E_NOT_FOUND || rc == VALISE_E_CORRUPT;
}

static int read_one(vls_kept_rules *rules, valise_view *view, const vls_manifest_entry *e,
                    vls_arena *arena, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    vls_rule_file file = {.path = e->path};
    vls_tree_content_row row;
    valise_id hash;
    int rc = vls_tree_content_get(&row, view, &e->content, err);

    if (rc <= 0 || vls_id_is_none(&row.object))
        return vls_settle(rc);
    rc = vls_view_blob(&blob, view, &row.object, err);
    if (is_missing(rc)) {
        vls_error_clear(err);
        return 0;
    }
    if (rc < 0)
        return rc;
    vls_hash_bytes(&hash, valise_blob_bytes(blob));
    if (!vls_id_equal(&hash, &e->content))
        return 0;
    rc = vls_arena_dup(&file.bytes, arena, valise_blob_bytes(blob), err);
    if (rc == 0 && !vls_vec_push_in(&rules->files, arena, file))
        rc = vls_arena_fail(arena, err);
    return rc;
}

int vls_kept_rules_read(vls_kept_rules *out, valise_view *view, const vls_manifest_entry *entries,
                        size_t count, vls_arena *arena, valise_error *err)
{
    int rc = 0;

    *out = (vls_kept_rules){.env = arena->env};
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (is_rule_file(&entries[i]))
            rc = read_one(out, view, &entries[i], arena, err);
    }
    if (rc == 0 && out->files.len > 0)
        rc = vls_ignore_root(&out->root, arena->env, VLS_STR(""), VLS_STR(""), err);
    return rc;
}

void vls_kept_rules_release(vls_kept_rules *rules)
{
    rules->root = vls_ignore_unref(rules->root);
}

/* The bytes of that file in that directory; "" where it has none. */
static int find_bytes(valise_str *out, const vls_kept_rules *rules, valise_str dir,
                      const char *name, valise_error *err)
{
    VLS_AUTO(buf) vls_buf path = {0};
    size_t low = 0, high = rules->files.len;
    int rc;

    *out = VLS_STR("");
    vls_buf_init(&path, rules->env, VLS_PATH_MAX);
    vls_path_below(&path, dir, valise_str_of(name));
    rc = vls_buf_check(&path, err);
    while (rc == 0 && low < high) {
        size_t middle = low + (high - low) / 2;
        int order = vls_path_compare(rules->files.ptr[middle].path, vls_buf_str(&path));
        if (order == 0) {
            *out = rules->files.ptr[middle].bytes;
            return 0;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return rc;
}

static int enter(vls_ignore **out, vls_ignore *above, valise_str dir, void *arg, valise_error *err)
{
    const vls_kept_rules *rules = arg;
    valise_str git, own;
    int rc = find_bytes(&git, rules, dir, ".gitignore", err);

    if (rc == 0)
        rc = find_bytes(&own, rules, dir, ".valiseignore", err);
    if (rc == 0)
        rc = vls_ignore_enter(out, above, dir, git, own, err);
    if (rc != VALISE_E_TOO_LARGE && rc != VALISE_E_LIMIT)
        return rc;
    vls_error_clear(err);
    *out = vls_ignore_ref(above);
    return 0;
}

int vls_kept_rules_ignore(vls_kept_rules *rules, valise_str path, bool is_dir, valise_error *err)
{
    VLS_AUTO(ignore) vls_ignore *keep = NULL;
    vls_ignore_verdict verdict = {.ignored = false};
    int rc = 0;

    if (rules->root)
        rc = vls_ignore_check(&verdict, &keep, rules->root, path, is_dir, enter, rules, err);
    return rc < 0 ? rc : verdict.ignored;
}
