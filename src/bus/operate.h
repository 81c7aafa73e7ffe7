/* operate.h -- run one operation of any kind, from JSON or from structs; shared by dispatch.c and
 * run.c.
 *
 * Threads: single. */
#ifndef VLS_OPERATE_H
#define VLS_OPERATE_H

#include "bus/read.h"
#include "bus/request.h"
#include "bus/told.h"

typedef struct vls_operation {
    valise *v;
    const valise_op *op;
    valise_call call;
    const vls_run_more *more; /* never NULL */

    bool typed;
    const void *args;   /* typed */
    valise_str payload; /* else */

    void *result; /* typed; NULL: nobody wants it */
    vls_memory *memory;
    valise_row_fn *fn; /* rows of a list as text */
    void *fn_arg;
    valise_reply reply; /* filled */
    vls_told told;      /* live events, for when it is over */
} vls_operation;

/* Is it there, and may it be run here at all? *out is the operation. */
int vls_operation_find(const valise_op **out, valise *v, valise_str type, valise_error *err);
/* Can anything be written? Of commands that may be apart vls_operation_check does not ask. */
int vls_operation_check_store(const vls_operation *o, valise_error *err);
int vls_operation_check(const vls_operation *o, valise_error *err);

/* Run it; reply.json is a blob unless typed. After VALISE_E_CONFLICT reply.current is there. */
int vls_operation_run(vls_operation *o, valise_error *err);
int vls_operation_query(vls_operation *o, valise_error *err); /* query.c */
int vls_operation_job(vls_operation *o, valise_error *err);   /* job.c */

/* What a command that failed leaves for its caller: what was there instead. */
void vls_command_current(valise_blob **out, const vls_command *command);

/* One that the engine runs itself among others: see vls_run_many. */
int vls_command_own(vls_command *command, valise *v, const vls_run_item *item,
                    const valise_call *call, vls_told *told, valise_error *err);
/* All is well: each item gets its result. */
void vls_command_give(const vls_command *commands, const vls_run_item *items, size_t count);

/* How much a command writes, roughly. */
size_t vls_command_bytes(const vls_command *command);

/* Arguments of a query or job. */
int vls_operation_args(const void **out, const vls_operation *o, vls_arena *arena,
                       valise_error *err);

/* The struct for its result: the caller's, or one in arena; untouched where there is none. */
int vls_operation_result(void **out, const vls_operation *o, vls_arena *arena, valise_error *err);

/* Where its rows go. */
void vls_operation_sink(vls_sink *out, const vls_operation *o);

#endif
