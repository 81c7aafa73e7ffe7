/* keep.c -- manifests from what was seen, and the checkpoint that has one. See keep.h. */
#include "checkpoint/keep.h"

vls_manifest_entry vls_spot_entry(const vls_spot *seen)
{
    vls_manifest_entry e = {.path = seen->path, .mode = seen->mode};

    if (seen->lack != VLS_LACK_NONE) {
        e.kind = VLS_MANIFEST_LACKING;
        e.lack = seen->lack;
        return e;
    }
    switch (seen->node.kind) {
    case VLS_NODE_FILE:
        e.kind = VLS_MANIFEST_FILE;
        e.size = seen->node.size;
        e.content = seen->node.content;
        break;
    case VLS_NODE_DIR:
        e.kind = VLS_MANIFEST_DIR;
        break;
    case VLS_NODE_LINK:
        e.kind = VLS_MANIFEST_LINK;
        e.target = seen->node.target;
        break;
    default:
        e.kind = VLS_MANIFEST_LACKING;
        e.lack = VLS_LACK_UNREADABLE;
    }
    return e;
}

void vls_keeping_add(vls_keeping *keeping, const vls_manifest_entry *e)
{
    vls_manifest_add(&keeping->manifest, e);
    keeping->files += e->kind == VLS_MANIFEST_FILE;
    keeping->bytes += e->kind == VLS_MANIFEST_FILE ? e->size : 0;
    keeping->dirs += e->kind == VLS_MANIFEST_DIR && e->path.len > 0;
    keeping->links += e->kind == VLS_MANIFEST_LINK;
    keeping->lacking += e->kind == VLS_MANIFEST_LACKING;
}

int vls_keep_manifest(vls_checkpoint_made *out, vls_memory *memory, valise_job *job,
                      const vls_keeping *k, valise_error *err)
{
    const vls_checkpoint_make_args args = {.name = k->name,
                                           .prefix = k->prefix,
                                           .manifest = {.bytes = vls_buf_str(&k->manifest)},
                                           .partial = k->partial,
                                           .tree = k->tree->id,
                                           .version = k->tree->version,
                                           .root = k->tree->root,
                                           .files = k->files,
                                           .dirs = k->dirs,
                                           .links = k->links,
                                           .bytes = k->bytes,
                                           .lacking = k->lacking};
    int rc = vls_buf_check(&k->manifest, err);

    return rc < 0 ? rc
                  : vls_job_run(job, &vls_op_checkpoint_checkpoint_make, &args, out, memory, err);
}
