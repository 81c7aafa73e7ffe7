/* op_access_log.c -- backpack:access-log, what a node read or wrote. */
#include "backpack/use.h"

typedef struct access_args {
    vls_who who;
    valise_str by;
    int64_t access;
} access_args;

enum { READ, WRITE };
static const char *const accesses[] = {"read", "write", NULL};

static const valise_field access_in[] = {
    VLS_WHO_FIELDS(access_args),
    VALISE_FIELD_WITH(access_args, by, STR, VALISE_POSITIONAL, "The node (default: all).",
                      .max = VLS_BAG_NODE_MAX, .ref = VLS_REF_NODE),
    VALISE_FIELD_WITH(access_args, access, ENUM, 0, "Which accesses.", .more = accesses),
    VALISE_FIELD_END,
};

static int query(valise_view *view, const void *in, void *out, valise_error *err)
{
    const access_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    int rc = vls_use_begin(&use, view, &args->who, err);

    (void)out;
    return rc < 0 ? rc
                  : vls_bag_access_log(&use.ledger, use.scope, args->by, args->access == WRITE,
                                       vls_use_emit_commit, view, err);
}

const valise_op vls_op_backpack_access_log = {
    .size = sizeof(valise_op),
    .name = "backpack:access-log",
    .brief = "Show what a node read or wrote, and with what outcome.",
    .kind = VALISE_QUERY,
    .flags = VALISE_OP_LIST,
    .needs = "backpack:read",
    .in = access_in,
    .in_size = sizeof(access_args),
    .out = vls_commit_fields,
    .out_size = sizeof(valise_commit),
    .query = query,
    .example = "{\"backpack\":\"run-1\",\"by\":\"chat-1\",\"access\":\"read\"}",
};
