/* watch_regenerate.c -- see watch.h.
 *
 * Two watches on one workspace are no trouble: a run writes no files and, where there is nothing to
 * be made, nothing at all. So what the one made lets the other look once, find nothing, and rest.
 */
#include "cli/watch.h"

#include "base/hex.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "cli/backpack.h"
#include "cli/paths.h"

#define TOLD_MAX 100000u /* then all are forgotten, and told again */
#define FIRST_NS INT64_C(500000000)
#define LONGEST_NS INT64_C(60000000000)

/* ---- what was told ---- */

/* One block: path and type are behind it. */
typedef struct told_slot {
    int what;
    valise_id frame;
    valise_str path, type;
} told_slot;

static bool is_slot(const void *item, const void *key)
{
    const told_slot *a = item, *b = key;

    return vls_str_equal(a->path, b->path) && vls_str_equal(a->type, b->type);
}

static uint64_t hash_of(valise_str path, valise_str type)
{
    return vls_str_hash(path, vls_str_hash(type, 0));
}

static void free_slot(const cli_regenerating *r, told_slot *slot)
{
    if (slot)
        vls_mem_free(r->c->env, slot, sizeof(*slot) + slot->path.len + slot->type.len);
}

static void forget_all(cli_regenerating *r)
{
    size_t at = 0;
    told_slot *slot;

    while ((slot = vls_map_next(&r->told, &at)) != NULL)
        free_slot(r, slot);
    vls_map_clear(&r->told);
}

static void forget(cli_regenerating *r, valise_str path, valise_str type)
{
    const told_slot key = {.path = path, .type = type};

    free_slot(r, vls_map_remove(&r->told, hash_of(path, type), &key));
}

static int remember(cli_regenerating *r, const cli_slot_news *news, valise_error *err)
{
    size_t size = sizeof(told_slot) + news->path.len + news->type.len;
    told_slot *slot;
    char *text;

    if (r->told.len >= TOLD_MAX)
        forget_all(r);
    forget(r, news->path, news->type);
    slot = vls_mem_alloc(r->c->env, size);
    if (!slot)
        return vls_fail_memory(err);
    text = (char *)(slot + 1);
    *slot = (told_slot){news->what, news->frame, vls_str(text, news->path.len),
                        vls_str(text + news->path.len, news->type.len)};
    if (news->path.len > 0)
        memcpy(text, news->path.ptr, news->path.len);
    if (news->type.len > 0)
        memcpy(text + news->path.len, news->type.ptr, news->type.len);
    if (vls_map_put(NULL, &r->told, hash_of(slot->path, slot->type), slot, slot) == 0)
        return 0;
    free_slot(r, slot);
    return vls_fail_memory(err);
}

static bool is_told(const cli_regenerating *r, const cli_slot_news *news)
{
    const told_slot key = {.path = news->path, .type = news->type};
    const told_slot *slot = vls_map_get(&r->told, hash_of(key.path, key.type), &key);

    return slot && slot->what == news->what && vls_id_equal(&slot->frame, &news->frame);
}

void cli_regenerating_init(cli_regenerating *r, cli *c)
{
    *r = (cli_regenerating){.c = c, .seen = VALISE_ROOTS_INIT};
    r->seen.version = -1; /* whatever there is, it is something else */
    vls_map_init(&r->told, c->env, is_slot);
}

void cli_regenerating_release(cli_regenerating *r)
{
    if (!r->c)
        return;
    forget_all(r);
    vls_map_release(&r->told);
    r->c = NULL;
}

/* ---- an answer ---- */

/* CLI_SLOT_...; -1: no news. */
static int what_of(valise_str outcome)
{
    static const char *const outcomes[] = {
        [CLI_SLOT_REGENERATED] = "made",    [CLI_SLOT_NEEDS_AUTHOR] = "needs-author",
        [CLI_SLOT_NEEDS_RUN] = "needs-run", [CLI_SLOT_UNKNOWN_POLICY] = "unknown",
        [CLI_SLOT_ORPHANED] = "orphaned",   [CLI_SLOT_FAILED] = "failed",
    };

    for (size_t i = 0; i < VLS_COUNT(outcomes); i++) {
        if (vls_str_equal(outcome, valise_str_of(outcomes[i])))
            return (int)i;
    }
    return -1;
}

static int id_of(valise_id *out, vls_json row, const char *name, valise_error *err)
{
    valise_str text = cli_text_of(row, name);

    *out = (valise_id){{0}};
    return text.len > 0 ? vls_id_parse(out, text, err) : 0;
}

/* Is there nothing left to be told of it? Inputs are listed as well, which says nothing of them. */
static bool holds(vls_json row)
{
    return vls_str_equal(cli_text_of(row, "outcome"), VLS_STR("unchanged"));
}

static int take_row(cli_regenerating *r, vls_json row, valise_error *err)
{
    VLS_AUTO(buf) vls_buf path = {0};
    const vls_json *member = vls_json_get(row, VLS_STR("path"));
    cli_slot_news news = {.what = what_of(cli_text_of(row, "outcome")),
                          .type = cli_text_of(row, "type"),
                          .why = cli_text_of(row, "why")};
    int rc = id_of(&news.frame, row, "after", err);

    vls_buf_init(&path, r->c->env, VLS_JSON_MAX_BYTES);
    if (member)
        cli_add_path_bytes(&path, *member);
    if (rc == 0)
        rc = vls_buf_check(&path, err);
    if (rc == 0)
        rc = id_of(&news.previous, row, "before", err);
    news.path = vls_buf_str(&path);
    if (rc < 0 || is_told(r, &news) || (news.what < 0 && !holds(row)))
        return rc;
    if (news.what < 0 || news.what == CLI_SLOT_REGENERATED || news.what == CLI_SLOT_FAILED)
        forget(r, news.path, news.type);
    else
        rc = remember(r, &news, err);
    return rc < 0 || news.what < 0 ? rc : r->tell(r->arg, &news, err);
}

static int take_answer(cli_regenerating *r, valise_str json, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_json answer;
    const vls_json *rows;
    int64_t told = 0;
    char text[128];
    int rc;

    vls_arena_init(&arena, r->c->env, SIZE_MAX / 2);
    rc = vls_json_parse(&answer, &arena, json, NULL, err);
    rows = rc < 0 ? NULL : vls_json_get(answer, VLS_STR("slots"));
    for (uint32_t i = 0; rc == 0 && rows && i < rows->len; i++) {
        told += what_of(cli_text_of(rows->items[i], "outcome")) == CLI_SLOT_REGENERATED;
        rc = take_row(r, rows->items[i], err);
    }
    if (rc == 0 && cli_number_of(answer, "made") > told) {
        (void)snprintf(text, sizeof(text), "%lld more were regenerated",
                       (long long)(cli_number_of(answer, "made") - told));
        r->note(r->arg, text);
    }
    return rc;
}

/* ---- runs ---- */

/* Others were in the way: that passes. */
static bool is_passing(int rc)
{
    return rc == VALISE_E_CONFLICT || rc == VALISE_E_BUSY;
}

static void fail(cli_regenerating *r, int rc, const valise_error *why)
{
    const valise_env *env = r->c->env;
    char text[sizeof(why->message) + 64];

    (void)snprintf(text, sizeof(text), "not regenerated: %s", why->message);
    if (!is_passing(rc) || r->waiting_ns == 0)
        r->note(r->arg, text); /* what is tried again is told once */
    if (!is_passing(rc))
        return;
    r->waiting_ns = VLS_MIN(VLS_MAX(2 * r->waiting_ns, FIRST_NS), LONGEST_NS);
    r->due_ns = env->ticks_ns(env->self) + r->waiting_ns;
}

int cli_regenerate(cli_regenerating *r, valise_error *err)
{
    valise_str payload = r->programs
                             ? VLS_STR("{\"noScan\":true,\"onlyNew\":true,\"recursive\":true,"
                                       "\"run\":true}")
                             : VLS_STR("{\"noScan\":true,\"onlyNew\":true,\"recursive\":true}");
    valise_reply reply = VALISE_REPLY_INIT;
    valise_error why = VALISE_ERROR_INIT;
    valise_roots before = VALISE_ROOTS_INIT;
    int rc = valise_roots_get(&before, r->c->workspace, r->call, &why);

    r->due_ns = 0;
    if (rc == 0) {
        r->seen = before; /* what is made itself is looked at once more, which finds nothing */
        rc = valise_dispatch_str(&reply, r->c->workspace, VLS_STR("context:regenerate"), payload,
                                 r->call, &why);
    }
    if (rc == VALISE_E_CANCELLED && err)
        *err = why;
    else if (rc < 0)
        fail(r, rc, &why);
    if (rc == 0) {
        r->waiting_ns = 0;
        rc = take_answer(r, valise_blob_bytes(reply.json), err);
    } else if (rc != VALISE_E_CANCELLED) {
        rc = 0;
    }
    valise_reply_release(&reply);
    return rc;
}

int cli_regenerate_if_due(cli_regenerating *r, valise_error *err)
{
    const valise_env *env = r->c->env;
    valise_roots now = VALISE_ROOTS_INIT;

    if (r->due_ns > 0)
        return r->due_ns <= env->ticks_ns(env->self) ? cli_regenerate(r, err) : 0;
    if (valise_roots_get(&now, r->c->workspace, r->call, NULL) < 0)
        return 0;
    if (now.version == r->seen.version && vls_id_equal(&now.context, &r->seen.context))
        return 0;
    return cli_regenerate(r, err);
}
