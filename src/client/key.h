/* key.h -- the key of a provider: read when a request is sent, wiped when that is over. [Q25]
 *
 * It stands in one place of memory, and what a server echoes of it is cut out of every message.
 *
 * Threads: single. */
#ifndef VLS_KEY_H
#define VLS_KEY_H

#include "base/str.h"

#define VLS_KEY_MAX 4096u

typedef struct vls_key {
    size_t len; /* 0: there is none */
    char text[VLS_KEY_MAX + 1];
} vls_key;

static inline valise_str vls_key_str(const vls_key *key)
{
    return vls_str(key->text, key->len);
}

void vls_key_wipe(vls_key *key);

static inline void vls_auto_key(vls_key *key)
{
    vls_key_wipe(key);
}

/* From a file of the user's that nobody else may read, or from a variable of the environment.
 * VALISE_E_DENIED: there is none, and the hint says where it could be; VALISE_E_INVALID: others may
 * read the file, or it is no key. Messages have nothing of it. */
int vls_key_read_file(vls_key *out, const char *file, valise_error *err);
int vls_key_read_variable(vls_key *out, const char *variable, valise_error *err);

/* Whether the file could be used, without reading it. */
int vls_key_check_file(const char *file, valise_error *err);

/* Text with "[key]" in the place of the key, and of parts of it that would help somebody: twelve
 * characters or more. What there is no room for is left out; there is a NUL at the end. */
size_t vls_key_hide(char *out, size_t size, valise_str text, const vls_key *key);

/* The same for what an error says. */
void vls_key_hide_error(valise_error *err, const vls_key *key);

/* Both of anything that is secret, and with another mark in its place. */
size_t vls_secret_hide(char *out, size_t size, valise_str text, valise_str secret, valise_str mark);
void vls_secret_hide_error(valise_error *err, valise_str secret, valise_str mark);

#endif
