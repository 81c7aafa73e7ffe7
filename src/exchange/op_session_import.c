/* op_session_import.c -- session:import, conversations of other programs. [W20] */
#include "base/file.h"
#include "bus/job.h"
#include "chat/rows.h"
#include "exchange/import.h"
#include "memory/memory.h"

typedef struct import_args {
    valise_str path;
    valise_content data;
    int64_t format;
    bool strict;
    valise_str label, role;
    valise_list topics;
} import_args;

static const valise_field import_in[] = {
    VALISE_FIELD_WITH(import_args, path, STR, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "A file, a folder of them, or - for standard input.", .ref = "input",
                      .min = 1, .max = 4000),
    VALISE_FIELD(import_args, data, DATA, VALISE_NULLABLE | VALISE_HIDDEN,
                 "The file itself, instead of a path."),
    VALISE_FIELD_WITH(import_args, format, ENUM, 0, "The format of the file; auto detects it.",
                      .more = vls_import_formats),
    VALISE_FIELD(import_args, strict, BOOL, 0,
                 "Import nothing if one record is bad (default: report and skip it)."),
    VALISE_FIELD_WITH(import_args, label, STR, VALISE_NULLABLE,
                      "Label of new sessions, instead of their titles.", .min = 1,
                      .max = VLS_SESSION_LABEL_MAX),
    VALISE_FIELD_WITH(import_args, topics, LIST, 0, "Topics of new sessions.",
                      .more = &vls_topic_item, .max = VLS_TOPICS_MAX),
    VALISE_FIELD_WITH(import_args, role, STR, VALISE_NULLABLE, "The role of new sessions.",
                      .min = 1, .max = VLS_ROLE_NAME_MAX, .ref = VLS_REF_ROLE_NAME),
    VALISE_FIELD_END,
};

/* ---- the answer ---- */

typedef struct import_result {
    int64_t conversations, sessions, turns, there, deleted, blobs, orphans, problem_count;
    valise_list imported; /* of const vls_imported_session * */
    valise_list unknown;  /* of const vls_note_type * */
    valise_list problems; /* of const vls_note_problem * */
} import_result;

static const valise_field session_fields[] = {
    VALISE_FIELD_AS(vls_imported_session, id, "sessionId", UUID, VALISE_REQUIRED, "Its id."),
    VALISE_FIELD(vls_imported_session, label, STR, VALISE_NULLABLE, "Its label, for people."),
    VALISE_FIELD(vls_imported_session, turns, INT, 0, "Turns that were added."),
    VALISE_FIELD(vls_imported_session, existed, BOOL, 0, "It was there before."),
    VALISE_FIELD_END,
};
static const valise_field type_fields[] = {
    VALISE_FIELD(vls_note_type, type, STR, VALISE_REQUIRED, "Its name there."),
    VALISE_FIELD(vls_note_type, count, INT, 0, "How often."),
    VALISE_FIELD_END,
};
static const valise_field problem_fields[] = {
    VALISE_FIELD(vls_note_problem, file, PATH, VALISE_NULLABLE, "The file, where there are more."),
    VALISE_FIELD(vls_note_problem, line, INT, 0, "The line, from 1."),
    VALISE_FIELD(vls_note_problem, offset, INT, 0, "The byte, from 0."),
    VALISE_FIELD(vls_note_problem, message, STR, VALISE_REQUIRED, "What is wrong."),
    VALISE_FIELD_END,
};
static const valise_struct session_struct = {sizeof(vls_imported_session), session_fields};
static const valise_struct type_struct = {sizeof(vls_note_type), type_fields};
static const valise_struct problem_struct = {sizeof(vls_note_problem), problem_fields};
static const valise_field session_item = {
    .name = "session", .type = VALISE_T_STRUCT, .more = &session_struct};
static const valise_field type_item = {
    .name = "type", .type = VALISE_T_STRUCT, .more = &type_struct};
static const valise_field problem_item = {
    .name = "problem", .type = VALISE_T_STRUCT, .more = &problem_struct};

static const valise_field import_out[] = {
    VALISE_FIELD(import_result, conversations, INT, 0, "Conversations that were read."),
    VALISE_FIELD(import_result, sessions, INT, 0, "Sessions that are new."),
    VALISE_FIELD(import_result, turns, INT, 0, "Turns that were added."),
    VALISE_FIELD(import_result, there, INT, 0, "Turns that were there already."),
    VALISE_FIELD(import_result, deleted, INT, 0, "Turns that were deleted here: they stay away."),
    VALISE_FIELD(import_result, blobs, INT, 0, "Images and documents that were added."),
    VALISE_FIELD(import_result, orphans, INT, 0,
                 "Results without a call before them, kept as x-orphan-tool_result."),
    VALISE_FIELD_WITH(import_result, imported, LIST, 0, "The first sessions that got turns.",
                      .more = &session_item),
    VALISE_FIELD_WITH(import_result, unknown, LIST, 0,
                      "Records and blocks of types that mean nothing here.", .more = &type_item),
    VALISE_FIELD_AS(import_result, problem_count, "problemCount", INT, 0,
                    "Records that could not be read."),
    VALISE_FIELD_WITH(import_result, problems, LIST, 0, "The first of them.",
                      .more = &problem_item),
    VALISE_FIELD_END,
};

/* Pointers to the items of an array. */
static int list_of(valise_list *out, vls_arena *arena, const void *items, size_t count, size_t size,
                   valise_error *err)
{
    const void **list = vls_arena_array(arena, count + 1, sizeof(*list));

    if (!list)
        return vls_arena_fail(arena, err);
    for (size_t i = 0; i < count; i++)
        list[i] = (const char *)items + i * size;
    *out = (valise_list){list, count};
    return 0;
}

static int tell(import_result *out, const vls_importing *i, valise_error *err)
{
    const vls_notes *notes = &i->notes;
    int rc;

    *out = (import_result){.conversations = i->conversations,
                           .sessions = i->sessions,
                           .turns = i->turns,
                           .there = i->there,
                           .deleted = i->deleted,
                           .blobs = i->blobs,
                           .orphans = notes->orphans,
                           .problem_count = notes->problem_count};
    rc = list_of(&out->imported, i->kept, i->told.ptr, i->told.len, sizeof(*i->told.ptr), err);
    if (rc == 0)
        rc = list_of(&out->unknown, i->kept, notes->types.ptr, notes->types.len,
                     sizeof(*notes->types.ptr), err);
    if (rc == 0)
        rc = list_of(&out->problems, i->kept, notes->problems.ptr, notes->problems.len,
                     sizeof(*notes->problems.ptr), err);
    return rc;
}

/* ---- the job ---- */

static int open_input(vls_importing *i, vls_input *input, const import_args *args,
                      valise_error *err)
{
    bool data = args->data.bytes.ptr != NULL;
    const char *path = NULL;
    int rc;

    if (data == (args->path.ptr != NULL))
        return vls_fail(err, VALISE_E_INVALID, "give either `path` or `data`");
    i->data = args->data.bytes;
    if (data)
        return 0;
    rc = vls_path_text(&path, i->kept, args->path, err);
    if (rc == 0)
        rc = vls_input_open(input, i->kept, path, err);
    if (rc == 0)
        i->input = input;
    return rc;
}

/* With strict everything is read before anything is written. */
static int check_first(const vls_importing *i, valise_error *err)
{
    vls_importing trial = *i;

    return vls_import_run(&trial, true, err);
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const import_args *args = in;
    vls_input input = {.path = NULL};
    vls_importing i = {.job = j,
                       .env = valise_job_workspace(j)->env,
                       .kept = &j->arena,
                       .format = args->format,
                       .label = args->label,
                       .role = args->role,
                       .topics = args->topics,
                       .notes = {.arena = &j->arena, .strict = args->strict}};
    int rc = open_input(&i, &input, args, err);

    if (rc == 0 && args->strict)
        rc = check_first(&i, err);
    if (rc == 0)
        rc = vls_import_run(&i, false, err);
    return rc < 0 ? rc : tell(result, &i, err);
}

const valise_op vls_op_exchange_session_import = {
    .size = sizeof(valise_op),
    .name = "session:import",
    .brief = "Import conversations from ChatGPT, Claude Code or OpenAI files.",
    .help = "ChatGPT: conversations.json of an export, or the folder it was unpacked into, with "
            "its images. Claude Code: a session (~/.claude/projects/*/*.jsonl) or a folder of "
            "them; the conversations of its agents become sessions of their own. OpenAI: one "
            "{\"messages\": ...} per line.\n\nBranches are kept: the head is where the "
            "conversation was, other ends are tips. Each turn keeps its original record, "
            "unchanged. Importing a file again adds only what is new in it; turns that were "
            "deleted here do not come back. A conversation is imported whole or not at all.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT,
    .needs = "session:write",
    .in = import_in,
    .in_size = sizeof(import_args),
    .out = import_out,
    .out_size = sizeof(import_result),
    .job = job,
    .example = "{\"path\":\"conversations.json\",\"topics\":[\"old\"]}",
};
