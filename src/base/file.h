/* file.h -- whole files: read them, replace them in one step, write them so that nobody sees a
 * part.
 *
 * What has a name is whole and on the disk: it is written under another name beside it and synced,
 * then it gets its name, and the folder is synced.
 *
 * Threads: pure functions over the file system; vls_file_out is single. */
#ifndef VLS_FILE_H
#define VLS_FILE_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"

/* ---- paths ---- */

/* "folder/name" in arena. */
int vls_path_join(const char **out, vls_arena *arena, const char *folder, const char *name,
                  valise_error *err);

/* The path without links and dots, in arena. VALISE_E_NOT_FOUND and so on. */
int vls_path_real(const char **out, vls_arena *arena, const char *path, valise_error *err);

/* The path as the system takes it, in arena. VALISE_E_INVALID for a NUL byte in it. */
int vls_path_text(const char **out, vls_arena *arena, valise_str path, valise_error *err);

/* ---- small files ---- */

enum {
    VLS_FILE_NO_LINK = 1, /* refuse a symbolic link: the folder may be somebody else's */
};

/* Append all of it. VALISE_E_NOT_FOUND; VALISE_E_INVALID for what is no regular file;
 * VALISE_E_TOO_LARGE over the maximum of out; VALISE_E_DENIED, VALISE_E_IO. */
int vls_file_read(vls_buf *out, const char *path, unsigned flags, valise_error *err);

/* Put text in the place of the file (or where there is none). What is there is the old file or the
 * new one. Who may write the folder at the same time must have it locked. */
int vls_file_replace(const char *path, valise_str text, mode_t mode, valise_error *err);

/* ---- files piece by piece ---- */

/* A file that is there when all of it is, with mode 0600. VALISE_E_EXISTS when there is one, or one
 * came meanwhile, and `force` is not given. A device or pipe is written as it is. */
typedef struct vls_file_out {
    int fd;
    bool direct, force;
    const char *path; /* borrowed */
    char beside[4096];
} vls_file_out;
int vls_file_out_open(vls_file_out *out, const valise_env *env, const char *path, bool force,
                      valise_error *err);
int vls_file_out_write(void *arg, valise_str bytes, valise_error *err); /* arg: vls_file_out */
int vls_file_out_commit(vls_file_out *output, valise_error *err);
void vls_file_out_abort(vls_file_out *output); /* after a commit it does nothing */

/* ---- folders ---- */

/* Make the folder if there is none. VALISE_E_INVALID when there is something else. */
int vls_folder_make(const char *path, mode_t mode, valise_error *err);

/* Lock a folder (flock) against others who do the same: a descriptor to close. VALISE_E_BUSY when
 * somebody has it for longer than timeout_ns. */
int vls_folder_lock(int *out, const valise_env *env, const char *path, int64_t timeout_ns,
                    valise_error *err);

#endif
