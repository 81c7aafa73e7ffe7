/* sweep.c -- see sweep.h. Manifests are read one after the other, beside writers. */
#include "prompt/sweep.h"

#include <stdlib.h>

#include "base/hash.h"
#include "blob/hold.h"
#include "bus/bus.h"
#include "chat/rows.h"
#include "prompt/manifest.h"
#include "prompt/manifest_impl.h"
#include "prompt/rows.h"
#include "store/view.h"

#define AT_ONCE 1000u
#define TIDY_MIN 65536u /* ids that are gathered before equal ones are sorted out */

typedef vls_vec(valise_id) ids;

typedef struct sweeping {
    const valise_env *env;
    ids needed; /* sorted once all were gathered */
    size_t tidy_at;
    bool unsure; /* a manifest cannot be read: everything is needed */
    ids prompts, holds, blobs;
    int64_t seen;
} sweeping;

static void tidy(ids *list)
{
    size_t left = 0;

    if (list->len > 1)
        qsort(list->ptr, list->len, sizeof(*list->ptr), vls_id_order);
    for (size_t i = 0; i < list->len; i++)
        if (left == 0 || !vls_id_equal(&list->ptr[i], &list->ptr[left - 1]))
            list->ptr[left++] = list->ptr[i];
    list->len = left;
}

static int need(sweeping *s, const valise_id *id, valise_error *err)
{
    if (vls_id_is_none(id))
        return 0;
    if (s->needed.len >= VLS_MAX(s->tidy_at, TIDY_MIN)) {
        tidy(&s->needed);
        s->tidy_at = 2 * s->needed.len;
    }
    return vls_vec_push(&s->needed, s->env, *id) ? 0 : vls_fail_memory(err);
}

static bool is_needed(const sweeping *s, const valise_id *id)
{
    return s->needed.len > 0 &&
           bsearch(id, s->needed.ptr, s->needed.len, sizeof(*id), vls_id_order);
}

/* ---- what is needed ---- */

static int read_manifest(sweeping *s, valise_view *view, const valise_id *id, valise_error *err)
{
    VLS_AUTO(blob) valise_blob *blob = NULL;
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_manifest manifest = {0};
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_view_blob(&blob, view, id, &why);

    vls_arena_init(&arena, s->env, VLS_VIEW_MAX_BYTES);
    if (rc == 0)
        rc = vls_manifest_read(&manifest, &arena, valise_blob_bytes(blob), &why);
    for (size_t i = 0; rc == 0 && i < manifest.parts.len; i++) {
        rc = need(s, &manifest.parts.ptr[i].id, &why);
        if (rc == 0)
            rc = need(s, &manifest.parts.ptr[i].blob, &why);
    }
    if (rc == VALISE_E_NO_MEMORY) {
        if (err)
            *err = why;
        return rc;
    }
    s->unsure = s->unsure || rc < 0; /* `validate` tells of it */
    return 0;
}

/* Prompts of sessions that are gone need nothing. */
static int look_at(sweeping *s, valise_view *view, const vls_prompt_row *row, valise_error *err)
{
    vls_session_row session = {.id = row->session};
    int rc = valise_view_get(&session, view, &vls_sessions, err);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return vls_vec_push(&s->prompts, s->env, row->id) ? 0 : vls_fail_memory(err);
    return vls_id_is_none(&row->manifest) ? 0 : read_manifest(s, view, &row->manifest, err);
}

/* ---- what is held ---- */

static int list_holds(sweeping *s, valise_view *view, valise_error *err)
{
    vls_prompt_hold_row hold;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_prompt_holds, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&hold, scan, err)) > 0)
        if (!is_needed(s, &hold.object) && !vls_vec_push(&s->holds, s->env, hold.object))
            rc = vls_fail_memory(err);
    valise_scan_close(scan);
    return vls_settle(rc);
}

static int list_blobs(sweeping *s, valise_view *view, valise_error *err)
{
    vls_blob_hold hold;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_blob_holds, NULL, err);

    while (rc >= 0 && (rc = valise_scan_next(&hold, scan, err)) > 0)
        if (hold.kind == VLS_HOLD_PROMPT && !is_needed(s, &hold.blob) &&
            !vls_vec_push(&s->blobs, s->env, hold.blob))
            rc = vls_fail_memory(err);
    valise_scan_close(scan);
    return vls_settle(rc);
}

static int look(void *arg, valise_view *view, valise_error *err)
{
    sweeping *s = arg;
    vls_prompt_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_prompts, NULL, err);

    s->seen = view->at;
    while (rc >= 0 && (rc = valise_scan_next(&row, scan, err)) > 0)
        rc = look_at(s, view, &row, err);
    valise_scan_close(scan);
    if (rc < 0 || s->unsure)
        return vls_settle(rc);
    tidy(&s->needed);
    rc = list_holds(s, view, err);
    return rc < 0 ? rc : list_blobs(s, view, err);
}

/* ---- letting go ---- */

/* The nth lot of a list, as bytes; strings live in the arena. */
static int lot(valise_list *out, vls_arena *arena, const ids *list, size_t from, valise_error *err)
{
    size_t count = from < list->len ? VLS_MIN(list->len - from, AT_ONCE) : 0;
    valise_str *texts = vls_arena_array(arena, count + 1, sizeof(*texts));

    if (!texts)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++)
        texts[i] = vls_str((const char *)list->ptr[from + i].bytes, sizeof(valise_id));
    *out = (valise_list){texts, count};
    return 0;
}

static int sweep(sweeping *s, valise *v, valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    size_t most = VLS_MAX(VLS_MAX(s->prompts.len, s->holds.len), s->blobs.len);
    int rc = 0;

    vls_arena_init(&arena, v->env, VLS_VIEW_MAX_BYTES);
    for (size_t at = 0; at < most && rc == 0; at += AT_ONCE) {
        vls_sweep_args args = {.seen = s->seen};

        rc = lot(&args.prompts, &arena, &s->prompts, at, err);
        if (rc == 0)
            rc = lot(&args.holds, &arena, &s->holds, at, err);
        if (rc == 0)
            rc = lot(&args.blobs, &arena, &s->blobs, at, err);
        if (rc == 0)
            rc = vls_run_own(v, &vls_op_prompt_prompt_sweep, &args, NULL, NULL, NULL, err);
        vls_arena_reset(&arena);
    }
    return rc;
}

int vls_prompts_collect(valise *v, valise_error *err)
{
    sweeping s = {.env = v->env};
    int rc = vls_with_view(v, NULL, look, &s, err);

    if (rc == 0)
        rc = sweep(&s, v, err);
    vls_vec_release(&s.needed, s.env);
    vls_vec_release(&s.prompts, s.env);
    vls_vec_release(&s.holds, s.env);
    vls_vec_release(&s.blobs, s.env);
    return rc;
}
