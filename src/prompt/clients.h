/* clients.h -- providers by their names, and clients that stay with the handle.
 *
 * A provider is what the user's own configuration and the environment say ("provider.NAME.url",
 * VALISE_PROVIDER_NAME_URL): what a workspace says of one is ignored, since whoever names a URL
 * gets the key. A client is used again by the next request: it holds connections, and how much of
 * a file of answers was used.
 *
 * Threads: all of it is shared. */
#ifndef VLS_PROMPT_CLIENTS_H
#define VLS_PROMPT_CLIENTS_H

#include "bus/bus.h"
#include "client/client.h"

#define VLS_PROVIDER_NAME_MAX 64

/* The last line of what a setting of the user's configuration says, in memory of the arena; ptr
 * NULL: nothing. */
int vls_setting_read(valise_str *out, vls_arena *arena, const valise *v, const char *name,
                     valise_error *err);

/* name ptr NULL: the usual adapter for answers from a file. replay (ptr NULL: none): answers from
 * this file, whatever is configured. In memory of the arena. VALISE_E_NOT_FOUND, VALISE_E_INVALID.
 */
int vls_prompt_provider(vls_provider *out, vls_arena *arena, valise *v, valise_str name,
                        valise_str replay, valise_error *err);

/* The client of a provider, until it is given back. VALISE_E_BUSY: too many at once. */
int vls_prompt_client(vls_client **out, valise *v, const vls_provider *provider, valise_error *err);
void vls_prompt_client_return(valise *v, const vls_client *client); /* NULL is fine */

#endif
