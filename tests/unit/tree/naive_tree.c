/* naive_tree.c -- the object id of a folder the plain way: no code of Valise, one thread, whole
 * files.
 *
 * Knows no rules but the two names that never count. */
#include <dirent.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree/scan_kit.h"

typedef struct bytes {
    unsigned char *ptr;
    size_t len, cap;
} bytes;

static void add(bytes *b, const void *from, size_t len)
{
    if (b->len + len > b->cap) {
        size_t cap = (b->len + len) * 2;
        unsigned char *grown = test_alloc(cap);
        if (b->len > 0)
            memcpy(grown, b->ptr, b->len);
        b->ptr = grown;
        b->cap = cap;
    }
    if (len > 0)
        memcpy(b->ptr + b->len, from, len);
    b->len += len;
}

static void add_number(bytes *b, uint64_t n)
{
    for (int shift = 56; shift >= 0; shift -= 8) {
        unsigned char byte = (unsigned char)(n >> shift);
        add(b, &byte, 1);
    }
}

static void add_field(bytes *b, const void *from, size_t len)
{
    add_number(b, len);
    add(b, from, len);
}

static void add_number_field(bytes *b, uint64_t n)
{
    add_number(b, 8);
    add_number(b, n);
}

static void sha(valise_id *out, const void *from, size_t len)
{
    CHECK(EVP_Digest(from, len, out->bytes, NULL, EVP_sha256(), NULL) == 1);
}

static void tagged(valise_id *out, const bytes *b)
{
    sha(out, b->ptr, b->len);
    for (size_t i = 0; i < sizeof(out->bytes); i++)
        out->bytes[i] ^= 0xFF;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t names_of(char ***out, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    size_t count = 0, cap = 64;
    char **names = test_alloc(cap * sizeof(*names));

    CHECK(dir != NULL);
    while ((e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            strcmp(e->d_name, ".git") == 0 || strcmp(e->d_name, ".valise") == 0)
            continue;
        if (count == cap) {
            char **more = test_alloc(cap * 2 * sizeof(*more));
            memcpy(more, names, cap * sizeof(*more));
            names = more;
            cap *= 2;
        }
        names[count] = test_alloc(strlen(e->d_name) + 1);
        memcpy(names[count++], e->d_name, strlen(e->d_name) + 1);
    }
    closedir(dir);
    qsort(names, count, sizeof(*names), by_bytes);
    *out = names;
    return count;
}

static bool object_of(valise_id *out, const char **kind, const char *path);

static bool object_of_dir(valise_id *out, const char *path)
{
    bytes b = {0}, items = {0};
    char **names;
    size_t count = names_of(&names, path), kept = 0;

    for (size_t i = 0; i < count; i++) {
        valise_id id;
        const char *kind;
        if (!object_of(&id, &kind, test_format("%s/%s", path, names[i])))
            continue;
        kept++;
        add_field(&items, names[i], strlen(names[i]));
        add_field(&items, kind, strlen(kind));
        add_field(&items, id.bytes, sizeof(id.bytes));
    }
    add_field(&b, "valise.dir.1", 12);
    add_number_field(&b, kept);
    add(&b, items.ptr, items.len);
    tagged(out, &b);
    return true;
}

static bool object_of(valise_id *out, const char **kind, const char *path)
{
    struct stat st;
    bytes b = {0};

    CHECK(lstat(path, &st) == 0);
    if (S_ISDIR(st.st_mode)) {
        *kind = "dir";
        return object_of_dir(out, path);
    }
    if (S_ISLNK(st.st_mode)) {
        char target[4096];
        ssize_t len = readlink(path, target, sizeof(target));
        CHECK(len >= 0);
        *kind = "link";
        add_field(&b, "valise.link.1", 13);
        add_field(&b, target, (size_t)len);
        tagged(out, &b);
        return true;
    }
    if (S_ISREG(st.st_mode)) {
        valise_str text = test_read_file(path);
        valise_id content;
        sha(&content, text.ptr, text.len);
        *kind = "file";
        add_field(&b, "valise.file.1", 13);
        add_number_field(&b, (st.st_mode & 0100) != 0);
        add_field(&b, content.bytes, sizeof(content.bytes));
        tagged(out, &b);
        return true;
    }
    return false;
}

void naive_root(valise_id *out, const char *folder)
{
    (void)object_of_dir(out, folder);
}
