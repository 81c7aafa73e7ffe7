/* chain.c -- the hash of each section over its parts and the section before. [P14]
 *
 * It is made of what parts are (source, content id, edits, words), not of their text: two builds
 * whose chains agree up to a section agree in its bytes. */
#include "base/hash.h"
#include "prompt/manifest.h"

static void add_part(vls_hasher *hasher, const vls_part *part)
{
    vls_hash_field_u64(hasher, part->kind);
    vls_hash_field_u64(hasher, part->says);
    vls_hash_field(hasher, part->name);
    vls_hash_field_u64(hasher, (uint64_t)part->version);
    vls_hash_field_id(hasher, &part->id);
    vls_hash_field_id(hasher, &part->blob);
    vls_hash_field(hasher, part->words);
    vls_hash_field_u64(hasher, part->edits.len);
    for (size_t i = 0; i < part->edits.len; i++) {
        const vls_prompt_edit *edit = &part->edits.ptr[i];

        vls_hash_field_u64(hasher, edit->kind);
        vls_hash_field_u64(hasher, (uint64_t)edit->block);
        vls_hash_field_u64(hasher, (uint64_t)edit->inner);
        vls_hash_field_u64(hasher, (uint64_t)edit->a);
        vls_hash_field_u64(hasher, (uint64_t)edit->b);
        vls_hash_field(hasher, edit->text);
        vls_hash_field(hasher, edit->more);
    }
}

void vls_chain(valise_id chain[VLS_SECTION_COUNT], const vls_parts *parts)
{
    vls_hasher hasher;
    const valise_id *before = NULL;
    size_t at = 0;

    for (int section = 0; section < VLS_SECTION_COUNT; section++) {
        vls_hash_begin_tagged(&hasher, "valise.prompt-section.1");
        vls_hash_field_id(&hasher, before);
        for (; at < parts->len && parts->ptr[at].section == section; at++)
            add_part(&hasher, &parts->ptr[at]);
        vls_hash_end(&chain[section], &hasher);
        before = &chain[section];
    }
}
