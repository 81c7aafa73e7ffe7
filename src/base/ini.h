/* ini.h -- configuration files in git's syntax: reading, values, and editing in place.
 *
 *     # a comment; so is this
 *     [core]                          letters, digits, '-' and '.'; case does not matter
 *         editor = vi -n   # here too
 *         bare                        alone: true
 *     [remote "Origin \"x\""]         the subsection's case matters; \ quotes any character
 *         url = "a # b; c"            quotes keep blanks and comment signs
 *         note = one \                goes on in the next line
 *                two\tthree           \\ \" \n \t \b and nothing else
 *
 * What git can read is read in the same way, and what git refuses is refused; so is a NUL byte
 * anywhere, at which git would end the string. Blanks within a value are kept (git before 2.45
 * makes them spaces). [a.b] is [a "b"] in lower case. There are no includes.
 *
 * Names and values are bytes: a caller that wants UTF-8 checks.
 *
 * Threads: pure functions over their arguments; safe anywhere. */
#ifndef VLS_INI_H
#define VLS_INI_H

#include "base/buf.h"

#define VLS_INI_MAX_BYTES ((size_t)1 << 20)       /* of a whole file */
#define VLS_INI_MAX_LINE_BYTES ((size_t)64 << 10) /* of a line, its end not counted */

/* Of the three parts subsection may be missing: its ptr is then NULL. ("" is not missing.) */
typedef struct vls_ini_name {
    valise_str section; /* read: lower case, "" before the first header */
    valise_str subsection;
    valise_str key; /* read: lower case */
} vls_ini_name;

/* Everything in it is borrowed for the time of the callback. */
typedef struct vls_ini_entry {
    vls_ini_name name;
    valise_str full_name; /* "section.subsection.key" */
    valise_str value;     /* without quotes and escapes; ptr is NULL when the key stood alone */
    valise_str file;      /* as given to vls_ini_read */
    uint32_t line;        /* of the key, from 1 */
} vls_ini_entry;

/* Returns 0 to go on; anything else ends the reading and is what vls_ini_read returns. */
typedef int vls_ini_fn(void *arg, const vls_ini_entry *entry, valise_error *err);

/* Call fn for every entry in the order of the file. file is the name that errors begin with:
 * "config:3: unknown escape '\q'". VALISE_E_INVALID with the offset (entries before it were
 * already handed over), VALISE_E_TOO_LARGE (file or line), VALISE_E_NO_MEMORY. */
int vls_ini_read(const valise_env *env, valise_str file, valise_str text, vls_ini_fn *fn, void *arg,
                 valise_error *err) VLS_NODISCARD;

/* ---- editing ---- */

/* Append text with one value changed; comments, blanks and the order of everything stay. The
 * last entry of that name gets the new value, quoted as needed; where there is none a line is
 * added at the end of the last section of that name, or a section at the end of the file. text
 * must not lie in out.
 *
 * VALISE_E_INVALID: text cannot be read, or the name or value cannot be written (section and key:
 * letters, digits and '-', the key beginning with a letter; no newline in a subsection; no byte
 * 0 anywhere). VALISE_E_TOO_LARGE, VALISE_E_NO_MEMORY. On failure nothing was appended. */
int vls_ini_set(vls_buf *out, valise_str file, valise_str text, const vls_ini_name *name,
                valise_str value, valise_error *err) VLS_NODISCARD;

/* Append text without the entries of that name. Their lines go, with a comment in them; the
 * section's header stays. VALISE_E_NOT_FOUND when there is none; else errors as for set. */
int vls_ini_unset(vls_buf *out, valise_str file, valise_str text, const vls_ini_name *name,
                  valise_error *err) VLS_NODISCARD;

#endif
