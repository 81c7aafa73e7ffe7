/* schema.h -- schemas of tools, as providers take them.
 *
 * All want the schema of an object. Some take no oneOf and the like at its top [R11.2]: what these
 * have as properties becomes properties of the whole, and they are left out.
 *
 * Threads: pure functions. */
#ifndef VLS_WIRE_SCHEMA_H
#define VLS_WIRE_SCHEMA_H

#include "wire/wire.h"

/* Whether there is no oneOf, anyOf, allOf, enum or not at its top. */
bool vls_schema_is_plain(vls_json schema);
int vls_schema_make_plain(vls_json *out, vls_arena *arena, vls_json schema, valise_error *err);

/* The schema of a tool. It says that it is of an object, and has properties, if there are none. */
int vls_schema_write(vls_wire *wire, const vls_plan *plan, vls_json tool, valise_error *err);

/* "name", "description" (one that is empty only where `blank`) and, under this key, the schema. */
int vls_schema_write_tool(vls_wire *wire, const vls_plan *plan, vls_json tool, const char *key,
                          bool blank, valise_error *err);

#endif
