/* url.c -- where requests go: only to where a key may go. */
#include <arpa/inet.h>

#include "base/text.h"
#include "client/inside.h"

#define URL_MAX 2048u
#define MODEL_MAX 512u

/* ---- the base ---- */

static bool is_plain(valise_str url)
{
    for (size_t i = 0; i < url.len; i++) {
        if (url.ptr[i] <= ' ' || url.ptr[i] > '~' || strchr("\\\"<>^`{|}?#@", url.ptr[i]))
            return false;
    }
    return true;
}

/* "127.0.0.1", "[::1]", "localhost": this machine. */
static bool is_loopback(valise_str host)
{
    char text[64] = "";
    struct in_addr four;
    struct in6_addr six;

    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    if (strcmp(text, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, text, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    if (host.len < 2 || text[0] != '[' || text[host.len - 1] != ']')
        return false;
    text[host.len - 1] = '\0';
    return inet_pton(AF_INET6, text + 1, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* Without the port, which must be a number. */
static bool cut_port(valise_str *host)
{
    size_t colon = host->len;
    int64_t port;

    while (colon > 0 && host->ptr[colon - 1] != ':' && host->ptr[colon - 1] != ']')
        colon--;
    if (colon == 0 || host->ptr[colon - 1] == ']')
        return host->len > 0;
    if (!vls_str_to_i64(&port, vls_str_from(*host, colon)) || port < 1 || port > 65535)
        return false;
    host->len = colon - 1;
    return host->len > 0;
}

/* A password, a key in the query: it is not said again. */
static bool has_secrets(valise_str url)
{
    for (size_t i = 0; i < url.len; i++) {
        if (url.ptr[i] == '@' || url.ptr[i] == '?' || url.ptr[i] == '#')
            return true;
    }
    return false;
}

int vls_url_check(bool *loopback, valise_str base, valise_error *err)
{
    bool secure = vls_str_starts(base, VLS_STR("https://"));
    bool open = vls_str_starts(base, VLS_STR("http://"));
    valise_str host, path;
    bool here;

    if (base.len > URL_MAX || !is_plain(base) || (!secure && !open)) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' is not a URL of a provider",
                       has_secrets(base) ? "..." : vls_text_short(base).s);
        vls_hint(err,
                 "write one like https://api.example.com/v1, without user, query and fragment");
        return VALISE_E_INVALID;
    }
    (void)vls_str_cut(&host, &path, vls_str_from(base, secure ? 8 : 7), '/');
    if (!cut_port(&host))
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not a URL of a provider: it has no host",
                        vls_text_short(base).s);
    here = is_loopback(host);
    if (open && !here) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' would send the key and the prompt unencrypted",
                       vls_text_short(base).s);
        vls_hint(err,
                 "use https://; http:// is only for this machine: 127.0.0.1, [::1], localhost");
        return VALISE_E_INVALID;
    }
    *loopback = open && here;
    return 0;
}

/* ---- the whole ---- */

static void add_encoded(vls_buf *out, valise_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (vls_is_alnum(c) || (c != '\0' && strchr("-._~", c)))
            vls_buf_add_byte(out, c);
        else
            vls_buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

/* Many say "http://localhost:8000/v1" where the path of the adapter begins with "/v1" too. */
static valise_str without_overlap(valise_str base, valise_str path)
{
    valise_str first = vls_str_head(path, 1 + vls_str_find_byte(vls_str_from(path, 1), '/'));

    while (base.len > 0 && base.ptr[base.len - 1] == '/')
        base.len--;
    if (first.len > 1 && first.len < path.len && vls_str_ends(base, first))
        base.len -= first.len;
    return base;
}

int vls_url_make(valise_str *out, vls_arena *arena, valise_str base, const char *path,
                 valise_str model, valise_error *err)
{
    static const valise_str hole = {"{model}", 7};
    valise_str rest = valise_str_of(path);
    size_t at = vls_str_find(rest, hole);
    vls_buf url;

    vls_buf_init_in(&url, arena, URL_MAX + (size_t)3 * MODEL_MAX + 512);
    vls_buf_add(&url, without_overlap(base, rest));
    if (at < rest.len) {
        if (model.len == 0)
            return vls_fail(err, VALISE_E_INVALID, "no model given");
        if (model.len > MODEL_MAX || vls_str_equal(model, VLS_STR(".")) ||
            vls_str_equal(model, VLS_STR("..")))
            return vls_fail(err, VALISE_E_INVALID, "'%s' is not a model", vls_text_short(model).s);
        vls_buf_add(&url, vls_str_head(rest, at));
        add_encoded(&url, model);
        rest = vls_str_from(rest, at + hole.len);
    }
    vls_buf_add(&url, rest);
    return vls_buf_keep(out, &url, err);
}
