/* build.c -- one build, from the request to the manifest; and a manifest, built again. [P8] */
#include <valise/sys/extension.h>

#include "backpack/use.h"
#include "blob/hold.h"
#include "bus/bus.h"
#include "context/place.h"
#include "prompt/manifest.h"
#include "prompt/manifest_impl.h"
#include "prompt/stage.h"
#include "store/view.h"

/* ---- texts ---- */

/* What a build asks of who builds: to read this backpack, and to act as this node. What the node
 * might read was asked then, and an item that was sent was sent: what it may read now does not
 * count. A part that says it is of another backpack than the request is not believed. */
static int may_read_item(valise_view *view, const vls_part *part, valise_error *err)
{
    const vls_bag_reader *as = &part->as;
    const vls_who who = {.backpack = as->backpack, .node = as->node};
    const vls_use use = {.view = view};
    int rc;

    if (!as->backpack.ptr || part->name.len <= as->backpack.len ||
        !vls_str_starts(part->name, as->backpack) || part->name.ptr[as->backpack.len] != '/')
        return vls_fail(err, VALISE_E_DENIED, "the author of this item is unknown");
    rc = vls_use_allows(&use, &who, "backpack:read", err);
    return rc < 0 || as->node.len == 0 ? rc : vls_use_allows(&use, &who, "backpack:as-node", err);
}

int vls_part_may_read(valise_view *view, const vls_part *part, valise_error *err)
{
    static const char *const needs[] = {
        "session:read", "role:read", "preference:read", "memory:read", NULL, NULL, NULL, NULL};
    valise_error why = VALISE_ERROR_INIT;
    int rc = 0;

    if (part->kind == VLS_PART_FRAME)
        return vls_path_readable(view, part->name, vls_frame_part_type(part), err);
    if (part->kind == VLS_PART_ITEM)
        rc = may_read_item(view, part, &why);
    else if (needs[part->kind])
        rc = valise_view_allows(view, needs[part->kind], NULL, &why);
    if (rc == VALISE_E_DENIED)
        return 0;
    if (rc < 0 && err)
        *err = why;
    return rc < 0 ? rc : 1;
}

/* An entry that is a blob has no text: is the blob there? 1, or 0. */
static int has_blob(valise_str *out, valise_view *view, const vls_part *part, valise_error *err)
{
    const valise *v = vls_view_bus(view);
    bool there = true;
    int rc = v && v->blobs ? vls_blobs_exists(&there, v->blobs, &part->blob, err) : 0;

    *out = VLS_STR("");
    return rc < 0 ? rc : there;
}

/* What a blob says that stands in the prompt as text: who may not read blobs does not get it. */
static int read_file(valise_str *out, const char **why, valise_view *view, const valise_id *blob,
                     valise_error *err)
{
    valise_error no = VALISE_ERROR_INIT;
    vls_blob_record record;
    int rc = valise_view_allows(view, "blob:read", NULL, &no);

    *why = rc == VALISE_E_DENIED ? "denied" : "erased";
    if (rc < 0 && rc != VALISE_E_DENIED && err)
        *err = no;
    if (rc < 0)
        return rc == VALISE_E_DENIED ? 0 : rc;
    rc = vls_blob_record_of(&record, view, blob, err);
    return rc <= 0 ? rc : vls_file_text(out, view, blob, err);
}

typedef struct reading {
    valise_view *view;
    size_t denied;
} reading;

/* The bytes of a part's object, for who may read its source. */
static int read_part(valise_str *out, const char **why, void *arg, const vls_part *part,
                     const valise_id *blob, valise_error *err)
{
    reading *r = arg;
    vls_object_info info = {0};
    int rc = vls_part_may_read(r->view, part, err);

    *why = "denied";
    r->denied += rc == 0;
    if (rc <= 0)
        return rc;
    *why = part->kept ? "erased" : "not kept";
    if (!part->kept)
        return 0;
    if (blob) {
        rc = read_file(out, why, r->view, blob, err);
        r->denied += rc == 0 && strcmp(*why, "denied") == 0;
        return rc;
    }
    if (!vls_id_is_none(&part->blob))
        return has_blob(out, r->view, part, err);
    rc = r->view->txn ? vls_object_stat(&info, r->view->txn, &part->id, err) : 0;
    if (rc <= 0 || info.erased)
        return vls_settle(rc);
    rc = valise_view_object(out, r->view, &part->id, err);
    return rc < 0 ? rc : 1;
}

/* ---- forward ---- */

static int write_neutral(vls_wire *wire, vls_plan *plan, valise_view *view,
                         const vls_adapter *adapter, const vls_neutral *neutral, size_t about,
                         valise_str model, const vls_wire_write *how, valise_error *err)
{
    int rc = vls_plan_make(plan, &view->arena, adapter, neutral, model, err);

    if (rc < 0)
        return rc;
    vls_wire_init(wire, view->arena.env);
    (void)vls_buf_reserve(&wire->text, about);
    rc = adapter->write(wire, plan, how, err);
    return rc < 0 ? rc : vls_wire_check(wire, err);
}

/* Neutral and wire of what was rendered; the second will be about as long as the first. */
static int write_wire(vls_wire *wire, vls_plan *plan, valise_view *view, const vls_adapter *adapter,
                      const vls_rendered *rendered, valise_str model, const vls_wire_write *how,
                      valise_error *err)
{
    vls_neutral neutral = {0};
    int rc = vls_neutral_of(&neutral, rendered->all, err);

    return rc < 0 ? rc
                  : write_neutral(wire, plan, view, adapter, &neutral, rendered->bytes, model, how,
                                  err);
}

static int render(vls_rendered *out, valise_view *view, const vls_parts *parts, reading *r,
                  bool no_text, valise_error *err)
{
    vls_render_how how = {.max_bytes = VLS_NEUTRAL_MAX_BYTES, .no_text = no_text};

    return vls_render(out, &view->arena, parts->ptr, parts->len, read_part, r, &how, err);
}

/* Why it was these parts. */
static int describe_why(vls_built *b, valise_view *view, const vls_request *request,
                        valise_error *err)
{
    const valise_retriever *retriever = NULL;
    vls_manifest *m = &b->manifest;
    int rc = vls_retriever_find(&retriever, view, request->retriever, err);

    if (rc < 0)
        return rc;
    m->scale = request->scale;
    m->retriever = valise_str_of(retriever ? retriever->name : VLS_RETRIEVER_OWN);
    m->retriever_version = retriever ? retriever->version : VLS_RETRIEVER_OWN_VERSION;
    m->trimmed = b->choice.trimmed;
    m->request = request->asked;
    m->budget = b->choice.budget;
    return 0;
}

static int describe(vls_built *b, valise_view *view, const vls_request *request, valise_error *err)
{
    vls_manifest *m = &b->manifest;
    vls_turn_ref_text head = vls_turn_ref_write(&request->head.ref);
    int rc = describe_why(b, view, request, err);

    vls_wire_hash(&m->wire, &b->wire);
    m->neutral = b->rendered.hash;
    m->builder = VLS_BUILDER_VERSION;
    m->adapter = valise_str_of(request->adapter->name);
    m->adapter_version = request->adapter->version;
    m->model = request->model;
    m->neutral_bytes = (int64_t)b->rendered.bytes;
    m->wire_bytes = vls_wire_size(&b->wire);
    m->session = request->session.id;
    m->actor = valise_view_stamp(view)->actor;
    m->seq = view->at;
    m->time = request->time;
    m->how = request->how;
    m->context = b->rendered.context;
    m->history = b->rendered.history;
    memcpy(&m->parts, &b->choice.parts, sizeof(m->parts));
    memcpy(&m->spans, &b->rendered.spans, sizeof(m->spans));
    memcpy(&m->left, &b->choice.left, sizeof(m->left));
    memcpy(&m->repairs, &b->plan.repairs, sizeof(m->repairs));
    if (rc == 0 && request->head.ref.version > 0)
        rc = vls_arena_dup(&m->head, &view->arena, valise_str_of(head.s), err);
    vls_chain(m->chain, &m->parts);
    return rc;
}

int vls_build(vls_built *out, valise_view *view, const vls_request *request, valise_error *err)
{
    vls_built made = {0};
    reading r = {.view = view};
    int rc = vls_choose(&made.choice, view, request, err);

    if (rc == 0)
        rc = render(&made.rendered, view, &made.choice.parts, &r, request->no_text, err);
    if (rc == 0)
        rc = write_wire(&made.wire, &made.plan, view, request->adapter, &made.rendered,
                        request->model, &request->how, err);
    if (rc == 0)
        rc = describe(&made, view, request, err);
    if (rc < 0) {
        vls_built_release(&made);
        return rc;
    }
    *out = made;
    return 0;
}

/* With something short in the place of all messages. */
static int write_without(valise_view *view, const vls_request *request, vls_built *made,
                         valise_error *err)
{
    const valise_str text =
        VLS_STR("[{\"blocks\":[{\"text\":\"?\",\"type\":\"text\"}],\"role\":\"user\"}]");
    vls_neutral neutral = {0};
    int rc = vls_neutral_of(&neutral, made->rendered.all, err);

    if (rc == 0)
        rc = vls_json_parse(&neutral.messages, &view->arena, text, NULL, err);
    return rc < 0 ? rc
                  : write_neutral(&made->wire, &made->plan, view, request->adapter, &neutral,
                                  made->rendered.bytes, request->model, &request->how, err);
}

int vls_build_try(valise_view *view, const vls_request *request, valise_error *err)
{
    vls_built made = {0};
    reading r = {.view = view};
    int rc = vls_choose(&made.choice, view, request, err);

    if (rc == 0)
        rc = render(&made.rendered, view, &made.choice.parts, &r, true, err);
    if (rc == 0)
        rc = write_without(view, request, &made, err);
    vls_built_release(&made);
    return rc;
}

void vls_built_release(vls_built *built)
{
    vls_wire_release(&built->wire);
    vls_plan_release(&built->plan);
    vls_rendered_release(&built->rendered);
    *built = (vls_built){0}; /* the manifest borrows from all of these, and from the arena */
}

/* ---- again ---- */

int vls_rebuild(vls_rebuilt *out, valise_view *view, const vls_manifest *manifest,
                valise_error *err)
{
    vls_rebuilt made = {0};
    reading r = {.view = view};
    valise_id wire = {{0}};
    const vls_adapter *adapter = NULL;
    int rc = vls_adapter_get(&adapter, manifest->adapter, err);

    if (rc == 0)
        rc = render(&made.rendered, view, &manifest->parts, &r, false, err);
    if (rc == 0)
        rc = write_wire(&made.wire, &made.plan, view, adapter, &made.rendered, manifest->model,
                        &manifest->how, err);
    if (rc < 0) {
        vls_rebuilt_release(&made);
        return rc;
    }
    vls_wire_hash(&wire, &made.wire);
    made.neutral_same = vls_id_equal(&made.rendered.hash, &manifest->neutral);
    made.wire_same = vls_id_equal(&wire, &manifest->wire);
    made.denied = r.denied;
    made.erased = made.rendered.missing - r.denied;
    *out = made;
    return 0;
}

void vls_rebuilt_release(vls_rebuilt *rebuilt)
{
    vls_wire_release(&rebuilt->wire);
    vls_plan_release(&rebuilt->plan);
    vls_rendered_release(&rebuilt->rendered);
    *rebuilt = (vls_rebuilt){0};
}
