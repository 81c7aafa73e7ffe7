/* import.c -- a backpack from JSON. */
#include "backpack/import.h"

#include "backpack/look.h"

#include "base/hex.h"
#include "field/field.h"
#include "store/object.h"

/* ---- values ---- */

static int compare_values(const void *a, const void *b)
{
    return vls_id_compare(&((const vls_import_value *)a)->id, &((const vls_import_value *)b)->id);
}

static void sort_values(vls_import *in)
{
    if (in->values.len > 0)
        qsort(in->values.ptr, in->values.len, sizeof(vls_import_value), compare_values);
}

valise_blob *vls_import_find(const vls_import *in, const valise_id *id)
{
    vls_import_value key = {.id = *id};
    const vls_import_value *found =
        in->values.len == 0
            ? NULL
            : bsearch(&key, in->values.ptr, in->values.len, sizeof(key), compare_values);

    return found ? found->blob : NULL;
}

int vls_import_add(valise_id *id, int64_t *size, vls_import *in, vls_json v, valise_error *err)
{
    VLS_AUTO(buf) vls_buf text = {0};
    vls_import_value value = {.blob = NULL};
    int rc;

    vls_buf_init(&text, in->env, VLS_JSON_MAX_BYTES);
    rc = vls_json_write(&text, v, err);
    if (rc == 0)
        rc = vls_object_id(&value.id, "value", vls_buf_str(&text), err);
    if (rc == 0)
        rc = vls_blob_new(&value.blob, in->env, vls_buf_str(&text), err);
    if (rc < 0)
        return rc;
    if (!vls_vec_push(&in->values, in->env, value)) {
        valise_blob_unref(value.blob);
        return vls_fail_memory(err);
    }
    *id = value.id;
    *size = (int64_t)text.len;
    return 0;
}

static int read_values(vls_import *in, vls_json values, valise_error *err)
{
    int rc = 0;

    if (values.type != VLS_JSON_OBJECT) {
        rc = vls_fail(err, VALISE_E_INVALID, "must be an object, not %s",
                      vls_json_type_name(values));
    }
    for (uint32_t i = 0; rc == 0 && i < values.len; i++) {
        valise_str name = vls_json_str(values.members[i].key);
        valise_id wanted, id;
        int64_t size;
        rc = vls_id_parse(&wanted, name, err);
        if (rc == 0)
            rc = vls_import_add(&id, &size, in, values.members[i].value, err);
        if (rc == 0 && !vls_id_equal(&id, &wanted))
            rc = vls_fail(err, VALISE_E_INVALID, "the id of the value is %s", vls_id_hex(&id).s);
        if (rc < 0)
            vls_error_prepend(err, "%.*s", VALISE_STR_ARG(vls_str_head(name, 64)));
    }
    if (rc < 0)
        vls_error_prepend(err, "values");
    return rc;
}

/* ---- the document ---- */

static int check_format(vls_json v, valise_error *err)
{
    const vls_json *format = vls_json_get(v, VLS_STR("format"));

    if (format->type == VLS_JSON_STRING &&
        vls_str_equal(vls_json_str(*format), VLS_STR(VLS_DOCUMENT_FORMAT)))
        return 0;
    (void)vls_fail(err, VALISE_E_UNSUPPORTED, "this is not a backpack of format '%s'",
                   VLS_DOCUMENT_FORMAT);
    vls_error_prepend(err, "format");
    return VALISE_E_UNSUPPORTED;
}

/* All but `values`, which has no table: *values, or NULL. */
static int decode(vls_document *doc, const vls_json **values, vls_json v, vls_arena *arena,
                  valise_error *err)
{
    vls_member *members = vls_arena_array(arena, v.len + 1, sizeof(*members));
    vls_json rest = v;

    if (!members)
        return vls_arena_fail(arena, err);
    *values = vls_json_get(v, VLS_STR("values"));
    rest.len = 0;
    for (uint32_t i = 0; i < v.len; i++) {
        if (&v.members[i].value != *values)
            members[rest.len++] = v.members[i];
    }
    rest.members = members;
    return vls_fields_decode(doc, vls_document_fields, sizeof(*doc), rest, VLS_FIELD_INPUT, arena,
                             err);
}

static int parse(vls_json *out, valise_str json, vls_arena *arena, valise_error *err)
{
    int rc = vls_json_parse(out, arena, json, NULL, err);

    if (rc == 0 && out->type != VLS_JSON_OBJECT)
        rc = vls_fail(err, VALISE_E_INVALID, "a backpack is an object, this is %s",
                      vls_json_type_name(*out));
    return rc;
}

static int read_document(vls_import *in, vls_json v, valise_error *err)
{
    const vls_json *values = NULL;
    int rc = check_format(v, err);

    if (rc == 0)
        rc = decode(&in->doc, &values, v, &in->arena, err);
    if (rc == 0 && in->doc.partial) {
        rc = vls_fail(err, VALISE_E_INVALID,
                      "this is only what one node may see: commits are missing");
        vls_hint(err, "let the owner export the backpack");
    }
    if (rc == 0 && !values)
        rc = vls_fail(err, VALISE_E_INVALID, "the member 'values' is missing");
    if (rc == 0)
        rc = read_values(in, *values, err);
    return rc;
}

int vls_bag_import_head(vls_ledger_head *out, valise_str json, vls_arena *arena, valise_error *err)
{
    const vls_json *values = NULL;
    vls_ledger_head head = {.edge = 0};
    vls_document doc = {0};
    vls_json v;
    int rc = parse(&v, json, arena, err);

    if (rc == 0 && !vls_json_get(v, VLS_STR("format"))) {
        *out = head;
        return 0;
    }
    if (rc == 0)
        rc = check_format(v, err);
    if (rc == 0)
        rc = decode(&doc, &values, v, arena, err);
    if (rc != 0 || !doc.options)
        return rc;
    *out = (vls_ledger_head){.id = doc.id,
                             .name = doc.name,
                             .lenient = doc.options->lenient,
                             .taint = doc.options->taint,
                             .sticky = doc.options->sticky,
                             .max_commits = doc.options->max_commits,
                             .max_bytes = doc.options->max_bytes};
    if (doc.origin) {
        out->origin = doc.origin->id;
        out->origin_seq = doc.origin->seq;
    }
    return 0;
}

/* ---- filling ---- */

static int put_row(const vls_ledger *ledger, const valise_coll *coll, const void *row,
                   const valise_uuid *id, valise_error *err)
{
    vls_any_row copy;

    memcpy(&copy, row, coll->row_size);
    copy.backpack = *id;
    if (coll == &vls_bag_quarantines && copy.quarantine.item > 0)
        copy.quarantine.item_backpack = *id;
    if (coll == &vls_bag_runs)
        copy.run.end = VLS_MAX(copy.run.end, 0); /* not given: VALISE_NONE */
    return ledger->ops->row_put(ledger->self, coll, &copy, err);
}

static int put_rows(const vls_ledger *ledger, const valise_coll *coll, valise_list list,
                    const valise_uuid *id, valise_error *err)
{
    const void *const *rows = list.items;
    int rc = 0;

    for (size_t i = 0; i < list.count && rc == 0; i++)
        rc = put_row(ledger, coll, rows[i], id, err);
    return rc;
}

/* Each entry of the quarantine comes right behind its commit: it holds that one and the item, which
 * nothing else does once they lie before the edge. *entry: the next one. */
static int append(size_t *entry, const vls_import *in, const vls_ledger *ledger,
                  const valise_uuid *id, valise_list commits, valise_error *err)
{
    const valise_commit *const *list = commits.items;
    const vls_quarantine_row *const *entries = in->doc.quarantine.items;
    int rc = 0;

    for (size_t i = 0; i < commits.count && rc == 0; i++) {
        valise_commit commit = *list[i];
        commit.outcome = VALISE_NONE;
        rc = ledger->ops->append(ledger->self, &commit, vls_import_find(in, &commit.value), err);
        for (; rc == 0 && *entry < in->doc.quarantine.count && entries[*entry]->seq <= commit.seq;
             ++*entry)
            rc = put_row(ledger, &vls_bag_quarantines, entries[*entry], id, err);
    }
    return rc;
}

static int fill(const vls_import *in, const vls_ledger *ledger, valise_error *err)
{
    const struct {
        const valise_coll *coll;
        valise_list rows;
    } others[] = {{&vls_bag_checkpoints, in->doc.checkpoints},
                  {&vls_bag_merges, in->doc.merges},
                  {&vls_bag_permissions, in->doc.permissions},
                  {&vls_bag_rules, in->doc.rules},
                  {&vls_bag_runs, in->doc.runs}};
    vls_ledger_head head;
    size_t entry = 0;
    int rc = ledger->ops->head(&head, ledger->self, err);

    if (rc == 0 && (head.last > 0 || head.edge > 0))
        rc = vls_fail(err, VALISE_E_EXISTS, "the backpack '%.*s' is not empty",
                      VALISE_STR_ARG(head.name));
    if (rc == 0)
        rc = append(&entry, in, ledger, &head.id, in->doc.items, err);
    if (rc == 0 && in->doc.edge > 0)
        rc = ledger->ops->set_edge(ledger->self, in->doc.edge, err);
    if (rc == 0)
        rc = append(&entry, in, ledger, &head.id, in->doc.history, err);
    for (size_t i = 0; i < VLS_COUNT(others) && rc == 0; i++)
        rc = put_rows(ledger, others[i].coll, others[i].rows, &head.id, err);
    return rc;
}

int vls_bag_import(const vls_ledger *ledger, valise_str json, int64_t now, const valise_env *env,
                   valise_error *err)
{
    vls_import in = {.env = env, .now = now};
    vls_json v;
    int rc;

    vls_arena_init(&in.arena, env, SIZE_MAX);
    rc = parse(&v, json, &in.arena, err);
    if (rc == 0)
        rc = vls_json_get(v, VLS_STR("format")) ? read_document(&in, v, err)
                                                : vls_import_seed(&in, v, err);
    sort_values(&in);
    if (rc == 0)
        rc = vls_import_check(&in, err);
    if (rc == 0) {
        ledger->ops->enter(ledger->self);
        rc = fill(&in, ledger, err);
        ledger->ops->leave(ledger->self);
    }
    for (size_t i = 0; i < in.values.len; i++)
        valise_blob_unref(in.values.ptr[i].blob);
    vls_vec_release(&in.values, env);
    vls_arena_release(&in.arena);
    return rc;
}
