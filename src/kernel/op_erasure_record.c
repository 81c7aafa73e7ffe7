/* op_erasure_record.c -- erasure:record, the command behind `valise erase`. */
#include "base/map.h"
#include "base/str.h"
#include "kernel/erase.h"
#include "store/place.h"

static const valise_field place_item = VALISE_FIELD_AS_WITH(
    vls_erase_args, places, NULL, STR, 0, NULL, .min = 1, .max = VLS_PLACE_MAX_BYTES);

static const valise_field source_item = {
    .type = VALISE_T_BYTES, .min = sizeof(valise_id), .max = sizeof(valise_id)};

static const valise_field record_in[] = {
    VALISE_FIELD_WITH(vls_erase_args, places, LIST, VALISE_REQUIRED, "What is erased.",
                      .more = &place_item, .max = VLS_ERASE_MAX_PLACES),
    VALISE_FIELD(vls_erase_args, content, ID, VALISE_NULLABLE,
                 "Only this object or blob of theirs; without places when nobody holds it."),
    VALISE_FIELD_WITH(vls_erase_args, reason, STR, 0, "The reason.", .max = 1024),
    VALISE_FIELD_WITH(vls_erase_args, sources, LIST, 0, "What was used of these goes too.",
                      .more = &source_item, .max = VLS_ERASE_MAX_PLACES),
    VALISE_FIELD_END,
};

static const valise_field record_out[] = {
    VALISE_FIELD_WITH(vls_erase_result, others, LIST, 0, "Other places with the same contents.",
                      .more = &place_item),
    VALISE_FIELD(vls_erase_result, more, BOOL, 0, "Rows about the blob are left."),
    VALISE_FIELD_END,
};

/* ---- other places ---- */

typedef struct others {
    valise_view *view;
    valise_str *names;
    size_t count;
} others;

static bool is_known(const others *o, valise_str name)
{
    for (size_t i = 0; i < o->count; i++) {
        if (vls_str_equal(o->names[i], name))
            return true;
    }
    return false;
}

static int add_other(void *arg, const vls_ref_site *site, const valise_id *id, valise_error *err)
{
    others *o = arg;
    valise_cell key[VALISE_MAX_COLUMNS];
    VLS_AUTO(buf) vls_buf name = {0};
    int rc;

    (void)id;
    if (o->count == VLS_ERASE_MAX_OTHERS)
        return 0;
    vls_buf_init(&name, o->view->arena.env, VLS_VIEW_MAX_BYTES);
    if (site->coll) {
        rc = vls_key_read(key, site->coll->key_count, site->key, &o->view->arena, err);
        if (rc < 0)
            return rc;
        vls_place_write(&name, site->coll, key);
    } else {
        vls_buf_printf(&name, "log/%lld", (long long)site->seq);
    }
    rc = vls_buf_check(&name, err);
    if (rc < 0 || is_known(o, vls_buf_str(&name)))
        return rc;
    rc = vls_arena_dup(&o->names[o->count], &o->view->arena, vls_buf_str(&name), err);
    if (rc == 0)
        o->count++;
    return rc;
}

static int find_others(vls_erase_result *result, valise_view *view, const vls_erase_place *places,
                       size_t count, valise_error *err)
{
    others o = {.view = view};
    int rc;

    o.names = vls_arena_array(&view->arena, VLS_ERASE_MAX_OTHERS, sizeof(*o.names));
    if (!o.names)
        return vls_arena_fail(&view->arena, err);
    rc = vls_erase_others(view, places, count, add_other, &o, err);
    result->others = (valise_list){o.names, o.count};
    return rc;
}

/* ---- deciding ---- */

static int mark(valise_view *view, valise_str place, const vls_erase_args *args, valise_error *err)
{
    vls_erasure record = {.place = place,
                          .seq = view->stamp.seq,
                          .time = view->stamp.time,
                          .actor = view->stamp.actor,
                          .reason = args->reason};

    return valise_view_put(view, &vls_erasures, &record, err);
}

static int erase_place(vls_erase_place *out, valise_view *view, valise_str text,
                       const vls_erase_args *args, valise_error *err)
{
    valise_cell key[VALISE_MAX_COLUMNS];
    const vls_coll *coll;
    int rc = vls_place_parse(&coll, key, view, text, err);

    if (rc == 0 && coll->foreign)
        return vls_fail(err, VALISE_E_UNSUPPORTED,
                        "collection %s belongs to an extension that is not loaded",
                        coll->desc->name);
    if (rc == 0)
        rc = vls_erase_decide(out, view, coll, key, vls_erase_only(args), err);
    return rc < 0 ? rc : mark(view, text, args, err);
}

/* What was erased by its id is marked by it too: there may be no place. What is known of a blob and
 * who holds it goes with it. */
static int erase_content(vls_erase_result *result, valise_view *view, const vls_erase_args *args,
                         valise_error *err)
{
    vls_object_place place = vls_object_place_of(&args->content);
    int rc = mark(view, valise_str_of(place.s), args, err);

    return rc < 0 ? rc
                  : vls_erase_about(&result->more, view, &args->content, VLS_ERASE_MAX_ABOUT, err);
}

static int decide(valise_view *view, const void *in, void *out, valise_error *err)
{
    const vls_erase_args *args = in;
    const valise_str *texts = args->places.items;
    size_t count = args->places.count;
    vls_erase_place *places = vls_arena_array(&view->arena, count, sizeof(*places));
    int rc = 0;

    if (!places)
        return vls_arena_fail(&view->arena, err);
    if (count == 0 && !vls_erase_only(args))
        return vls_fail(err, VALISE_E_INVALID,
                        "there is nothing to erase: neither a place nor a content is given");
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = erase_place(&places[i], view, texts[i], args, err);
    if (rc == 0 && vls_erase_only(args))
        return erase_content(out, view, args, err); /* no other place has it then */
    return rc < 0 ? rc : find_others(out, view, places, count, err);
}

const valise_op vls_op_kernel_erasure_record = {
    .size = sizeof(valise_op),
    .name = VLS_ERASURE_TYPE,
    .brief = "Put rows without their contents, and record who erased them and why.",
    .kind = VALISE_COMMAND,
    .flags = VALISE_OP_INTERNAL | VALISE_OP_DESTRUCTIVE,
    .needs = "admin",
    .in = record_in,
    .in_size = sizeof(vls_erase_args),
    .out = record_out,
    .out_size = sizeof(vls_erase_result),
    .decide = decide,
    .example = "{\"places\":[\"notes.note/milk\"],\"reason\":\"a leaked key\"}",
};
