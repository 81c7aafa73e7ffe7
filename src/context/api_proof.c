/* api_proof.c -- the C functions that prove, and that check what was proved. */
#include <valise/context.h>

#include "base/hex.h"
#include "base/str.h"
#include "bus/held.h"
#include "context/ops.h"

typedef struct held {
    valise_proof proof; /* first: what the caller has */
    vls_held own;
} held;

void valise_proof_free(valise_proof *proof)
{
    held *h = (held *)proof;

    if (h)
        vls_held_free(h, &h->own);
}

int valise_frame_proof(valise_proof **out, valise *v, const char *node, const char *type,
                       const valise_id *frame, const valise_call *call, valise_error *err)
{
    vls_frame_proof_args args = {.no_scan = true};
    vls_id_text hex;
    vls_frame_proof_result r;
    held *h;
    int rc;

    VLS_ARG(out && v && node, err);
    args.node = valise_str_of(node);
    args.type = valise_str_of(type);
    if (frame && !vls_id_is_none(frame)) {
        hex = vls_id_hex(frame);
        args.frame = valise_str_of(hex.s);
    }
    h = vls_held_new(v->env, sizeof(*h), offsetof(held, own));
    if (!h)
        return vls_fail_memory(err);
    rc = vls_run(v, &vls_op_context_frame_proof, &args, &r, &h->own.memory, call, NULL, err);
    if (rc < 0) {
        valise_proof_free(&h->proof);
        return rc;
    }
    h->proof = (valise_proof){.frame = r.frame_id,
                              .member = r.member,
                              .root = r.root,
                              .proof = r.proof,
                              .slot_key = r.slot_key,
                              .slot_value = r.slot_value,
                              .context_root = r.context_root,
                              .context_proof = r.context_proof};
    *out = &h->proof;
    return 0;
}

int valise_frame_verify(valise_id *value, valise *v, const valise_id *root, const valise_id *key,
                        valise_str proof, valise_error *err)
{
    vls_frame_verify_args args;
    vls_frame_verify_result result;
    int rc;

    VLS_ARG(v && root && key && (proof.ptr || proof.len == 0), err);
    args = (vls_frame_verify_args){*root, *key, proof.ptr ? proof : VLS_STR("")};
    rc = vls_run(v, &vls_op_context_frame_verify, &args, &result, NULL, NULL, NULL, err);
    if (rc < 0)
        return rc;
    if (value && result.member)
        *value = result.value;
    return result.member;
}
