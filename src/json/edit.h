/* edit.h -- a value while a patch is being applied to it.
 *
 * Containers that this edit made are changed in place; all others are copied first: see edit.c. The
 * root may be read at any time. What it shares with the original value never changes.
 *
 * Threads: single. */
#ifndef VLS_EDIT_H
#define VLS_EDIT_H

#include "base/map.h"
#include "json/patch.h"
#include "json/pointer.h"

typedef struct vls_edit {
    vls_arena *arena; /* of what is new */
    vls_json root;    /* as it is now */
    vls_map blocks;   /* the containers that were made here */
    bool shared;      /* something made here may be reached by two ways */
    vls_patch_budget *budget;
} vls_edit;

void vls_edit_init(vls_edit *edit, vls_arena *arena, vls_json root, vls_patch_budget *budget);
void vls_edit_release(vls_edit *edit);

/* Take bytes from the budget, or VALISE_E_LIMIT. */
int vls_edit_charge(vls_edit *edit, uint64_t bytes, valise_error *err);

/* Charge all of v, and VALISE_E_LIMIT when it has more than `levels` levels of containers. */
int vls_edit_measure(vls_edit *edit, vls_json v, size_t levels, valise_error *err);

/* The edits that all operations are made of. VALISE_E_NOT_FOUND where path leads nowhere,
 * VALISE_E_INVALID for removing the root, VALISE_E_LIMIT, and what the arena says. */
int vls_edit_add(vls_edit *edit, const vls_pointer *path, vls_json value, valise_error *err);
int vls_edit_remove(vls_edit *edit, const vls_pointer *path, valise_error *err);
int vls_edit_replace(vls_edit *edit, const vls_pointer *path, vls_json value, valise_error *err);

/* Say that v, which is somewhere in the root, will be put into it a second time. */
void vls_edit_share(vls_edit *edit, vls_json v);

#endif
