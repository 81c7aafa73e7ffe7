/* op_synthesize.c -- context:synthesize, say of a directory what is said of what lies in it. [C15]
 */
#include <limits.h>

#include "base/text.h"
#include "base/utf8.h"
#include "bus/bus.h"
#include "derive/answer.h"
#include "derive/derive.h"
#include "derive/ops.h"
#include "derive/program.h"

typedef vls_synthesize_args synthesize_args;

static const valise_field synthesize_in[] = {
    VALISE_FIELD_WITH(synthesize_args, node, PATH, VALISE_NULLABLE | VALISE_POSITIONAL,
                      "Path of a directory, a node id or its first digits (default: the root).",
                      .max = VLS_PATH_MAX, .ref = "tree.node"),
    VALISE_FIELD_WITH(synthesize_args, type, STR, VALISE_NULLABLE,
                      "Types of the input frames; * matches anything.", .min = 1, .max = 256),
    VALISE_FIELD_WITH(synthesize_args, input, STR, VALISE_NULLABLE,
                      "Types of the input frames, if --type is the type of the result.", .min = 1,
                      .max = 256),
    VALISE_FIELD_WITH(synthesize_args, output, STR, VALISE_NULLABLE,
                      "Type of the resulting frame (default: that of the inputs).", .min = 1,
                      .max = VLS_FRAME_TYPE_MAX),
    VALISE_FIELD_WITH(synthesize_args, policy, STR, VALISE_NULLABLE,
                      "concatenation, summarization, filtering, or one of an extension.",
                      .max = VLS_POLICY_NAME_MAX),
    VALISE_FIELD_WITH(synthesize_args, program, PATH, VALISE_NULLABLE,
                      "A program in place of a policy: JSON in, the frame out.", .min = 1,
                      .max = PATH_MAX - 1, .ref = "host.program"),
    VALISE_FIELD(synthesize_args, params, JSON, VALISE_NULLABLE, "Parameters of the policy."),
    VALISE_FIELD_WITH(synthesize_args, name, STR, VALISE_NULLABLE,
                      "Only entries with these names; * matches anything.", .min = 1, .max = 256),
    VALISE_FIELD_AS_WITH(synthesize_args, by_agent, "byAgent", STR, VALISE_NULLABLE,
                         "Only frames by these agents.", .min = 1, .max = 256),
    VALISE_FIELD_AS_WITH(synthesize_args, max_size, "maxSize", INT, 0,
                         "Only frames of at most this many bytes.", .max = VLS_FRAME_CONTENT_MAX),
    VALISE_FIELD(synthesize_args, fresh, BOOL, 0,
                 "Only frames that are up to date and were not invalidated."),
    VALISE_FIELD_WITH(synthesize_args, limit, INT, 0, "At most this many inputs, in order.",
                      .max = VLS_RECIPE_LIMIT_MAX),
    VALISE_FIELD(synthesize_args, recursive, BOOL, 0,
                 "Include the directories below it, innermost first."),
    VALISE_FIELD(synthesize_args, strict, BOOL, 0, "Fail if something is missing or stale."),
    VALISE_FIELD(synthesize_args, replace, BOOL, 0, "Also replace frames that somebody wrote."),
    VALISE_FIELD(synthesize_args, verify, BOOL, 0,
                 "Run the program twice and refuse differing results."),
    VALISE_FIELD_AS(synthesize_args, dry_run, "dryRun", BOOL, 0,
                    "Show what would be made, from the last scan."),
    VALISE_FIELD_AS(synthesize_args, no_scan, "noScan", BOOL, 0, "Do not scan the files first."),
    VALISE_FIELD_END,
};

static int find_policy(vls_recipe *recipe, const valise *v, valise_error *err)
{
    const valise_policy *policy = vls_registry_policy(v->registry, recipe->policy);

    if (policy) {
        recipe->version = policy->version;
        return 0;
    }
    (void)vls_fail(err, VALISE_E_NOT_FOUND, "there is no policy '%s'",
                   vls_text_short(recipe->policy).s);
    vls_hint(err, "concatenation, summarization and filtering are always there");
    return VALISE_E_NOT_FOUND;
}

/* ---- programs ---- */

/* Before anything is said about what lies at a path, or read of it: who may only ask for programs
 * must not learn here which files there are. room is for the path without links. */
static int find_path(char room[PATH_MAX], const valise *v, valise_str given, valise_error *err)
{
    valise_error why = VALISE_ERROR_INIT;
    char path[PATH_MAX];
    bool there;
    int rc, found;

    if (given.len == 0 || given.len >= sizeof(path) || given.ptr[0] != '/' ||
        memchr(given.ptr, '\0', given.len))
        return vls_fail(err, VALISE_E_INVALID, "'%s' is not an absolute path of a program",
                        vls_text_short(given).s);
    if (!v->place.may_run)
        return vls_fail(err, VALISE_E_DENIED, "no program can run here");
    (void)snprintf(path, sizeof(path), "%.*s", VALISE_STR_ARG(given));
    there = realpath(path, room) != NULL;
    found = there ? 0 : vls_fail_errno(&why, "cannot find", given);
    rc = v->place.may_run(v, there ? room : path, NULL, err);
    if (rc == VALISE_E_DENIED) {
        (void)vls_fail(err, rc, "%s is not trusted: a workspace alone cannot make programs run",
                       vls_text_short(given).s);
        vls_hint(err, "valise trust %s", vls_text_short(given).s);
    }
    if (rc == 0 && !there && err)
        *err = why;
    return rc < 0 ? rc : found;
}

/* The program at a path, if it may run, and its name in the recipe. room is for the path. */
static int find_program(vls_recipe *recipe, vls_sealed *out, char room[PATH_MAX], const valise *v,
                        valise_str given, valise_error *err)
{
    VLS_AUTO(sealed) vls_sealed sealed = {.fd = -1};
    valise_str name;
    int rc = find_path(room, v, given, err);

    if (rc < 0)
        return rc;
    name = vls_path_name(valise_str_of(room));
    if (name.len == 0 || name.len > VLS_PROGRAM_NAME_MAX || !vls_utf8_valid(name))
        return vls_fail(err, VALISE_E_INVALID, "'%s': the name of a program is UTF-8",
                        vls_text_short(given).s);
    rc = vls_program_seal(&sealed, room, NULL, err);
    if (rc == 0)
        rc = v->place.may_run(v, room, &sealed.id, err);
    if (rc < 0)
        return rc;
    recipe->policy = name;
    recipe->program = true;
    recipe->program_id = sealed.id;
    *out = sealed;
    sealed.fd = -1;
    return 0;
}

static int check_words(const synthesize_args *args, valise_error *err)
{
    if (args->policy.ptr && args->program.ptr)
        return vls_fail(err, VALISE_E_INVALID, "either a policy or a program, not both");
    if (args->verify && !args->program.ptr)
        return vls_fail(err, VALISE_E_INVALID, "--verify works only with a program (--program)");
    return 0;
}

static valise_str choose_input(const synthesize_args *args)
{
    if (args->input.ptr)
        return args->input;
    return args->type.ptr ? args->type : VLS_STR(VLS_FRAME_TYPE_USUAL);
}

/* What goes in is said by a glob; what comes out has one type. */
static int choose_type(valise_str *out, const synthesize_args *args, valise_error *err)
{
    valise_str type = args->output.ptr ? args->output : args->type;

    if (!type.ptr || vls_str_equal(type, VLS_STR("*")))
        type = VLS_STR(VLS_FRAME_TYPE_USUAL);
    if (!args->output.ptr && memchr(type.ptr, '*', type.len)) {
        (void)vls_fail(err, VALISE_E_INVALID, "'%s' matches several types", vls_text_short(type).s);
        vls_hint(err, "give the type of the result with --output");
        return VALISE_E_INVALID;
    }
    *out = type;
    return vls_frame_type_check(type, err);
}

/* A strict run tries first, and writes only when nothing is missing. One with a program, which is
 * not run to try, looks at each directory when it comes to it. */
static int run(vls_run_report *out, vls_run_options *options, valise_error *err)
{
    bool dry_run = options->dry_run;
    int rc = 0;

    if (options->strict && !options->program) {
        options->dry_run = true;
        rc = vls_derive_run(out, options, err);
        options->dry_run = dry_run;
    }
    return rc < 0 ? rc : vls_derive_run(out, options, err);
}

static int job(valise_job *j, const void *in, void *result, valise_error *err)
{
    const synthesize_args *args = in;
    const vls_recipe_where where = {.name = args->name,
                                    .agent = args->by_agent,
                                    .max_size = args->max_size,
                                    .fresh = args->fresh};
    vls_recipe recipe = {.input = choose_input(args),
                         .policy = args->policy.ptr ? args->policy : VLS_STR("concatenation"),
                         .params = args->params,
                         .limit = args->limit,
                         .where = &where};
    vls_run_options options = {.job = j,
                               .recursive = args->recursive,
                               .dry_run = args->dry_run,
                               .recipe = &recipe,
                               .replace = args->replace,
                               .strict = args->strict,
                               .verify = args->verify};
    const valise *v = valise_job_workspace(j);
    VLS_AUTO(sealed) vls_sealed program = {.fd = -1};
    char room[PATH_MAX];
    valise_str tree = {NULL, 0};
    vls_run_report report;
    int rc = check_words(args, err);

    if (rc == 0 && args->program.ptr) {
        rc = find_program(&recipe, &program, room, v, args->program, err);
        options.program = &program;
    } else if (rc == 0) {
        rc = find_policy(&recipe, v, err);
    }
    if (rc == 0)
        rc = choose_type(&options.type, args, err);
    if (rc == 0)
        rc = vls_run_path(&options.path, j, args->node, "context:synthesize", options.type, err);
    if (rc == 0 && !args->no_scan)
        rc = args->dry_run ? vls_run_look(&tree, j, options.path, err)
                           : vls_run_scan(j, options.path, err);
    if (rc == 0)
        rc = run(&report, &options, err);
    if (rc == VALISE_E_IO && args->program.ptr && err && !err->hint[0])
        vls_hint(err, "fix the program and run it again; the frames are as they were");
    if (rc < 0)
        return rc;
    vls_run_answer_fill(result, &report, args->dry_run);
    ((vls_run_answer *)result)->tree = tree;
    return 0;
}

const valise_op vls_op_derive_synthesize = {
    .size = sizeof(valise_op),
    .name = "context:synthesize",
    .alias = "synthesize",
    .brief = "Summarize a directory from the frames of what is in it.",
    .help =
        "The inputs are the heads of the directory's entries, ordered by name: of files those of "
        "--type, of directories those of the resulting type. The result is a frame about the "
        "directory, made by a policy. Its recipe is kept with it: `valise regenerate` makes it "
        "again when the inputs have changed.\n\nThe same inputs give the same frame. If that is "
        "the head already, nothing is written.\n\nWith --program a program makes the frame: it "
        "gets the inputs and --params as JSON on standard input, and what it prints is the frame. "
        "Its hash is kept in the recipe. It gets no arguments, may run for a minute "
        "(program.timeout) and print up to 1 MiB. Naming it on the command line allows it to run "
        "this time; `regenerate --run` runs only programs that `valise trust` allowed.",
    .kind = VALISE_JOB,
    .flags = VALISE_OP_IDEMPOTENT | VALISE_OP_ASKS,
    .needs = "context:synthesize",
    .in = synthesize_in,
    .in_size = sizeof(synthesize_args),
    .out = vls_run_answer_fields,
    .out_size = sizeof(vls_run_answer),
    .job = job,
    .example = "{\"node\":\"lib\",\"recursive\":true,\"type\":\"summary\"}",
};
