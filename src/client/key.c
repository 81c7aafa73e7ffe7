/* key.c -- keys: read, wiped, and cut out of what comes back. */
#include "client/key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define HIDDEN VLS_STR("[key]")
#define TELLING 12u /* so many characters of a key are too many */

void vls_key_wipe(vls_key *key)
{
    explicit_bzero(key, sizeof(*key));
}

/* What a header can carry: no space, no line, nothing that is not ASCII. */
static int check(const vls_key *key, const char *from, valise_error *err)
{
    for (size_t i = 0; i < key->len; i++) {
        if (key->text[i] <= ' ' || key->text[i] > '~')
            return vls_fail(err, VALISE_E_INVALID,
                            "%s holds no key: its character %zu is not allowed in one", from,
                            i + 1);
    }
    return 0;
}

/* ---- files ---- */

static int open_file(int *out, const char *file, valise_error *err)
{
    VLS_AUTO(fd) int fd = vls_fd_open_at(AT_FDCWD, file, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    struct stat st;

    if (fd < 0 && errno == ENOENT) {
        (void)vls_fail(err, VALISE_E_DENIED, "there is no key: no file %s", file);
        vls_hint(err, "write the key there, readable by you alone: chmod 600");
        return VALISE_E_DENIED;
    }
    if (fd < 0 || fstat(fd, &st) < 0)
        return vls_fail_errno(err, "cannot read the key in", valise_str_of(file));
    if (!S_ISREG(st.st_mode))
        return vls_fail(err, VALISE_E_INVALID, "the key in %s is not a file", file);
    if (st.st_uid != geteuid() || st.st_mode & (S_IRWXG | S_IRWXO)) {
        (void)vls_fail(err, VALISE_E_INVALID, "others can read the key in %s", file);
        vls_hint(err, "it must be yours alone: chmod 600 %s", file);
        return VALISE_E_INVALID;
    }
    *out = vls_fd_take(&fd);
    return 0;
}

int vls_key_check_file(const char *file, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    int rc = open_file(&fd, file, err);

    /* That it is not there yet is for later: nothing is sent now. */
    return rc == VALISE_E_DENIED ? 0 : rc;
}

int vls_key_read_file(vls_key *out, const char *file, valise_error *err)
{
    VLS_AUTO(fd) int fd = -1;
    ssize_t got = 1;
    int rc = open_file(&fd, file, err);

    if (rc < 0)
        return rc;
    for (out->len = 0; got > 0 && out->len < sizeof(out->text);) {
        got = vls_fd_read(fd, out->text + out->len, sizeof(out->text) - out->len);
        out->len += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        return vls_fail_errno(err, "cannot read the key in", valise_str_of(file));
    while (out->len > 0 && strchr(" \t\r\n", out->text[out->len - 1]) && out->text[out->len - 1])
        out->len--;
    if (out->len == 0)
        return vls_fail(err, VALISE_E_DENIED, "there is no key: %s is empty", file);
    if (out->len > VLS_KEY_MAX)
        return vls_fail(err, VALISE_E_INVALID, "%s holds no key: it is too long", file);
    return check(out, file, err);
}

/* ---- variables ---- */

int vls_key_read_variable(vls_key *out, const char *variable, valise_error *err)
{
    const char *value = getenv(variable);
    size_t len = value ? strlen(value) : 0;

    if (len == 0) {
        (void)vls_fail(err, VALISE_E_DENIED, "there is no key: the variable %s is not set",
                       variable);
        vls_hint(err, "set %s, or key-file of the provider to a file that only you may read",
                 variable);
        return VALISE_E_DENIED;
    }
    if (len > VLS_KEY_MAX)
        return vls_fail(err, VALISE_E_INVALID, "%s holds no key: it is too long", variable);
    memcpy(out->text, value, len);
    out->len = len;
    return check(out, variable, err);
}

/* ---- hiding ---- */

/* How many bytes at the beginning of text stand somewhere in the secret in the same order. */
static size_t telling_len(valise_str text, valise_str secret)
{
    size_t longest = 0;

    for (size_t from = 0; from < secret.len; from++) {
        size_t most = VLS_MIN(text.len, secret.len - from), len = 0;
        while (len < most && text.ptr[len] == secret.ptr[from + len])
            len++;
        longest = VLS_MAX(longest, len);
    }
    return longest;
}

size_t vls_secret_hide(char *out, size_t size, valise_str text, valise_str secret, valise_str mark)
{
    size_t least = VLS_MIN(secret.len, TELLING), len = 0;

    for (size_t at = 0; at < text.len && len + 1 < size;) {
        /* What is so short is no secret, and would be found in every word. */
        size_t found = secret.len >= 4 ? telling_len(vls_str_from(text, at), secret) : 0;
        bool cut = found >= 4 && at + found == text.len && /* the rest of it had no room */
                   vls_str_starts(secret, vls_str_from(text, at));
        if (found > 0 && (found >= least || cut)) {
            size_t room = VLS_MIN(mark.len, size - 1 - len);
            memcpy(out + len, mark.ptr, room);
            len += room;
            at += found;
        } else {
            out[len++] = text.ptr[at++];
        }
    }
    out[len] = '\0';
    return len;
}

size_t vls_key_hide(char *out, size_t size, valise_str text, const vls_key *key)
{
    return vls_secret_hide(out, size, text, vls_key_str(key), HIDDEN);
}

static void hide_in(char *text, size_t size, valise_str secret, valise_str mark)
{
    char clean[sizeof(((valise_error *)NULL)->message)] = "";

    assert(size <= sizeof(clean));
    (void)vls_secret_hide(clean, size, valise_str_of(text), secret, mark);
    memcpy(text, clean, size);
}

void vls_secret_hide_error(valise_error *err, valise_str secret, valise_str mark)
{
    if (!err || secret.len == 0)
        return;
    hide_in(err->message, sizeof(err->message), secret, mark);
    hide_in(err->hint, sizeof(err->hint), secret, mark);
    hide_in(err->path, sizeof(err->path), secret, mark);
}

void vls_key_hide_error(valise_error *err, const vls_key *key)
{
    vls_secret_hide_error(err, vls_key_str(key), HIDDEN);
}
