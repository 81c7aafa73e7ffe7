/* place.c -- see place.h. */
#include "context/place.h"

#include "base/hex.h"
#include "base/str.h"
#include "base/text.h"
#include "bus/read.h"
#include "context/outside.h"
#include "store/view.h"

static bool is_id(valise_str given)
{
    return given.len == 2 * sizeof(valise_id) && vls_tree_is_digits(given);
}

void vls_place_hint(const vls_tree_row *tree, const char *hint, valise_error *err)
{
    if (tree->edge > 1)
        vls_hint(err, "%s; versions before v%lld were pruned", hint, (long long)tree->edge);
    else
        vls_hint(err, "%s", hint);
}

static int choose_version(vls_place *place, valise_view *view, valise_str at, valise_error *err)
{
    vls_tree_version_row version;
    int rc;

    place->version = place->tree.version;
    if (at.len == 0)
        return 0;
    rc = vls_tree_version_of(&version, view, &place->tree, at, err);
    if (rc == 0) {
        rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no version of the tree with root '%s'",
                      vls_text_short(at).s);
        vls_place_hint(
            &place->tree,
            "give a root as 'valise scan' prints it, its first digits, or v and a number", err);
    }
    if (rc > 0)
        place->version = version.version;
    return vls_settle(rc);
}

/* 1, or 0: no such id. */
static int find_id(vls_place *place, valise_view *view, valise_str given, valise_error *err)
{
    int rc = vls_tree_find(&place->node, view, &place->tree, place->version, given, err);

    if (rc <= 0)
        return rc;
    place->path = place->node.path;
    place->outdated = rc == 2;
    place->there = rc == 1;
    return 1;
}

static int find_path(vls_place *place, valise_view *view, valise_str given, valise_error *err)
{
    vls_buf path;
    int rc;

    vls_buf_init_in(&path, &view->arena, VLS_PATH_MAX);
    rc = vls_path_resolve(&path, VLS_STR(""), given, err);
    if (rc == 0)
        rc = vls_buf_keep(&place->path, &path, err);
    if (rc == 0)
        rc = vls_tree_get(&place->node, view, &place->tree, place->version, place->path, err);
    place->there = rc > 0;
    return rc;
}

/* A version that was pruned is one as well: who looks for it is told. */
static int is_version(valise_view *view, valise_str at, valise_error *err)
{
    vls_tree_version_row version;
    vls_tree_row tree;
    int64_t number;
    int rc;

    if (at.len > 1 && at.ptr[0] == 'v' && vls_str_to_i64(&number, vls_str_from(at, 1)))
        return 1;
    rc = vls_tree_is_digits(at) ? vls_tree_head(&tree, view, err) : 0;
    return rc > 0 ? vls_tree_version_of(&version, view, &tree, at, err) : rc;
}

int vls_place_when(valise_str *at, valise_view *view, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    int64_t seq = 0;
    int rc = at->len > 0 ? is_version(view, *at, err) : 1;

    if (rc != 0)
        return vls_settle(rc);
    rc = vls_reading_seq(&seq, vls_reading_of(view), *at, &why);
    if (rc == VALISE_E_INVALID || rc == VALISE_E_NOT_FOUND)
        return 0; /* for who looks for a root to say */
    if (rc < 0 && err)
        *err = why;
    if (rc == 0)
        rc = vls_view_go_to(view, seq, err);
    if (rc == 0)
        *at = VLS_STR("");
    return rc;
}

int vls_place_find(vls_place *out, valise_view *view, valise_str given, valise_str at,
                   valise_error *err)
{
    vls_place place = {.there = false};
    int rc = vls_tree_head(&place.tree, view, err);

    if (rc == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "the files were never scanned");
        vls_hint(err, "run 'valise scan'");
        return VALISE_E_NOT_FOUND;
    }
    if (rc > 0)
        rc = choose_version(&place, view, at, err);
    if (rc < 0)
        return rc;
    if (is_id(given)) {
        rc = find_id(&place, view, given, err);
        if (rc == 0) {
            rc = vls_fail(err, VALISE_E_NOT_FOUND, "there is no node %.*s", VALISE_STR_ARG(given));
            vls_place_hint(&place.tree, "give a path, or an id as 'valise get-node' shows it", err);
        }
    } else {
        rc = find_path(&place, view, given, err);
        if (rc == 0 && vls_tree_is_digits(given)) {
            valise_str path = place.path;
            rc = find_id(&place, view, given, err);
            if (rc == 0)
                place.path = path;
        }
    }
    if (rc < 0)
        return rc;
    *out = place;
    return 0;
}

int vls_place_of(vls_place *out, valise_view *view, const vls_tree_row *tree, valise_str path,
                 valise_error *err)
{
    vls_place place = {.tree = *tree, .version = tree->version, .path = path};
    int rc = vls_tree_get(&place.node, view, tree, tree->version, path, err);

    place.there = rc > 0;
    if (rc >= 0)
        *out = place;
    return vls_settle(rc);
}

/* ---- the files outside ---- */

/* Is it about what lies in the folder now? */
static bool is_now(const vls_place *place, const valise_view *view)
{
    return vls_outside_is_now(view) && place->version == place->tree.version;
}

int vls_place_look(vls_place *place, valise_view *view, bool no_scan, valise_error *err)
{
    int state = VLS_OUTSIDE_UNKNOWN, rc;

    if (place->outdated && place->version == place->tree.version)
        place->tree_is = VLS_STR("earlier");
    if (no_scan || place->outdated || !is_now(place, view))
        return 0;
    rc = vls_outside_state(&state, vls_view_bus(view), place->path, err);
    if (rc == 0 && state == VLS_OUTSIDE_OUTDATED)
        place->tree_is = VLS_STR("outdated");
    return rc;
}

void vls_place_go(vls_place *place)
{
    if (!place->outdated)
        return;
    place->version = place->node.version;
    place->outdated = false;
    place->there = true;
}

typedef struct asking {
    valise_str given;
    vls_buf *path;
    bool found;
    bool by_id; /* what lies at the path now is not what was given, if it has changed */
} asking;

/* What is wrong with what was given is for the command to say, which knows whether the actor may
 * hear it. */
static int find_place(void *arg, valise_view *view, valise_error *err)
{
    asking *a = arg;
    vls_place place;
    int rc = vls_place_find(&place, view, a->given, VLS_STR(""), err);

    if (rc < 0 && rc != VALISE_E_NO_MEMORY && rc != VALISE_E_IO) {
        vls_error_clear(err);
        return 0;
    }
    if (rc < 0)
        return rc;
    a->found = true;
    a->by_id = vls_tree_is_digits(a->given) && !vls_str_equal(a->given, place.path);
    vls_buf_add(a->path, place.path);
    return vls_buf_check(a->path, err);
}

int vls_place_prepare(valise_prepare *prepare, valise_str given, bool no_scan, valise_error *err)
{
    valise *v = valise_prepare_workspace(prepare);
    VLS_AUTO(buf) vls_buf path = {0};
    asking a = {.given = given, .path = &path};
    int rc;

    if (no_scan)
        return 0;
    vls_buf_init(&path, v->env, VLS_PATH_MAX);
    rc = vls_with_view(v, NULL, find_place, &a, err);
    if (rc == 0 && !a.found && is_id(given))
        return 0;
    if (rc == 0 && !a.found)
        rc = vls_path_resolve(&path, VLS_STR(""), given, err);
    return rc < 0 ? rc : vls_outside_look(prepare, vls_buf_str(&path), !a.by_id, err);
}

/* ---- */

int vls_place_now(vls_place *out, valise_view *view, const vls_place *place, const char *capability,
                  valise_str type, valise_error *err)
{
    vls_place now = {.there = false};
    valise_str path = place->path;
    int64_t after, until;
    int rc = vls_tree_went(&after, &until, view, &place->tree, &place->node, err);

    if (rc > 0) {
        rc = vls_slot_moved_to(&path, view, &place->tree.id, path, after, until, err);
        if (rc == 0)
            return 0;
    }
    if (rc >= 0)
        rc = vls_place_of(&now, view, &place->tree, path, err);
    if (rc < 0 || !now.there)
        return rc;
    rc = vls_place_allows(&now, view, capability, type, err);
    if (rc == VALISE_E_DENIED) {
        vls_error_clear(err);
        return 0;
    }
    if (rc < 0)
        return rc;
    *out = now;
    return 1;
}

int vls_place_fail(const vls_place *place, valise_error *err)
{
    if (place->outdated) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "node %s is not in this version of the tree",
                       vls_id_hex(&place->node.id).s);
        vls_hint(err, "it was at '%s'", vls_text_short(place->path).s);
        return VALISE_E_NOT_FOUND;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is nothing at '%s'",
                   vls_text_short(place->path).s);
    vls_hint(err, "check the path; 'valise scan' finds new files, 'valise check-ignore PATH' shows "
                  "which rule leaves a file out");
    return VALISE_E_NOT_FOUND;
}

int vls_place_explain(const vls_place *place, valise_view *view, valise_error *err)
{
    int rc = 0;

    if (!place->outdated && is_now(place, view) &&
        valise_view_allows(view, "tree:read", NULL, NULL) >= 0)
        rc = vls_outside_explain(vls_view_bus(view), place->path, err);
    if (rc < 0)
        return rc;
    rc = vls_place_fail(place, err);
    if (!place->outdated && !is_now(place, view))
        vls_hint(err, "that is how it was then; 'valise tree list' shows the versions");
    return rc;
}

vls_state_at vls_place_at(const vls_place *place)
{
    return (vls_state_at){.tree = &place->tree,
                          .version = place->version,
                          .path = place->path,
                          .node = place->there ? &place->node : NULL,
                          .trusted = place->trusted};
}

int vls_place_root(valise_id *out, valise_view *view, const vls_place *place, valise_error *err)
{
    char text[32];
    vls_tree_version_row version;
    int rc;

    *out = place->tree.root;
    if (place->version == place->tree.version)
        return 0;
    (void)snprintf(text, sizeof(text), "v%lld", (long long)place->version);
    rc = vls_tree_version_of(&version, view, &place->tree, valise_str_of(text), err);
    if (rc > 0)
        *out = version.root;
    return vls_settle(rc);
}

int vls_path_allows(valise_view *view, const char *capability, valise_str path, valise_str type,
                    valise_error *err)
{
    char room[VLS_PATH_MAX + 1], word[VLS_FRAME_TYPE_MAX + 1];
    const char *attrs[5] = {"path", room, "?type", "", NULL};
    int rc;

    if (path.len >= sizeof(room) || type.len >= sizeof(word))
        return vls_fail(err, VALISE_E_TOO_LARGE, "a path or a type is too long");
    (void)snprintf(room, sizeof(room), "%.*s", VALISE_STR_ARG(path));
    (void)snprintf(word, sizeof(word), "%.*s", VALISE_STR_ARG(type));
    if (type.len > 0) {
        attrs[2] = "type";
        attrs[3] = word;
    }
    rc = valise_view_allows(view, capability, attrs, err);
    return vls_settle(rc);
}

int vls_place_allows(const vls_place *place, valise_view *view, const char *capability,
                     valise_str type, valise_error *err)
{
    return vls_path_allows(view, capability, place->path, type, err);
}

int vls_path_readable(valise_view *view, valise_str path, valise_str type, valise_error *err)
{
    int rc = vls_path_allows(view, "context:read", path, type, NULL); /* no words for each denial */

    if (rc == VALISE_E_DENIED)
        return 0;
    return rc == 0 ? 1 : vls_path_allows(view, "context:read", path, type, err);
}
