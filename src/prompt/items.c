/* items.c -- stage 2: items of a backpack, as a node may see them. [P2] [B21] [P10]
 *
 * What is read goes through the scope of the node, as everything that nodes read does. What is in
 * quarantine is no item, and never here. The values are canonical JSON; those of an ephemeral
 * backpack are in no object, and a manifest that names them cannot show them again. */
#include "backpack/use.h"
#include "base/glob.h"
#include "prompt/cost.h"
#include "prompt/stage.h"
#include "store/view.h"

typedef struct gathering {
    valise_view *view;
    const vls_request *request;
    vls_use *use;
    vls_choice *out;
    int64_t room;
    vls_parts parts;
} gathering;

static bool is_pattern(valise_str text)
{
    return text.len > 0 && memchr(text.ptr, '*', text.len) != NULL;
}

/* ---- one item ---- */

/* BACKPACK/KEY */
static int name_item(valise_str *out, gathering *g, valise_str key, valise_error *err)
{
    vls_buf name;

    vls_buf_init_in(&name, &g->view->arena, g->request->backpack.len + key.len + 2);
    vls_buf_add(&name, g->request->backpack);
    vls_buf_add_byte(&name, '/');
    vls_buf_add(&name, key);
    return vls_buf_keep(out, &name, err);
}

static int say_words(valise_str *out, gathering *g, valise_str key, valise_error *err)
{
    vls_buf words;

    vls_buf_init_in(&words, &g->view->arena, key.len + 16);
    vls_buf_add_text(&words, "Item ");
    vls_buf_add(&words, key);
    vls_buf_add_text(&words, ":\n");
    return vls_buf_keep(out, &words, err);
}

/* What the commit borrows is valid only now. value NULL: it was erased. */
static int add_item(gathering *g, const valise_commit *commit, const valise_blob *value,
                    valise_error *err)
{
    vls_arena *arena = &g->view->arena;
    vls_part part = {.section = VLS_SECTION_TAIL,
                     .kind = VLS_PART_ITEM,
                     .kept = !g->use->memory,
                     .version = commit->version,
                     .id = commit->value,
                     .as = {g->request->backpack, g->request->node},
                     .reason = valise_str_of(g->request->node.len > 0 ? "the node may read it"
                                                                      : "it is in the backpack")};
    int rc = name_item(&part.name, g, commit->key, err);

    if (rc == 0)
        rc = vls_bag_used(&part.source, g->view, &commit->backpack, commit->key, err);
    if (rc == 0 && !value)
        return vls_leave(g->out, g->view, VLS_PART_ITEM, part.name, "erased", 0, err);
    if (rc == 0)
        rc = say_words(&part.words, g, commit->key, err);
    if (rc == 0)
        rc = vls_arena_dup(&part.author, arena, commit->node_id, err);
    if (rc == 0)
        rc = vls_arena_dup(&part.text, arena, vls_blob_bytes(value), err);
    if (rc < 0)
        return rc;
    part.tokens = vls_text_cost(part.words) + vls_text_cost(part.text);
    return vls_vec_push_in(&g->parts, arena, part) ? 0 : vls_arena_fail(arena, err);
}

/* ---- which ones ---- */

/* One that was asked for by its key: it has to be there, and the node has to be allowed to. */
static int get_item(gathering *g, valise_str key, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *value = NULL;
    valise_commit commit = {0};
    vls_look look = {.required = true,
                     .erased_too = true,
                     .now = g->request->time,
                     .arena = &g->view->arena,
                     .commit = &commit};
    int rc = vls_bag_get(&value, &g->use->ledger, g->use->scope, key, &look, err);

    return rc < 0 ? rc : add_item(g, &commit, value, err);
}

/* One that is met: is it wanted, and not there already? */
static bool wants(const gathering *g, valise_str key)
{
    const valise_str *asked = g->request->items.items;
    bool fits = g->request->items.count == 0;

    for (size_t i = 0; i < g->request->items.count; i++) {
        if (vls_str_equal(asked[i], key) && !is_pattern(asked[i]))
            return false;
        fits = fits || vls_glob_match(&vls_glob_flat, asked[i], key);
    }
    return fits;
}

static int meet_item(void *arg, const valise_item *item, valise_error *err)
{
    gathering *g = arg;

    return wants(g, item->commit->key) ? add_item(g, item->commit, item->value, err) : 0;
}

static int gather(gathering *g, valise_error *err)
{
    const valise_str *asked = g->request->items.items;
    bool all = g->request->items.count == 0;
    int rc = 0;

    for (size_t i = 0; i < g->request->items.count && rc == 0; i++) {
        bool again = false;

        for (size_t k = 0; k < i && !again; k++)
            again = vls_str_equal(asked[k], asked[i]);
        if (is_pattern(asked[i]))
            all = true;
        else if (!again)
            rc = get_item(g, asked[i], err);
    }
    if (rc == 0 && all)
        rc = vls_bag_each(&g->use->ledger, g->use->scope, (valise_str){NULL, 0}, true, meet_item, g,
                          err);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return vls_str_compare(((const vls_part *)a)->name, ((const vls_part *)b)->name);
}

/* In the order of keys, each if it still fits. */
static int take(gathering *g, valise_error *err)
{
    int rc = 0;

    if (g->parts.len > 1)
        qsort(g->parts.ptr, g->parts.len, sizeof(*g->parts.ptr), by_name);
    for (size_t i = 0; i < g->parts.len && rc == 0; i++) {
        const vls_part *part = &g->parts.ptr[i];

        if (g->room != VALISE_NONE && part->tokens > g->room) {
            rc = vls_leave(g->out, g->view, VLS_PART_ITEM, part->name, "does not fit", part->tokens,
                           err);
            continue;
        }
        if (g->room != VALISE_NONE)
            g->room -= part->tokens;
        rc = vls_add_part(g->out, g->view, part, err);
    }
    return rc;
}

int vls_choose_items(vls_choice *out, valise_view *view, const vls_request *request, int64_t room,
                     valise_error *err)
{
    VLS_AUTO(use) vls_use use = {0};
    vls_who who = {.backpack = request->backpack, .node = request->node};
    gathering g = {.view = view, .request = request, .use = &use, .out = out, .room = room};
    int rc;

    if (!request->backpack.ptr)
        return 0;
    rc = vls_use_begin_other(&use, view, &who, "backpack", err);
    if (rc == 0)
        rc = gather(&g, err);
    return rc < 0 ? rc : take(&g, err);
}
