/* order.h -- one part of an ordered key, written by its kind: the way back from vls_order_next. */
#ifndef KIT_ORDER_H
#define KIT_ORDER_H

#include "base/order.h"

static inline void add_part(vls_buf *out, const vls_order_part *part)
{
    switch (part->kind) {
    case VLS_ORDER_NULL:
        vls_order_add_null(out);
        break;
    case VLS_ORDER_INT:
        vls_order_add_int(out, part->integer);
        break;
    case VLS_ORDER_REAL:
        vls_order_add_real(out, part->real);
        break;
    case VLS_ORDER_TEXT:
        vls_order_add_text(out, part->bytes);
        break;
    case VLS_ORDER_BLOB:
        vls_order_add_blob(out, part->bytes);
        break;
    }
}

#endif
