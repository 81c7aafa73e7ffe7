/* api_report.c -- the C function that counts what is known; see api_read.c. */
#include <valise/derive.h>

#include "base/sized.h"
#include "base/str.h"
#include "bus/held.h"
#include "context/report.h"

_Static_assert((int)VALISE_REPORT_STALE == 1 << VLS_REPORT_STALE, "bits");
_Static_assert((int)VALISE_REPORT_INVALIDATED == 1 << VLS_REPORT_INVALIDATED, "bits");
_Static_assert((int)VALISE_REPORT_ORPHANED == 1 << VLS_REPORT_ORPHANED, "bits");
_Static_assert((int)VALISE_REPORT_NEEDS_AUTHOR == 1 << VLS_REPORT_NEEDS_AUTHOR, "bits");
_Static_assert((int)VALISE_REPORT_CORRUPT == 1 << VLS_REPORT_CORRUPT, "bits");

typedef struct held {
    valise_report report; /* first: what the caller has */
    vls_held own;
} held;

void valise_report_free(valise_report *report)
{
    held *h = (held *)report;

    if (h)
        vls_held_free(h, &h->own);
}

static void vls_auto_held(held **h)
{
    valise_report_free((valise_report *)*h);
}

static int fill_lines(const valise_report_line **out, size_t *count, held *h,
                      const valise_list *list, valise_error *err)
{
    const vls_report_line *const *lines = list->items;
    valise_report_line *all = vls_arena_array(&h->own.arena, list->count, sizeof(*all));

    if (!all)
        return vls_arena_fail(&h->own.arena, err);
    for (size_t i = 0; i < list->count; i++)
        all[i] = (valise_report_line){.name = lines[i]->name,
                                      .heads = lines[i]->heads,
                                      .fresh = lines[i]->fresh,
                                      .stale = lines[i]->stale,
                                      .invalidated = lines[i]->invalidated,
                                      .orphaned = lines[i]->orphaned,
                                      .files = lines[i]->files,
                                      .dirs = lines[i]->dirs};
    *out = all;
    *count = list->count;
    return 0;
}

static int fill_kind(valise_report_kind *out, held *h, const vls_report_kind *kind,
                     valise_error *err)
{
    const vls_report_item *const *items = kind->first.items;
    valise_report_item *all = vls_arena_array(&h->own.arena, kind->first.count, sizeof(*all));

    if (!all)
        return vls_arena_fail(&h->own.arena, err);
    for (size_t i = 0; i < kind->first.count; i++)
        all[i] = (valise_report_item){.path = items[i]->path,
                                      .type = items[i]->type,
                                      .agent = items[i]->agent,
                                      .frame = items[i]->frame_id,
                                      .state = items[i]->state};
    *out = (valise_report_kind){kind->count, all, kind->first.count};
    return 0;
}

static int fill(held *h, const vls_report_result *r, valise_error *err)
{
    const vls_context_report *from = &r->report;
    valise_report *out = &h->report;
    valise_report_kind *kinds[] = {[VLS_REPORT_STALE] = &out->stale,
                                   [VLS_REPORT_INVALIDATED] = &out->invalidated,
                                   [VLS_REPORT_ORPHANED] = &out->orphaned,
                                   [VLS_REPORT_NEEDS_AUTHOR] = &out->needs_author,
                                   [VLS_REPORT_CORRUPT] = &out->corrupt};
    int rc = 0;

    *out = (valise_report){.files = from->files,
                           .dirs = from->dirs,
                           .covered_files = from->covered_files,
                           .covered_dirs = from->covered_dirs,
                           .heads = from->heads,
                           .fresh = from->fresh,
                           .failed = r->failed,
                           .document = r->document,
                           .tree_root = r->tree_root,
                           .context_root = r->context_root};
    for (size_t i = 0; rc == 0 && i < VLS_COUNT(kinds); i++)
        rc = fill_kind(kinds[i], h, from->kinds[i], err);
    if (rc == 0)
        rc = fill_lines(&out->types, &out->type_count, h, &from->types, err);
    if (rc == 0)
        rc = fill_lines(&out->agents, &out->agent_count, h, &from->agents, err);
    return rc;
}

static int take_options(vls_report_args *args, int64_t kinds[VLS_REPORT_KINDS],
                        const valise_report_options *options, valise_error *err)
{
    valise_report_options o = VALISE_REPORT_OPTIONS_INIT;
    size_t count = 0;
    int rc = vls_sized_take(&o, sizeof(o), options, offsetof(valise_report_options, format),
                            "valise_report_options", err);

    if (rc == 0 && o.fail_on >> VLS_REPORT_KINDS)
        rc = vls_fail(err, VALISE_E_INVALID, "valise_report_options has unknown bits 0x%x",
                      o.fail_on);
    if (rc < 0)
        return rc;
    for (int i = 0; i < VLS_REPORT_KINDS; i++)
        if (o.fail_on & 1u << i)
            kinds[count++] = i;
    args->fail_on = (valise_list){kinds, count};
    args->format = o.format;
    return 0;
}

int valise_context_report(valise_report **out, valise *v, const char *path,
                          const valise_report_options *options, const valise_call *call,
                          valise_error *err)
{
    VLS_AUTO(held) held *h = NULL;
    int64_t kinds[VLS_REPORT_KINDS];
    vls_report_args args = {.path = {NULL, 0}};
    vls_report_result result;
    int rc;

    VLS_ARG(out && v, err);
    rc = take_options(&args, kinds, options, err);
    if (rc < 0)
        return rc;
    h = vls_held_new(v->env, sizeof(*h), offsetof(held, own));
    if (!h)
        return vls_fail_memory(err);
    args.path = valise_str_of(path);
    rc =
        vls_run(v, &vls_op_context_context_report, &args, &result, &h->own.memory, call, NULL, err);
    if (rc == 0)
        rc = fill(h, &result, err);
    if (rc < 0)
        return rc;
    *out = &h->report;
    h = NULL;
    return 0;
}
