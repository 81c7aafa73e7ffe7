/* notes.c -- see notes.h. */
#include "exchange/notes.h"

#include <stdarg.h>

#include "base/str.h"
#include "base/text.h"
#include "base/utf8.h"

static vls_note_type *find_type(vls_notes *notes, valise_str type)
{
    for (size_t i = 0; i < notes->types.len; i++)
        if (vls_str_equal(notes->types.ptr[i].type, type))
            return &notes->types.ptr[i];
    return NULL;
}

int vls_notes_unknown(vls_notes *notes, valise_str type, valise_error *err)
{
    vls_note_type *found;
    vls_note_type fresh = {.count = 1};
    int rc;

    type = type.len == 0 ? VLS_STR("(none)") : vls_utf8_head(type, VLS_NOTES_TYPE_MAX);
    found = find_type(notes, type);
    if (!found && notes->types.len >= VLS_NOTES_TYPES) {
        type = VLS_STR("(other)");
        found = find_type(notes, type);
    }
    if (found) {
        found->count++;
        return 0;
    }
    rc = vls_arena_dup(&fresh.type, notes->arena, type, err);
    if (rc < 0)
        return rc;
    return vls_vec_push_in(&notes->types, notes->arena, fresh) ? 0
                                                               : vls_arena_fail(notes->arena, err);
}

static int fail_strict(const vls_notes *notes, uint64_t line, uint64_t offset, const char *message,
                       valise_error *err)
{
    if (notes->file.ptr)
        (void)vls_fail_at(err, VALISE_E_INVALID, offset, "'%s', line %llu: %s",
                          vls_text_short(notes->file).s, (unsigned long long)line, message);
    else
        (void)vls_fail_at(err, VALISE_E_INVALID, offset, "line %llu: %s", (unsigned long long)line,
                          message);
    vls_hint(err, "without `strict` it is reported and skipped");
    return VALISE_E_INVALID;
}

int vls_notes_problem(vls_notes *notes, uint64_t line, uint64_t offset, valise_error *err,
                      const char *format, ...)
{
    vls_note_problem problem = {
        .file = notes->file, .line = (int64_t)line, .offset = (int64_t)offset};
    char text[512];
    va_list args;
    int rc;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (notes->strict)
        return fail_strict(notes, line, offset, text, err);
    notes->problem_count++;
    if (notes->problems.len >= VLS_NOTES_PROBLEMS)
        return 0;
    rc = vls_arena_dup(&problem.message, notes->arena, valise_str_of(text), err);
    if (rc < 0)
        return rc;
    problem.message.len = vls_utf8_valid_len(problem.message);
    return vls_vec_push_in(&notes->problems, notes->arena, problem)
               ? 0
               : vls_arena_fail(notes->arena, err);
}
