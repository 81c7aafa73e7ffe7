/* run_impl.h -- what the files behind run.h share.
 *
 * Threads: single. */
#ifndef VLS_DERIVE_RUN_IMPL_H
#define VLS_DERIVE_RUN_IMPL_H

#include "base/sealed.h"
#include "derive/queue.h"
#include "derive/run.h"

/* A frame that is to become the head of a slot. */
typedef struct vls_made {
    valise_str path, type;
    vls_frame_row frame;
    valise_id was; /* the head it replaces; zero: none */

    /* What is to be stored, and then let go. */
    bool pending;
    valise_str recipe; /* in the run's memory */
    vls_buf basis, content;
} vls_made;

/* A slot that a program makes, once no view is open (external.c). All in the run's memory. */
typedef struct vls_waiting {
    const vls_task *task; /* NULL: there is none */
    const char *name;     /* of the program */
    valise_id program;    /* SHA-256 of its bytes */
    valise_str agent, recipe;
    valise_id recipe_id;
    vls_buf basis, input;

    /* The head there is. */
    bool has_head, marked, same_agent;
    valise_id was, said; /* the frame and its content */
} vls_waiting;

/* What is left to do about it in the next view. */
typedef struct vls_afterwards {
    const vls_task *task; /* NULL: nothing */
    bool risen;           /* it says something else now: look above it */
    bool looked, known;   /* vls_run_looked */
} vls_afterwards;

typedef struct vls_run_state {
    const vls_run_options *options;
    valise *v;
    const valise_env *env;
    valise_str actor;
    vls_arena arena; /* of all that is kept from one view to the next */
    vls_queue queue;
    vls_map ahead; /* path, type -> vls_made */
    vls_vec(vls_made *) made;
    vls_vec(const vls_slot_look *) looks;
    size_t pending_bytes;
    bool planned;
    bool all;  /* every slot of the tree is looked at */
    bool kept; /* what is not doubted is fresh */
    vls_waiting waiting;
    vls_sealed sealed; /* the program that ran last; fd -1: none */
    char sealed_name[VLS_PROGRAM_NAME_MAX + 1];
    vls_afterwards after;

    /* The state that the run began with. */
    vls_tree_row tree;
    valise_id root;

    valise_view *view; /* while one is open */
    vls_run_report *report;
    vls_vec(const vls_derived_row *) rows; /* in the job's memory */
    vls_vec(const vls_derived_row *) gaps; /* what is missing and stale: told behind the others */
} vls_run_state;

/* Fill the queue (plan.c). */
int vls_run_plan(vls_run_state *r, valise_error *err);

/* Look at one slot (slot.c). */
int vls_run_slot(vls_run_state *r, const vls_task *task, valise_error *err);

bool vls_run_is_meant(const vls_run_state *r, valise_str path);
int vls_run_tell(vls_run_state *r, const vls_task *task, int outcome, const valise_id *was,
                 const valise_id *is, const char *why, valise_error *err);

/* A recipe: 1; 0: nobody here can follow it (erased, of a newer program, somebody else's). bytes
 * may be NULL. In the view's memory. */
int vls_run_recipe(vls_recipe *out, valise_str *bytes, vls_run_state *r, const valise_id *id,
                   valise_error *err);

/* Was looked at: it is fresh, or (known) it is not and nothing can be done. */
int vls_run_looked(vls_run_state *r, const vls_task *task, bool known, valise_error *err);

/* VALISE_E_CONFLICT where nothing may be missing or stale, and something was so far. */
int vls_run_check_strict(const vls_run_state *r, valise_error *err);

/* The bytes that a policy makes of the inputs of a directory (make.c). */
int vls_run_make(vls_buf *out, vls_run_state *r, valise_str dir, const vls_recipe *recipe,
                 const vls_inputs *inputs, valise_error *err);
/* What a program gets of them, JSON. */
int vls_run_input(vls_buf *out, vls_run_state *r, valise_str dir, const vls_recipe *recipe,
                  const vls_inputs *inputs, valise_error *err);

/* Something that is to become a head of the slot, with nothing in it yet (slot.c). */
int vls_run_keep(vls_made **out, vls_run_state *r, const vls_task *task, const valise_id *was,
                 valise_error *err);
/* The slots of the directory above that are made of it join the queue. */
int vls_run_push_above(vls_run_state *r, const vls_task *task, valise_error *err);

/* What a program made before of this basis and may be used again, in the view's memory: 1; 0: there
 * is none (external.c). slot may be NULL. */
int vls_run_remembered(vls_frame_row *out, vls_run_state *r, const vls_frame_row *like,
                       const vls_slot_row *slot, valise_error *err);

/* Run the program that a slot waits for, with no view open (external.c). What goes wrong with it is
 * an error where one slot was asked for; else it is told, and the run goes on. A view must follow
 * (r->after). */
int vls_run_program(vls_run_state *r, valise_error *err);
/* ... the same for what goes wrong before it runs. `why` is what it is, a code below 0. */
int vls_run_fail(vls_run_state *r, const vls_task *task, bool has_head, const valise_error *why,
                 valise_error *err);
/* Do what was left to do, in a view. */
int vls_run_after_program(vls_run_state *r, valise_error *err);
void vls_run_waiting_release(vls_waiting *waiting); /* a zeroed one is fine */

/* What does not hold and was not meant, once all else is done (beyond.c). */
int vls_run_beyond(vls_run_state *r, const valise_call *call, valise_error *err);

/* The path of an entry of a directory, in room. */
typedef struct vls_run_child_path {
    char s[VLS_PATH_MAX + VLS_NODE_NAME_MAX + 2];
} vls_run_child_path;
valise_str vls_run_child(vls_run_child_path *room, valise_str dir, valise_str name);

/* What was made of a slot in this run, or NULL. */
vls_made *vls_run_ahead(const vls_run_state *r, valise_str path, valise_str type);

#endif
