/* give.c -- see give.h. */
#include "flow/give.h"

#include "base/text.h"
#include "json/make.h"

const valise_field vls_flow_set_item = {
    .name = "item", .help = "KEY=JSON.", .type = VALISE_T_STR, .min = 1, .max = 1 << 26};

const valise_field vls_flow_ran_fields[] = {
    VALISE_FIELD_WITH(vls_flow_ran, run, UUID, VALISE_REQUIRED, "Id of the run.",
                      .ref = VLS_REF_FLOW_RUN),
    VALISE_FIELD(vls_flow_ran, backpack, STR, VALISE_REQUIRED, "The backpack it ran on."),
    VALISE_FIELD(vls_flow_ran, action, STR, VALISE_REQUIRED, "The action of the last node."),
    VALISE_FIELD(vls_flow_ran, node, STR, VALISE_REQUIRED, "The last node."),
    VALISE_FIELD(vls_flow_ran, steps, INT, VALISE_REQUIRED, "Nodes that ran."),
    VALISE_FIELD(vls_flow_ran, aside, STR, VALISE_NULLABLE,
                 "The backpack that was moved aside for a run that goes on."),
    VALISE_FIELD_END,
};

/* ---- items ---- */

static int add_set(vls_json *all, vls_arena *arena, valise_str text, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    valise_str key, rest;
    vls_json value;
    int rc;

    if (!vls_str_cut(&key, &rest, text, '=') || key.len == 0) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not KEY=JSON", vls_text_short(text).s);
        vls_hint(err, "for example topic='\"cats\"', or limit=3");
        return VALISE_E_INVALID;
    }
    rc = vls_json_parse(&value, arena, rest, NULL, &why);
    if (rc < 0) {
        (void)vls_fail(err, rc, "the value of '%s' is not JSON: %s", vls_text_short(key).s,
                       why.message);
        vls_hint(err, "put a text into quotes of its own: %s='\"...\"'", vls_text_short(key).s);
        return rc;
    }
    return vls_json_with_key(all, arena, *all, key, value, err);
}

int vls_flow_give_items(valise_str *out, vls_arena *arena, valise_str items, valise_list set,
                        valise_error *err)
{
    const valise_str *each = set.items;
    vls_json all = {.type = VLS_JSON_OBJECT};
    int rc = items.ptr ? vls_json_parse(&all, arena, items, NULL, err) : 0;

    if (rc == 0 && all.type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "items is not an object");
    if (rc < 0) {
        vls_error_prepend(err, "items");
        return rc;
    }
    for (size_t i = 0; i < set.count && rc == 0; i++) {
        rc = add_set(&all, arena, each[i], err);
        if (rc < 0)
            vls_error_prepend(err, "set[%zu]", i);
    }
    *out = VLS_STR("");
    return rc < 0 || all.len == 0 ? rc : vls_json_text(out, arena, all, err);
}

int vls_flow_new_name(valise_str *out, vls_arena *arena, valise *v, valise_str stem,
                      valise_error *err)
{
    vls_uuid_string text;
    valise_uuid id;
    vls_buf name;
    int rc = vls_uuid_new(&id, &v->ids, err);

    if (rc < 0)
        return rc;
    text = vls_uuid_text(&id);
    vls_buf_init_in(&name, arena, VLS_BAG_NAME_MAX);
    vls_buf_add(&name, stem.len > 0 ? vls_str_head(stem, 100) : VLS_STR("flow"));
    vls_buf_printf(&name, "-%s", text.s + strlen(text.s) - 8);
    return vls_buf_keep(out, &name, err);
}

/* ---- running ---- */

static int pass_progress(void *arg, const valise_progress_state *state)
{
    vls_progress *progress = vls_job_progress(arg);

    progress->state.done = state->done;
    return vls_progress_look(progress, NULL) < 0;
}

/* Can it be typed as it is? */
static bool is_word(valise_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];

        if (!(vls_is_alnum(c) || strchr("-_./", c)))
            return false;
    }
    return path.len > 0 && path.len <= 120;
}

/* A flow that names programs, and may not run them, says what its user can do: true. */
static bool explain_denied(valise_error *err, const vls_flow_text *text)
{
    if (!strstr(err->message, "a flow alone "))
        return false;
    if (text && !text->programs && text->untrusted.code != 0)
        vls_hint(err, "name its file on the command line%s%s",
                 text->untrusted.hint[0] ? ", or: " : "", text->untrusted.hint);
    return true;
}

/* What can be typed: the name of the backpack, or where no shell would take that as it is, the end
 * of the run's id. */
static void name_run(char *out, size_t size, const vls_flow_ran *ran)
{
    const vls_uuid_string id = vls_uuid_text(&ran->run);

    if (is_word(ran->backpack) && ran->backpack.ptr[0] != '-' && ran->backpack.len <= 64)
        (void)snprintf(out, size, "%.*s", VALISE_STR_ARG(ran->backpack));
    else
        (void)snprintf(out, size, "%s", id.s + strlen(id.s) - 8);
}

/* Between a hint and what follows it; it may be a question. */
static const char *joint(const char *hint)
{
    const size_t len = strlen(hint);

    if (len == 0)
        return "";
    return hint[len - 1] == '?' ? " Then " : "; then ";
}

/* After the hint of the error itself, where there is room: half a command is none. */
static void tell_resume(valise_error *err, const vls_flow_ran *ran, const vls_flow_text *text)
{
    const bool untyped = text && text->file.ptr && !is_word(text->file),
               others = text && text->other_params;
    const valise_str file = text && !untyped ? text->file : (valise_str){NULL, 0};
    const char *with = untyped && others ? ", with its file and the same --param,"
                       : untyped         ? ", with its file,"
                       : others          ? ", with the same --param,"
                                         : "";
    char name[80], said[sizeof(err->hint)];
    int len;

    name_run(name, sizeof(name), ran);
    memcpy(said, err->hint, sizeof(said));
    len = snprintf(said + strlen(said), sizeof(said) - strlen(said),
                   "%s'valise flow resume %s%s%.*s'%s continues the run", joint(err->hint), name,
                   file.len > 0 ? " " : "", VALISE_STR_ARG(file), with);
    if (len > 0 && strlen(err->hint) + (size_t)len < sizeof(said))
        vls_hint(err, "%s", said);
}

/* What its user can do. */
static void explain(valise_error *err, int rc, const vls_flow_ran *ran, const vls_flow_begin *begin,
                    const vls_flow_text *text)
{
    if (!err || (rc == VALISE_E_DENIED && explain_denied(err, text)) || ran->steps == 0)
        return;
    if (!begin->bag->memory)
        tell_resume(err, ran, text);
    else if (!err->hint[0])
        vls_hint(err, "without --ephemeral, 'valise flow resume' could continue from there");
}

int vls_flow_run_job(vls_flow_ran *out, valise_job *job, vls_flow_begin *begin,
                     const vls_flow_text *text, valise_error *err)
{
    valise_flow_result result = VALISE_FLOW_RESULT_INIT;
    int rc;

    valise_job_stage(job, "run", "nodes", 0);
    begin->progress = (valise_progress){pass_progress, job};
    rc = vls_flow_run_begin(&result, begin, err);
    out->run = result.run;
    out->steps = result.steps;
    out->backpack = begin->bag->name;
    if (rc < 0) {
        explain(err, rc, out, begin, text);
        return rc;
    }
    rc = vls_arena_dup(&out->action, &job->arena, valise_str_of(result.action), err);
    if (rc == 0)
        rc = vls_arena_dup(&out->node, &job->arena, valise_str_of(result.node), err);
    if (rc == 0)
        rc = vls_arena_dup(&out->backpack, &job->arena, begin->bag->name, err);
    if (begin->aside)
        out->aside = valise_str_of(begin->aside);
    return rc;
}

/* ---- finding ---- */

typedef struct found {
    vls_flow_run_row run;
    size_t count;
    valise_uuid other;
} found;

static void take(found *f, const vls_flow_run_row *row, bool newest)
{
    if (f->count > 0 && newest) {
        if (row->started >= f->run.started) {
            f->run.id = row->id;
            f->run.started = row->started;
        }
        return;
    }
    if (f->count++ == 0)
        f->run = *row;
    else
        f->other = row->id;
}

/* Is it the end of the id, with or without dashes? */
static bool ends_so(const valise_uuid *id, valise_str text)
{
    vls_uuid_string all = vls_uuid_text(id);
    valise_str whole = valise_str_of(all.s);
    size_t i = whole.len, digits = 0;

    for (size_t k = text.len; k > 0; k--) {
        char c = text.ptr[k - 1];

        if (c == '-')
            continue;
        while (i > 0 && whole.ptr[i - 1] == '-')
            i--;
        if (i == 0 || whole.ptr[--i] != (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c))
            return false;
        digits++;
    }
    return digits >= 4;
}

static int look(found *f, valise_view *view, valise_str text, bool by_name, valise_error *err)
{
    vls_flow_run_row row;
    valise_scan *scan = NULL;
    int rc = valise_view_scan(&scan, view, &vls_flow_runs, NULL, err);

    while (rc == 0 && (rc = valise_scan_next(&row, scan, err)) > 0) {
        rc = 0;
        if (by_name ? vls_str_equal(row.name, text) : ends_so(&row.id, text))
            take(f, &row, by_name);
    }
    valise_scan_close(scan);
    return rc;
}

int vls_flow_find_run(vls_flow_run_row *out, valise_view *view, valise_str text, valise_error *err)
{
    found f = {.count = 0};
    int rc = look(&f, view, text, true, err);

    if (rc == 0 && f.count == 0)
        rc = look(&f, view, text, false, err);
    if (rc < 0)
        return rc;
    if (f.count == 0) {
        (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no run '%s'", vls_text_short(text).s);
        vls_hint(err, "'valise flow runs' lists them");
        return VALISE_E_NOT_FOUND;
    }
    if (f.count > 1) {
        (void)vls_fail(err, VALISE_E_CONFLICT, "'%s' is ambiguous: it may be the run %s or %s",
                       vls_text_short(text).s, vls_uuid_text(&f.run.id).s,
                       vls_uuid_text(&f.other).s);
        return VALISE_E_CONFLICT;
    }
    rc = valise_view_get(&f.run, view, &vls_flow_runs, err);
    if (rc > 0)
        *out = f.run;
    return vls_settle(rc);
}
