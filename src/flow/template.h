/* template.h -- texts with places for items: what nodes say to models, programs and backpacks. [F9]
 *
 *     {{key}}             the item; it must be there
 *     {{key#/a/0}}        what a JSON Pointer names in it
 *     {{key?}}            nothing where there is no such item, or nothing at the pointer
 *     {{{{                two braces
 *
 * A value that is a text goes in as it is, any other one as canonical JSON. Where values are
 * wanted, a text that is one placeholder and nothing else is the value itself (null where `?` found
 * nothing), and every text within a value is a template; keys of objects are none.
 *
 * What an item says is never looked at for placeholders or references again: who writes an item
 * cannot have another one read. References in the text itself (`${NAME}`) are resolved, one piece
 * of text at a time.
 *
 * Reads go through a node's view: they are checked and recorded as the node's. Keys with '#', '?'
 * at their end or "}}" in them have no form here.
 *
 * Threads: a template is immutable; rendering is single, as the arena is. */
#ifndef VLS_FLOW_TEMPLATE_H
#define VLS_FLOW_TEMPLATE_H

#include "flow/run.h"
#include "json/pointer.h"

#define VLS_TEMPLATE_PARTS_MAX 100000u

/* What stands between the braces: "key#/pointer?". */
typedef struct vls_pick {
    valise_str key;
    vls_pointer pointer; /* count 0: the item itself */
    bool optional;
} vls_pick;

/* Who renders. */
typedef struct vls_renderer {
    vls_arena *arena; /* where what comes of it lives */
    valise_backpack *view;
    const valise *v;      /* NULL: references are left alone */
    vls_secrets *secrets; /* gets those that were resolved */
} vls_renderer;

vls_renderer vls_renderer_of(valise_node_run *at);

/* It borrows from the text. */
int vls_pick_parse(vls_pick *out, vls_arena *arena, valise_str text, valise_error *err);

/* 1 with the value; 0: it is not there, and need not be. VALISE_E_NOT_FOUND names the key;
 * VALISE_E_DENIED. */
int vls_pick_get(vls_json *out, const vls_renderer *r, const vls_pick *pick, valise_error *err);

/* A text, VLS_JSON_MAX_BYTES at most. */
int vls_template_text(valise_str *out, const vls_renderer *r, valise_str text, valise_error *err);
/* A value: see above. err->path is that of the text in it. */
int vls_template_value(vls_json *out, const vls_renderer *r, vls_json value, valise_error *err);

/* What is wrong with a text, and with all texts in a value: findings below `path`. packed: what
 * comes of it goes into the backpack, where no secret belongs. */
int vls_template_check(vls_flow_findings *findings, valise_str path, vls_json value, bool packed,
                       valise_error *err);

#endif
