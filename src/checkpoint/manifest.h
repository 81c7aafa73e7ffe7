/* manifest.h -- what a checkpoint lists: every path with its kind, mode and content.
 *
 *     manifest   "valise manifest 1\n" | flags | entry*
 *     flags      1 byte; 1: partial
 *     entry      kind (1 byte) | string path | ...
 *       gone     0                                there was nothing; partial manifests only
 *       file     1 | varint mode | varint size | SHA-256 of the bytes (32)
 *       dir      2 | varint mode
 *       link     3 | string target
 *       lacking  4 | reason (1 byte)              something is there that could not be kept
 *
 * Entries come in the order of vls_path_compare, each path once, the root ("") first; before an
 * entry comes that of its directory, unless the manifest is partial. A mode has the nine bits of
 * 0777. A *partial* one has what a restore was about to change, and says nothing of other paths.
 *
 * Manifests come with bundles, so a reader believes nothing: a path with a component .git or
 * .valise (or what some disk takes for them) that is not lacking, or that is no path, makes all of
 * it VALISE_E_CORRUPT.
 *
 * Threads: pure functions; a reader is single. */
#ifndef VLS_MANIFEST_H
#define VLS_MANIFEST_H

#include "base/bytes.h"
#include "tree/node.h"

#define VLS_MANIFEST_MAX ((size_t)512 << 20)
/* Of files no more than who may do what. Of directories also who may remove what is in them, and
 * whose it is: without the sticky bit others could. */
#define VLS_MODE_BITS 0777u
#define VLS_MODE_DIR_BITS 03777u

/* Stored: numbers stay as they are. */
typedef enum vls_manifest_kind {
    VLS_MANIFEST_GONE,
    VLS_MANIFEST_FILE,
    VLS_MANIFEST_DIR,
    VLS_MANIFEST_LINK,
    VLS_MANIFEST_LACKING,
} vls_manifest_kind;

typedef enum vls_lack {
    VLS_LACK_NONE,
    VLS_LACK_SIZE,       /* over checkpoint.max-file */
    VLS_LACK_UNREADABLE, /* could not be read */
    VLS_LACK_CHANGED,    /* changed again and again while it was read */
    VLS_LACK_NAME,       /* a name such as .GIT, which some disks take for .git */
    VLS_LACK_ERASED,     /* its content was erased; never stored */
    VLS_LACK_DAMAGED,    /* the copy that is kept of it is damaged */
} vls_lack;

/* What is kept of a mode. */
static inline uint32_t vls_mode_of(uint32_t mode, bool dir)
{
    return mode & (dir ? VLS_MODE_DIR_BITS : VLS_MODE_BITS);
}

extern const char *const vls_manifest_kinds[]; /* "gone", "file", ...; NULL-ended */
const char *vls_lack_text(int lack);           /* one short sentence */

typedef struct vls_manifest_entry {
    vls_manifest_kind kind;
    valise_str path;
    uint32_t mode;     /* file, dir: vls_mode_of */
    int64_t size;      /* file */
    valise_id content; /* file */
    valise_str target; /* link */
    int lack;          /* lacking */
} vls_manifest_entry;

/* Whether a component is .git or .valise, or what some disk takes for one of them: in whatever
 * case, "git~1", ".git.", with code points that do not count. */
bool vls_manifest_is_reserved(valise_str path);

/* ---- writing: the buffer remembers a failure ---- */

void vls_manifest_begin(vls_buf *out, bool partial);
void vls_manifest_add(vls_buf *out, const vls_manifest_entry *entry);

/* ---- reading ---- */

typedef struct vls_manifest_reader {
    vls_reader in;
    bool partial;
    bool any;
    vls_buf last;         /* path before */
    vls_manifest_entry e; /* entry before */
} vls_manifest_reader;

/* The bytes must outlive the reader, and so must they what it gives. */
int vls_manifest_open(vls_manifest_reader *out, const valise_env *env, valise_str bytes,
                      valise_error *err);
/* 1; 0 at the end; VALISE_E_CORRUPT. */
int vls_manifest_next(vls_manifest_entry *out, vls_manifest_reader *reader, valise_error *err);
void vls_manifest_close(vls_manifest_reader *reader); /* a zeroed one is fine */

static inline void vls_auto_manifest_reader(vls_manifest_reader *reader)
{
    vls_manifest_close(reader);
}

#endif
