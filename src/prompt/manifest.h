/* manifest.h -- how a prompt came to be, without a text of its own. [P8]
 *
 *     {"version":1, "builder":1,
 *      "adapter":"anthropic", "adapterVersion":1, "model":..., "scale":16,
 *      "retriever":"bm25", "retrieverVersion":1,
 *      "neutral":SHA256, "neutralBytes":n, "wire":SHA256, "wireBytes":n,
 *      "session":ID, "head":REF, "actor":..., "seq":n, "time":n, "request":{...}, "how":n,
 *      "budget":{...}, "names":[...], "parts":[[...], ...], "spans":[[length, part], ...],
 *      "left":[...], "trimmed":n, "repairs":[...], "chain":[SHA256, ...],
 *      "context":n, "history":n}
 *
 * docs/formats.md, "Manifests of prompts", has all of it. Parts are arrays, texts that repeat are
 * numbers into `names`. Spans are lengths: each begins where the one before ends.
 *
 * Rendering needs parts, adapter, model and `how`, and nothing that could change: scale, retriever,
 * request and budget say why it was these parts.
 *
 * Threads: single. */
#ifndef VLS_PROMPT_MANIFEST_H
#define VLS_PROMPT_MANIFEST_H

#include "prompt/build.h"

#define VLS_MANIFEST_VERSION 1
#define VLS_BUILDER_VERSION 1 /* counts changes of what vls_render makes of the same parts */

typedef struct vls_manifest {
    int64_t builder, adapter_version;
    valise_str adapter, model; /* model: ptr NULL */
    valise_id neutral, wire;
    int64_t neutral_bytes, wire_bytes;
    valise_uuid session;
    valise_str head; /* TurnRef; ptr NULL: nothing was said */
    valise_str actor;
    int64_t seq, time;
    valise_str request;   /* JSON: the resolved request */
    vls_bag_reader as;    /* out of the request */
    vls_wire_write how;   /* how the body was written */
    int64_t scale;        /* what the model counted for one token of ours then, in sixteenths */
    valise_str retriever; /* who ranked entries */
    int64_t retriever_version;
    int64_t trimmed; /* turns that did not fit */
    vls_budget budget;
    vls_parts parts;
    vls_vec(vls_span) spans;
    vls_vec(vls_left) left;
    vls_vec(vls_repair) repairs;
    valise_id chain[VLS_SECTION_COUNT];
    size_t context, history; /* messages of these sections */
} vls_manifest;

/* Canonical JSON. */
int vls_manifest_write(vls_buf *out, const vls_manifest *manifest, valise_error *err);
/* Everything lives in the arena. VALISE_E_CORRUPT: it is none; VALISE_E_UNSUPPORTED: a newer one.
 */
int vls_manifest_read(vls_manifest *out, vls_arena *arena, valise_str json, valise_error *err);

/* The chain of these parts. */
void vls_chain(valise_id chain[VLS_SECTION_COUNT], const vls_parts *parts);

/* ---- one build, whole ---- */

typedef struct vls_built {
    vls_choice choice;
    vls_rendered rendered;
    vls_plan plan;
    vls_wire wire;
    vls_manifest manifest;
} vls_built;

/* Choose, render, plan, write, describe. Nothing is recorded. */
int vls_build(vls_built *out, valise_view *view, const vls_request *request, valise_error *err);
/* Is there anything in the way of it but the history, which the request does not have? */
int vls_build_try(valise_view *view, const vls_request *request, valise_error *err);
void vls_built_release(vls_built *built); /* a zeroed one is fine */

/* Render a manifest again. denied: parts whose source the actor of the view may not read have no
 * text. *same says whether neutral and wire are what they were. */
typedef struct vls_rebuilt {
    vls_rendered rendered;
    vls_plan plan;
    vls_wire wire;
    bool neutral_same, wire_same;
    size_t erased, denied;
} vls_rebuilt;
int vls_rebuild(vls_rebuilt *out, valise_view *view, const vls_manifest *manifest,
                valise_error *err);
void vls_rebuilt_release(vls_rebuilt *rebuilt);

#endif
