/* file.h -- whole files: read them, replace them in one step, create them only if they do not
 * exist.
 *
 * Threads: pure functions over the file system. */
#ifndef VLS_ENGINE_FILE_H
#define VLS_ENGINE_FILE_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"

enum {
    VLS_FILE_NO_LINK = 1, /* refuse a symbolic link: the folder may be somebody else's */
};

/* "folder/name" in arena. */
int vls_path_join(const char **out, vls_arena *arena, const char *folder, const char *name,
                  valise_error *err);

/* The path without links and dots, in arena. VALISE_E_NOT_FOUND and so on. */
int vls_path_real(const char **out, vls_arena *arena, const char *path, valise_error *err);

/* Append all of it. VALISE_E_NOT_FOUND; VALISE_E_INVALID for what is no regular file;
 * VALISE_E_TOO_LARGE over the maximum of out; VALISE_E_DENIED, VALISE_E_IO. */
int vls_file_read(vls_buf *out, const char *path, unsigned flags, valise_error *err);

/* Put text in the place of the file (or where there is none): written beside it, synced, renamed,
 * and the folder synced. What is there is the old file or the new one. */
int vls_file_replace(const char *path, valise_str text, mode_t mode, valise_error *err);

/* Make the folder if there is none. VALISE_E_INVALID when there is something else. */
int vls_folder_make(const char *path, mode_t mode, valise_error *err);

/* Lock a folder against others who do the same; -1, or a descriptor to close. VALISE_E_BUSY when
 * somebody has it for longer than timeout_ns. */
int vls_folder_lock(int *out, const valise_env *env, const char *path, int64_t timeout_ns,
                    valise_error *err);

#endif
