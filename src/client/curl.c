/* curl.c -- open libcurl. */
#include "client/curl.h"

#include <dlfcn.h>

static int is_missing(const char *what, valise_error *err)
{
    (void)vls_fail(err, VALISE_E_UNSUPPORTED, "asking a provider needs libcurl: %s",
                   what ? what : "it cannot be opened");
    vls_hint(err,
             "install it (Debian: apt install libcurl4), or use answers from a file (--replay)");
    return VALISE_E_UNSUPPORTED;
}

int vls_curl_open(vls_curl *out, const char *name, valise_error *err)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    vls_curl curl;
    void *symbol;

    if (!library)
        return is_missing(dlerror(), err);
        /* A pointer to data is none to a function for ISO C, but it is for POSIX. */
#define X(member, function)                                                                        \
    symbol = dlsym(library, #function);                                                            \
    if (!symbol) {                                                                                 \
        (void)dlclose(library);                                                                    \
        return is_missing("it is too old: it has no " #function, err);                             \
    }                                                                                              \
    memcpy(&curl.member, &symbol, sizeof(symbol));
    VLS_CURL_FUNCTIONS(X)
#undef X
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return is_missing("it cannot be initialised", err);
    *out = curl;
    return 0;
}
