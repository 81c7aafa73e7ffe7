/* payload.c -- see payload.h. Which texts in a payload are objects, only the table of the operation
 * says, and the store knows no operations. gc keeps what an entry names for as long as the entry:
 * one that is missing was lost. What was erased is still there as an object without contents. */
#include "kernel/payload.h"

#include "base/hex.h"
#include "base/str.h"
#include "store/refs.h"

typedef struct payloads {
    valise *v;
    vls_finding_fn *fn;
    void *arg;
    int64_t problems;
    vls_txn *txn;
    const vls_entry *entry;
    valise_error *err;
} payloads;

static int check_object(void *arg, const valise_field *field, void *member)
{
    payloads *p = arg;
    const valise_id *id = member; /* the first member of a content */
    valise_error why = VALISE_ERROR_INIT;
    vls_object_info info;
    char place[32], problem[128];
    const vls_finding finding = {place, problem, VLS_REMEDY_RESTORE};
    int rc;

    if (!vls_names_object(field) || vls_id_is_none(id))
        return 0;
    rc = vls_object_stat(&info, p->txn, id, &why);
    if (rc != 0)
        return 0; /* damage is told with the objects */
    (void)snprintf(place, sizeof(place), "log %lld", (long long)p->entry->seq);
    (void)snprintf(problem, sizeof(problem), "there is no object %s, which its payload names",
                   vls_id_hex(id).s);
    p->problems++;
    return p->fn(p->arg, &finding, p->err);
}

/* An entry of an operation that is not here, or has become another, says nothing. */
static int check_entry(payloads *p, vls_arena *arena, valise_error *err)
{
    const vls_entry *entry = p->entry;
    const valise_op *op = vls_registry_op(p->v->registry, entry->type);
    valise_error why = VALISE_ERROR_INIT;
    vls_json value;
    void *args;
    int rc;

    if (!entry->payload.ptr || !op || !op->in ||
        vls_str_equal(entry->type, VLS_STR(VLS_ERASURE_TYPE)))
        return 0;
    args = vls_arena_zalloc(arena, op->in_size);
    if (!args)
        return vls_arena_fail(arena, err);
    rc = vls_json_parse(&value, arena, entry->payload,
                        &(vls_json_limits){.around = VLS_JSON_MAX_AROUND}, &why);
    if (rc == 0)
        rc = vls_fields_decode(args, op->in, op->in_size, value, VLS_FIELD_ACCEPTED, arena, &why);
    if (rc == VALISE_E_NO_MEMORY)
        return vls_fail_memory(err);
    return rc < 0 ? 0 : vls_fields_each_ref(args, op->in, check_object, p);
}

static int check_log(void *arg, valise_view *view, valise_error *err)
{
    payloads *p = arg;
    VLS_AUTO(log_scan) vls_log_scan scan = {0};
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_entry entry;
    int rc = vls_log_scan_open(&scan, view->txn, 0, false, err);

    p->txn = view->txn;
    p->entry = &entry;
    p->err = err;
    vls_arena_init(&arena, p->v->env, VLS_VIEW_MAX_BYTES);
    while (rc == 0 && (rc = vls_log_scan_next(&entry, &scan, &arena, err)) > 0) {
        rc = check_entry(p, &arena, err);
        vls_arena_reset(&arena);
    }
    return rc;
}

int vls_payloads_check(int64_t *problems, valise *v, vls_finding_fn *fn, void *arg,
                       valise_error *err)
{
    payloads p = {.v = v, .fn = fn, .arg = arg};
    valise_error why = VALISE_ERROR_INIT;
    int rc = vls_with_view(v, NULL, check_log, &p, &why);

    *problems += p.problems;
    if (rc == 0 || rc == VALISE_E_CORRUPT)
        return 0; /* a log that cannot be read was told before */
    if (err)
        *err = why;
    return rc;
}
