/* op_taint.c -- backpack:taint, what a node has read where nothing could be written. */
#include "backpack/ops.h"

static const valise_field mark_fields[] = {
    VALISE_FIELD_AS_WITH(vls_taint_row, source.tag, "tag", STR, VALISE_REQUIRED, "The tag.",
                         .min = 1, .max = VLS_BAG_TAG_MAX),
    VALISE_FIELD_AS(vls_taint_row, source.seq, "source", INT, VALISE_REQUIRED,
                    "The commit whose item had it."),
    VALISE_FIELD_AS(vls_taint_row, source.backpack, "sourceBackpack", UUID, VALISE_NULLABLE,
                    "The backpack of that commit, if it is another one."),
    VALISE_FIELD(vls_taint_row, since, INT, VALISE_REQUIRED, "The newest commit at that time."),
    VALISE_FIELD_END,
};
static const valise_struct mark_struct = {sizeof(vls_taint_row), mark_fields};
static const valise_field mark_item = {
    .name = "mark", .type = VALISE_T_STRUCT, .more = &mark_struct};

static const valise_field taint_in[] = {
    VLS_WHO_FIELDS(vls_taint_args),
    VALISE_FIELD_WITH(vls_taint_args, marks, LIST, VALISE_REQUIRED, "What it has read.",
                      .more = &mark_item, .max = VLS_BAG_TAGS_MAX),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_taint_args *args = in;
    const vls_taint_row *const *marks = args->marks.items;
    VLS_AUTO(use) vls_use use = {0};
    const vls_ledger *ledger = &use.ledger;
    vls_ledger_head head;
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    if (rc < 0)
        return rc;
    ledger->ops->enter(ledger->self);
    rc = ledger->ops->head(&head, ledger->self, err);
    for (size_t i = 0; i < args->marks.count && rc == 0; i++) {
        vls_taint_row row = *marks[i];
        row.backpack = head.id;
        row.node_id = args->who.node;
        row.since = vls_mark_since(row.since, head.last);
        rc = ledger->ops->row_put(ledger->self, &vls_bag_taints, &row, err);
    }
    ledger->ops->leave(ledger->self);
    return rc;
}

const valise_op vls_op_backpack_taint = {
    .size = sizeof(valise_op),
    .name = "backpack:taint",
    .brief = "Remember which sticky tags a node has read.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL,
    .needs = "backpack:read",
    .in = taint_in,
    .in_size = sizeof(vls_taint_args),
    .decide = decide,
    .example = "{\"backpack\":\"run-1\",\"node\":\"chat\",\"marks\":[]}",
};

int vls_keep_marks(valise *v, vls_scope *scope, const vls_who *who, const valise_call *call,
                   valise_error *err)
{
    VLS_AUTO(arena) vls_arena arena = {0};
    vls_taint_args args = {.who = {.backpack = who->backpack, .node = who->node, .id = who->id}};
    const vls_taint_row **list;
    valise_list marks;
    int rc;

    vls_arena_init(&arena, vls_scope_env(scope), (size_t)1 << 20);
    rc = vls_scope_new_marks(&marks, scope, &arena, err);
    if (rc < 0 || marks.count == 0)
        return rc;
    list = vls_arena_array(&arena, marks.count, sizeof(*list));
    if (!list)
        return vls_arena_fail(&arena, err);
    for (size_t i = 0; i < marks.count; i++)
        list[i] = (const vls_taint_row *)marks.items + i;
    args.marks = (valise_list){list, marks.count};
    rc = vls_run_own(v, &vls_op_backpack_taint, &args, NULL, NULL, call, err);
    if (rc == 0)
        vls_scope_marks_kept(scope, marks.count);
    return rc;
}
