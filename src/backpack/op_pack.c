/* op_pack.c -- backpack:pack, put a value under a key. */
#include "backpack/ops.h"

#define NAMES(member, text)                                                                        \
    VALISE_FIELD_WITH(vls_op_pack_args, member, LIST, VALISE_NULLABLE, text,                       \
                      .more = &vls_name_item, .max = VLS_BAG_LIST_MAX)

static const valise_field pack_in[] = {
    VLS_WHO_FIELDS(vls_op_pack_args),
    VALISE_FIELD_WITH(vls_op_pack_args, key, STR, VALISE_REQUIRED | VALISE_POSITIONAL,
                      "Key of the item.", .min = 1, .max = VLS_BAG_KEY_MAX, .ref = VLS_REF_KEY),
    VALISE_FIELD(vls_op_pack_args, value, VALUE, VALISE_REQUIRED | VALISE_POSITIONAL | VALISE_PLAIN,
                 "Any JSON value."),
    VLS_LABEL_FIELDS(vls_op_pack_args),
    VALISE_FIELD_AS_WITH(vls_op_pack_args, who.namespace_name, "namespace", STR, VALISE_NULLABLE,
                         "Namespace of the item, such as sales.chat.",
                         .max = VLS_BAG_NAMESPACE_MAX),
    VALISE_FIELD_AS_WITH(vls_op_pack_args, tags, "tags", LIST, VALISE_NULLABLE,
                         "Tags, such as pii (default: the item keeps its tags).",
                         .more = &vls_name_item, .max = VLS_BAG_TAGS_MAX),
    NAMES(read, "Only these nodes may read it; an empty list allows all."),
    NAMES(write, "Only these nodes may write it; an empty list allows all."),
    NAMES(declassify, "Sticky tags to leave out."),
    VLS_TAINTS_FIELD(vls_op_pack_args),
    VALISE_FIELD_END,
};

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_op_pack_args *args = in;
    VLS_AUTO(use) vls_use use = {0};
    vls_pack_args pack = {.key = args->key,
                          .value = args->value,
                          .node_id = args->who.node_id,
                          .node_name = args->who.node_name,
                          .namespace_name = args->who.namespace_name,
                          .tags = args->tags,
                          .read = args->read,
                          .write = args->write,
                          .declassify = args->declassify,
                          .taints = args->taints,
                          .expect = VALISE_NONE};
    vls_done done = {.denied = false};
    int rc = vls_use_begin_new(&use, view, &args->who, err);

    if (rc == 0 && args->declassify.count > 0)
        rc = vls_use_allows(&use, &args->who, "backpack:declassify", err);
    if (rc < 0)
        return rc;
    use.call.may_declassify = true; /* else it would not be here */
    pack.expect = vls_use_expected(&use);
    rc = vls_bag_pack(&done, &use.ledger, use.scope, &pack, &use.call, err);
    return vls_use_done(out, &use, rc, &done, args->key, VALISE_ACTION_PACK);
}

const valise_op vls_op_backpack_pack = {
    .size = sizeof(valise_op),
    .name = "backpack:pack",
    .brief = "Put a value into a backpack.",
    .kind = VALISE_COMMAND,
    .needs = "backpack:write",
    .in = pack_in,
    .in_size = sizeof(vls_op_pack_args),
    .out = vls_packed_fields,
    .out_size = sizeof(valise_packed),
    .current = vls_use_current,
    .expect_help = VLS_VERSION_HELP,
    .decide = decide,
    .apart = vls_use_is_apart,
    .example = "{\"backpack\":\"run-1\",\"key\":\"query\",\"value\":\"What is AI?\"}",
};
