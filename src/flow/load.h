/* load.h -- a flow as it is named: a file, or the text itself.
 *
 * A flow alone does not make code run [K34]: the programs that it names may run where its file was
 * named on the command line, or is trusted by its path and bytes. Of a text without a file they may
 * not.
 *
 * Threads: pure functions over the file system. */
#ifndef VLS_FLOW_LOAD_H
#define VLS_FLOW_LOAD_H

#include "flow/flow.h"

typedef struct vls_flow_text {
    valise_str text;
    valise_str file;        /* absolute, without links; ptr NULL: there is none */
    valise_str folder;      /* that it is in */
    valise_str name;        /* of the file, without folder and ending; "": none */
    bool programs;          /* what it names may run, */
    bool by_bytes;          /* ... because it is trusted, and not because it was named */
    bool other_params;      /* the text has other ones than the file */
    valise_error untrusted; /* why not */
} vls_flow_text;

/* Read a file, in memory of the arena. VALISE_E_NOT_FOUND, VALISE_E_TOO_LARGE, VALISE_E_INVALID. */
int vls_flow_text_read(vls_flow_text *out, vls_arena *arena, const valise *v, valise_str file,
                       valise_error *err);

/* A text that stood in this file once: what it names beside itself, such as answers, is there. */
int vls_flow_text_place(vls_flow_text *text, vls_arena *arena, valise_str file, valise_error *err);

/* The same file with another text: what is trusted by its bytes is not trusted with other ones,
 * what was named on the command line is. */
void vls_flow_text_change(vls_flow_text *text, const valise *v, valise_str changed);

/* Other params for nodes in it: a list of texts, "NODE.path=JSON". VALISE_E_NOT_FOUND: there is no
 * such node; VALISE_E_INVALID. */
extern const valise_field vls_flow_param_item;
int vls_flow_text_set_params(vls_flow_text *text, vls_arena *arena, const valise *v,
                             valise_list params, valise_error *err);

/* Make the flow of it. */
int vls_flow_load(valise_flow **out, valise *v, const vls_flow_text *text, valise_error *err);

/* For operations that take `file` or `flow`: one of the two. flow ptr NULL: not given. */
int vls_flow_text_given(vls_flow_text *out, vls_arena *arena, const valise *v, valise_str file,
                        valise_str flow, valise_error *err);

#endif
