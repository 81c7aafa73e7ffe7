/* curl.h -- libcurl, opened when the first client is made.
 *
 * The library is not linked: who never asks a model does not need it. It is never closed again, as
 * libraries below it leave things to be run at the end of the process.
 *
 * Threads: immutable once opened. */
#ifndef VLS_CURL_H
#define VLS_CURL_H

#include <curl/curl.h>

#include "base/base.h"

/* X(member, function of libcurl) */
#define VLS_CURL_FUNCTIONS(X)                                                                      \
    X(global_init, curl_global_init)                                                               \
    X(getdate, curl_getdate)                                                                       \
    X(easy_init, curl_easy_init)                                                                   \
    X(easy_cleanup, curl_easy_cleanup)                                                             \
    X(easy_reset, curl_easy_reset)                                                                 \
    X(easy_setopt, curl_easy_setopt)                                                               \
    X(easy_getinfo, curl_easy_getinfo)                                                             \
    X(easy_strerror, curl_easy_strerror)                                                           \
    X(multi_init, curl_multi_init)                                                                 \
    X(multi_cleanup, curl_multi_cleanup)                                                           \
    X(multi_add_handle, curl_multi_add_handle)                                                     \
    X(multi_remove_handle, curl_multi_remove_handle)                                               \
    X(multi_perform, curl_multi_perform)                                                           \
    X(multi_poll, curl_multi_poll)                                                                 \
    X(multi_info_read, curl_multi_info_read)                                                       \
    X(multi_strerror, curl_multi_strerror)

typedef struct vls_curl {
#define X(member, function) __typeof__(function) *(member);
    VLS_CURL_FUNCTIONS(X)
#undef X
} vls_curl;

/* name: "libcurl.so.4". VALISE_E_UNSUPPORTED: it is not there, or too old, and how to get it. */
#define VLS_CURL_NAME "libcurl.so.4"
int vls_curl_open(vls_curl *out, const char *name, valise_error *err);

#endif
