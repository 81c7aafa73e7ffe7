/* area.h -- the area: sessions and turns.
 *
 * Threads: immutable tables. */
#ifndef VLS_CHAT_AREA_H
#define VLS_CHAT_AREA_H

#include <valise/sys/extension.h>

extern const valise_op *const vls_ops_chat[]; /* made from src/ops.txt */
extern const valise_extension vls_area_chat;

#endif
