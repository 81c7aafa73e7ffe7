/* get.h -- what backpack:unpack and backpack:peek share.
 *
 * Threads: immutable tables; single, as views are. */
#ifndef VLS_GET_H
#define VLS_GET_H

#include "backpack/use.h"

typedef struct vls_get_args {
    vls_who who;
    valise_str key, point;
    bool required;
} vls_get_args;
extern const valise_field vls_get_in[];

typedef struct vls_get_result {
    bool found;
    vls_item_out item;
} vls_get_result;
extern const valise_field vls_get_out[];

int vls_op_get(valise_view *view, const vls_get_args *args, vls_get_result *result, bool record,
               valise_error *err);

#endif
