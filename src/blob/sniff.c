/* sniff.c -- what bytes are, by how they begin. See receive.h. */
#include "blob/receive.h"

#include "base/str.h"
#include "base/utf8.h"

typedef struct magic {
    const char *bytes;
    size_t at, len;
    const char *type;
} magic;

static const magic magics[] = {
    {"\x89PNG\r\n\x1a\n", 0, 8, "image/png"},
    {"\xff\xd8\xff", 0, 3, "image/jpeg"},
    {"GIF87a", 0, 6, "image/gif"},
    {"GIF89a", 0, 6, "image/gif"},
    {"WEBP", 8, 4, "image/webp"},
    {"%PDF-", 0, 5, "application/pdf"},
};

static bool fits(const magic *m, valise_str bytes)
{
    return bytes.len >= m->at + m->len && memcmp(bytes.ptr + m->at, m->bytes, m->len) == 0 &&
           (m->at == 0 || vls_str_starts(bytes, VLS_STR("RIFF")));
}

/* UTF-8 without control characters, but for those that texts have. At the end of a part a
 * character may be cut off. */
static bool is_text(valise_str bytes, bool whole)
{
    for (size_t at = 0, used; at < bytes.len; at += used) {
        uint32_t c = 0;
        used = vls_utf8_decode(&c, bytes.ptr + at, bytes.len - at);
        if (used == 0)
            return !whole && bytes.len - at < 4 && at > 0;
        if (vls_utf8_is_control(c) && c != '\n' && c != '\r' && c != '\t' && c != '\f')
            return false;
    }
    return true;
}

const char *vls_blob_sniff(valise_str beginning, bool whole)
{
    for (size_t i = 0; i < VLS_COUNT(magics); i++) {
        if (fits(&magics[i], beginning))
            return magics[i].type;
    }
    return beginning.len > 0 && is_text(beginning, whole) ? "text/plain"
                                                          : "application/octet-stream";
}
