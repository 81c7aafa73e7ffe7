/* api.c -- the C functions of checkpoints. [C31] */
#include <valise/checkpoint.h>

#include <unistd.h>

#include "checkpoint/kit.h"

TEST_PARAMS(api, "memory", "sqlite")

static int note(void *arg, const valise_restore_step *step, valise_error *err)
{
    static const char *const kinds[] = {"created", "replaced",  "mode", "deleted",
                                        "in way",  "lacking: ", "late", "found"};
    const char **all = arg;

    (void)err;
    *all = test_format("%s%s%.*s %.*s\n", *all, kinds[step->kind], VALISE_STR_ARG(step->reason),
                       VALISE_STR_ARG(step->path));
    return 0;
}

/* What a callback says above 0 is what the function says. */
static int first_alone(void *arg, const valise_tree_checkpoint_info *info, valise_error *err)
{
    (void)arg;
    (void)info;
    (void)err;
    return 3;
}

static int list(void *arg, const valise_tree_checkpoint_info *info, valise_error *err)
{
    const char **all = arg;

    (void)err;
    *all = test_format("%s%.*s %lld%s\n", *all, VALISE_STR_ARG(info->name), (long long)info->files,
                       info->partial ? " partial" : "");
    return vls_str_equal(info->name, VLS_STR("stop"));
}

TEST(api, keep_wreck_restore_undo)
{
    shed *s = shed_open(t);
    valise_tree_checkpoint_options ko = VALISE_TREE_CHECKPOINT_OPTIONS_INIT;
    valise_restore_options ro = VALISE_RESTORE_OPTIONS_INIT;
    valise_checkpointed kept = VALISE_CHECKPOINTED_INIT;
    valise_restored back = VALISE_RESTORED_INIT;
    const char *told = "", *before, *wrecked;
    valise_str paths[] = {VLS_STR("src")};

    ko.dir = ro.dir = s->memory ? valise_str_of(s->dir) : VLS_STR("");
    ko.fn = ro.fn = note;
    ko.arg = ro.arg = &told;
    shed_write(s, "src/a", "one", 0644);
    shed_write(s, "b", "two", 0600);
    shed_write(s, "huge", "", 0644);
    CHECK_INT(0, truncate(shed_path(s, "huge"), 65 << 20));
    before = shed_text(s->dir);
    ko.flags = VALISE_TREE_CHECKPOINT_DRY_RUN;
    CHECK_OK(valise_tree_checkpoint(&kept, s->v, NULL, &ko, NULL, &t->err));
    CHECK_TEXT("", kept.name);
    CHECK_INT(2, kept.stored);
    ko.flags = 0;
    told = "";
    CHECK_OK(valise_tree_checkpoint(&kept, s->v, "one", &ko, NULL, &t->err));
    CHECK_TEXT("one", kept.name);
    CHECK_TEXT("lacking: it is larger than checkpoint.max-file huge\n", told);
    CHECK_INT(2, kept.files);
    CHECK_INT(6, kept.stored_bytes);
    CHECK_INT(1, kept.lacking);

    shed_write(s, "src/a", "edited", 0644);
    shed_write(s, "new", "new", 0644);
    shed_remove(s, "b");
    wrecked = shed_text(s->dir);
    told = "";
    ro.flags = VALISE_RESTORE_DELETE;
    ro.paths = paths;
    ro.path_count = 1;
    CHECK_OK(valise_tree_restore(&back, s->v, "one", &ro, NULL, &t->err));
    CHECK_TEXT("replaced src/a\n", told);
    CHECK_INT(1, back.restored);
    ro.path_count = 0;
    told = "";
    CHECK_OK(valise_tree_restore(&back, s->v, "v1", &ro, NULL, &t->err));
    CHECK_TEXT("created b\ndeleted new\nlacking: it is larger than checkpoint.max-file huge\n",
               told);
    CHECK_TEXT(before, shed_text(s->dir));
    CHECK_INT(1, back.deleted);
    CHECK(strncmp(back.saved, "before-restore-", 15) == 0);
    CHECK_OK(valise_tree_restore(NULL, s->v, back.saved, &ro, NULL, &t->err));
    shed_write(s, "src/a", "edited", 0644);
    CHECK_TEXT(wrecked, shed_text(s->dir));

    told = "";
    CHECK_OK(valise_tree_checkpoint_list(s->v, list, &told, NULL, &t->err));
    CHECK(strstr(told, " partial\n") && strstr(told, "one 2\n"));
    CHECK_INT(3, valise_tree_checkpoint_list(s->v, first_alone, NULL, NULL, &t->err));
    CHECK_OK(valise_tree_checkpoint_remove(s->v, "one", NULL, &t->err));
    CHECK_RC(VALISE_E_NOT_FOUND, valise_tree_checkpoint_remove(s->v, "one", NULL, &t->err));
}

TEST(api, wrong_arguments)
{
    shed *s = shed_open(t);
    valise_tree_checkpoint_options ko = VALISE_TREE_CHECKPOINT_OPTIONS_INIT;
    valise_restore_options ro = VALISE_RESTORE_OPTIONS_INIT;
    valise_restored small = VALISE_RESTORED_INIT;
    valise_checkpointed less = VALISE_CHECKPOINTED_INIT;

    ko.flags = 2;
    CHECK_RC(VALISE_E_INVALID, valise_tree_checkpoint(NULL, s->v, "a", &ko, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_tree_checkpoint(NULL, NULL, "a", NULL, NULL, &t->err));
    less.size = 1;
    CHECK_RC(VALISE_E_INVALID, valise_tree_checkpoint(&less, s->v, "a", NULL, NULL, &t->err));
    ro.flags = 8;
    CHECK_RC(VALISE_E_INVALID, valise_tree_restore(NULL, s->v, "a", &ro, NULL, &t->err));
    ro.flags = 0;
    ro.path_count = 1;
    CHECK_RC(VALISE_E_INVALID, valise_tree_restore(NULL, s->v, "a", &ro, NULL, &t->err));
    small.size = 1;
    CHECK_RC(VALISE_E_INVALID, valise_tree_restore(&small, s->v, "a", NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_tree_restore(NULL, s->v, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_tree_checkpoint_list(s->v, NULL, NULL, NULL, &t->err));
    CHECK_RC(VALISE_E_INVALID, valise_tree_checkpoint_remove(s->v, NULL, NULL, &t->err));
}
