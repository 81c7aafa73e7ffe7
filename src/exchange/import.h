/* import.h -- the run of an import: files in, pieces, records, conversations, commands.
 *
 * Threads: single. */
#ifndef VLS_EXCHANGE_IMPORT_H
#define VLS_EXCHANGE_IMPORT_H

#include "exchange/input.h"
#include "exchange/load.h"

#define VLS_CONVERSATION_MAX ((size_t)256 << 20) /* bytes of one, as it is in the file */
#define VLS_IMPORT_TOLD 100u                     /* sessions that are told one by one */

enum { VLS_FORMAT_AUTO, VLS_FORMAT_CHATGPT, VLS_FORMAT_CLAUDE_CODE, VLS_FORMAT_OPENAI };
extern const char *const vls_import_formats[]; /* NULL-ended */

typedef struct vls_imported_session {
    valise_uuid id;
    valise_str label; /* ptr NULL: none */
    int64_t turns;    /* that were added */
    bool existed;
} vls_imported_session;

typedef struct vls_importing {
    valise_job *job;
    const valise_env *env;
    vls_arena *kept; /* lives as long as the answer */
    int64_t format;  /* as asked for */
    valise_str label, role;
    valise_list topics;
    vls_notes notes;
    vls_input *input; /* NULL: `data` */
    valise_str data;

    /* What came of it. */
    int64_t conversations, sessions, turns, there, deleted, blobs;
    vls_vec(vls_imported_session) told;
} vls_importing;

/* dry: read everything and change nothing. */
int vls_import_run(vls_importing *i, bool dry, valise_error *err);

#endif
