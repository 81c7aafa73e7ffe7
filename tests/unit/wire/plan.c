/* plan.c -- each repair of a plan, one by one. [P5] [P13] */
#include "wire/plan_kit.h"

#define D(flag) VLS_DEMANDS_##flag
#define U(text) "{'role':'user','blocks':[{'type':'text','text':'" text "'}]}"
#define A(text) "{'role':'assistant','blocks':[{'type':'text','text':'" text "'}]}"
#define S(text) "{'role':'system','blocks':[{'type':'text','text':'" text "'}]}"
#define CALL(id) "{'type':'tool_use','callId':'" id "','name':'ls','args':{}}"
#define AC(id) "{'role':'assistant','blocks':[" CALL(id) "]}"
#define RES(id, text) "{'type':'tool_result','callId':'" id "','content':'" text "'}"
#define T(id, text) "{'role':'tool','blocks':[" RES(id, text) "]}"
#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define IMG(name)                                                                                  \
    "{'type':'image','blob':'" ID64 "','mediaType':'image/png','size':5,'filename':'" name "'}"
#define PDF(name)                                                                                  \
    "{'type':'document','blob':'" ID64                                                             \
    "','mediaType':'application/pdf','size':9,'filename':'" name "'}"

TEST(plan, what_nobody_refuses_stays)
{
    check_plan(t, 0, "[" U("hi") "," AC("c1") "," T("c1", "a b") "," A("done") "," A("more") "]",
               "U['hi'] A[call(c1,ls,{})] T[res(c1,'a b')] A['done'] A['more']", "");
}

/* ---- R1 ---- */

TEST(plan, a_call_without_result_gets_an_error_result)
{
    check_plan(t, 0, "[" U("hi") "," AC("c1") "]",
               "U['hi'] A[call(c1,ls,{})] T[res(c1,'" VLS_PLAN_INTERRUPTED "')!^]", "R1.1@1.0");
    check_plan(t, 0, "[" AC("c1") "," U("stop") "," A("ok") "]",
               "A[call(c1,ls,{})] T[res(c1,'" VLS_PLAN_INTERRUPTED "')!^] U['stop'] A['ok']",
               "R1.1@0.0");
}

TEST(plan, results_come_in_the_order_of_their_calls)
{
    check_plan(t, 0,
               "[{'role':'assistant','blocks':[" CALL("a") "," CALL("b") "]}," T("b", "B") "," T(
                   "a", "A") "]",
               "A[call(a,ls,{}) call(b,ls,{})] T[res(a,'A') res(b,'B')]", "R1.4@1.0 R1.4@2.0");
}

TEST(plan, a_late_result_moves_up_to_its_call)
{
    check_plan(t, 0, "[" AC("a") "," U("and") "," S("note") "," T("a", "A") "," A("ok") "]",
               "A[call(a,ls,{})] T[res(a,'A')] U['and'] S['note'] A['ok']", "R1.3@3.0");
    check_plan(
        t, D(RESULTS_IN_USER),
        "[" AC("a") ",{'role':'user','blocks':[{'type':'text','text':'first'}," RES("a", "A") "]}]",
        "A[call(a,ls,{})] U[res(a,'A') 'first']", "R1.3@1.1");
}

TEST(plan, a_result_behind_the_next_word_of_the_assistant_is_an_orphan)
{
    check_plan(t, 0, "[" AC("a") "," A("never mind") "," T("a", "A") "]",
               "A[call(a,ls,{})] T[res(a,'" VLS_PLAN_INTERRUPTED "')!^] A['never mind'] "
               "U['Result of a call that is not here:'^ 'A']",
               "R1.1@0.0 R1.2@2.0");
    check_plan(t, 0, "[" AC("a") "," T("a", "A") "," T("a", "again") "]",
               "A[call(a,ls,{})] T[res(a,'A')] U['Result of a call that is not here:'^ 'again']",
               "R1.2@2.0");
}

TEST(plan, calls_of_neighbours_are_one_group)
{
    check_plan(t, 0, "[" AC("a") "," AC("b") "," T("a", "A") "," T("b", "B") "]",
               "A[call(a,ls,{}) call(b,ls,{})] T[res(a,'A') res(b,'B')]", "R2.1@1");
}

TEST(plan, calls_of_others_become_text)
{
    check_plan(t, 0, "[{'role':'user','blocks':[" CALL("a") "]}," T("a", "A") "]",
               "U['Call of ls: {}'^] U['Result of a call that is not here:'^ 'A']",
               "R1.5@0.0 R1.2@1.0");
}

TEST(plan, equal_ids_are_two_calls)
{
    plan_bed bed;

    plan_bed_init(&bed, t);
    plan_bed_make(&bed, 0, "[" AC("x") "," T("x", "1") "," AC("x") "," T("x", "2") "]");
    CHECK_TEXT("R9.3@2.0", repairs_text(&bed.plan));
    CHECK_STR(VLS_STR("x"), bed.plan.messages.ptr[0].blocks.ptr[0].id);
    CHECK_STR(bed.plan.messages.ptr[2].blocks.ptr[0].id, bed.plan.messages.ptr[3].blocks.ptr[0].id);
    CHECK(!vls_str_equal(VLS_STR("x"), bed.plan.messages.ptr[2].blocks.ptr[0].id));
    CHECK_STR(VLS_STR("2"), bed.plan.messages.ptr[3].blocks.ptr[0].text);
    plan_bed_release(&bed);
}

/* ---- R2, R5 ---- */

TEST(plan, neighbours_become_one)
{
    check_plan(t, D(ALTERNATION), "[" U("a") "," U("b") "," A("c") "," A("d") "," U("e") "]",
               "U['a' 'b'] A['c' 'd'] U['e']", "R2.1@1 R2.1@3");
    check_plan(t, D(ALTERNATION) | D(RESULTS_IN_USER),
               "[" U("x") "," AC("a") "," T("a", "A") "," U("b") "]",
               "U['x'] A[call(a,ls,{})] U[res(a,'A') 'b']", "R2.1@3");
}

TEST(plan, the_first_and_the_last_are_the_users)
{
    check_plan(t, D(USER_FIRST) | D(USER_LAST), "[" A("a") "]",
               "U['" VLS_PLAN_BEGIN "'^] A['a'] U['" VLS_PLAN_CONTINUE "'^]", "R2.2@0 R5.1");
    check_plan(t, D(USER_LAST), "[" U("a") "," S("b") "]",
               "U['a'] S['b'] U['" VLS_PLAN_CONTINUE "'^]", "R2.3");
    check_plan(t, D(USER_FIRST) | D(USER_LAST), "[" U("a") "," AC("c") "," T("c", "C") "]",
               "U['a'] A[call(c,ls,{})] T[res(c,'C')]", "");
}

TEST(plan, a_bridge_stands_between_tool_and_user)
{
    check_plan(t, D(BRIDGE), "[" AC("c") "," T("c", "C") "," U("a") "]",
               "A[call(c,ls,{})] T[res(c,'C')] A['" VLS_PLAN_BRIDGE "'^] U['a']", "R2.4@2");
}

TEST(plan, a_tail_behind_results_goes_into_the_last_one)
{
    static const char prompt[] = "{'version':1,'messages':[" U("q") "," AC("c") "," T(
        "c", "C") "," U("tail") "],'sections':{'history':3}}";
    plan_bed bed;

    plan_bed_init(&bed, t);
    bed.marks = true;
    plan_bed_make(&bed, D(BRIDGE), prompt);
    CHECK_TEXT("U['q'] A[call(c,ls,{})*] T[res(c,['C' 'tail'_])]", plan_text(&bed, &bed.plan));
    CHECK_TEXT("R2.5@3.0", repairs_text(&bed.plan));
    plan_bed_make(&bed, D(BRIDGE) | D(RESULTS_IN_USER) | D(ALTERNATION), prompt);
    CHECK_TEXT("U['q'] A[call(c,ls,{})*] U[res(c,['C' 'tail'_])]", plan_text(&bed, &bed.plan));
    plan_bed_make(&bed, 0, prompt);
    CHECK_TEXT("U['q'] A[call(c,ls,{})] T[res(c,'C')*] U['tail'_]", plan_text(&bed, &bed.plan));
    plan_bed_release(&bed);
}

TEST(plan, what_stands_beside_results_is_the_users)
{
    check_plan(
        t, 0,
        "[" AC("c") ",{'role':'tool','blocks':[" RES("c", "C") ",{'type':'text','text':'x'}]}]",
        "A[call(c,ls,{})] T[res(c,'C')] U['x']", "R2.6@1.1");
}

/* ---- R3 ---- */

TEST(plan, blank_texts_go)
{
    check_plan(t, D(NO_EMPTY), "[" U(" \\n\\u00a0\\u3000") "," U("b") "]", "U['b']", "R3.1@0.0");
    check_plan(t, D(NO_EMPTY), "[{'role':'user','blocks':[]}," U("b") "]", "U['b']", "R3.2@0");
    check_plan(t, 0, "[" U("") "]", "U['']", "");
    check_plan(
        t, D(NO_EMPTY),
        "[{'role':'assistant','blocks':[{'type':'text','text':'','meta':{'toys':{'s':1}}}]}]",
        "A[''+]", "");
    check_plan(t, D(NO_EMPTY), "[" U("a") "," A("b \\n") "]", "U['a'] A['b']", "R3.3@1.0");
    check_plan(t, D(NO_EMPTY),
               "{'version':1,'system':[{'type':'text','text':' '}],'messages':[" U("a") "]}",
               "U['a']", "R3.1");
}

/* ---- R4 ---- */

#define THINK(more)                                                                                \
    "[" U("q") ",{'role':'assistant','blocks':[{'type':'thinking','text':'hm'" more                \
               "},{'type':'text','text':'a'}]}]"

TEST(plan, thinking_goes_back_to_who_signed_it)
{
    check_plan(t, D(SIGNED), THINK(",'signature':'s','meta':{'vendor':'toys'}"),
               "U['q'] A[think(hm,s) 'a']", "");
    check_plan(t, D(SIGNED), THINK(",'signature':'s'"), "U['q'] A['a']", "R4.1@1.0");
    check_plan(t, D(SIGNED), THINK(""), "U['q'] A['a']", "R4.1@1.0");
    check_plan(t, D(SIGNED), THINK(",'meta':{'toys':{'id':'rs'}}"), "U['q'] A[think(hm,)+ 'a']",
               "");
    check_plan(t, 0, THINK(",'signature':'s'"), "U['q'] A[think(hm,) 'a']", "R4.3@1.0");
    check_plan(t, 0, THINK(""), "U['q'] A[think(hm,) 'a']", "");
    check_plan(t, D(NO_THINKING), THINK(",'signature':'s','meta':{'vendor':'toys'}"),
               "U['q'] A['a']", "R4.2@1.0");
    check_plan(t, 0, THINK(",'redacted':true"), "U['q'] A['a']", "R4.1@1.0");
    check_plan(t, D(SIGNED), THINK(",'redacted':true,'meta':{'vendor':'toys'}"),
               "U['q'] A[think(hm,,redacted) 'a']", "");
    check_plan(
        t, 0,
        "[{'role':'user','blocks':[{'type':'thinking','text':'x'},{'type':'text','text':'y'}]}]",
        "U['y']", "R4.5@0.0");
}

TEST(plan, opaque_data_are_for_one_model)
{
    static const char prompt[] =
        "{'version':1,'params':{'model':'%s'},'messages':[{'role':'assistant','blocks':[{'type':'"
        "text',"
        "'text':'a','meta':{'toys':{'model':'m1','k':1},'other':{'k':2},'vendor':'toys'}},"
        "{'type':'thinking','text':'t','signature':'s','meta':{'vendor':'toys','toys':{'model':'m1'"
        "}}}]}]}";

    check_plan(t, D(SIGNED), test_format(prompt, "m1"), "A['a'+ think(t,s)+]", "R4.3@0.0");
    check_plan(t, D(SIGNED), test_format(prompt, "m2"), "A['a']",
               "R4.3@0.0 R4.4@0.0 R4.4@0.1 R4.1@0.1");
}

/* ---- R8 ---- */

TEST(plan, media_moves_behind_all_results_of_a_group)
{
    static const char prompt[] = "[{'role':'assistant','blocks':[" CALL("a") "," CALL(
        "b") "]},"
             "{'role':'tool','blocks':[{'type':'tool_result','callId':'a','content':[" IMG(
                 "x.png") "]}]},"
                          "{'role':'tool','blocks':[{'type':'tool_result','callId':'b','content':[{"
                          "'type':'text','text':'B'}," PDF("y.pdf") "]}]}," A("ok") "]";
    plan_bed bed;

    plan_bed_init(&bed, t);
    bed.adapter.media.images = bed.adapter.media.documents = VLS_MEDIA_USER;
    plan_bed_make(&bed, 0, prompt);
    CHECK_TEXT("A[call(a,ls,{}) call(b,ls,{})] "
               "T[res(a,['[image x.png (image/png): in the next message]'^]) "
               "res(b,['B' '[document y.pdf (application/pdf): in the next message]'^])] "
               "U[img(x.png) doc(y.pdf)] A['ok']",
               plan_text(&bed, &bed.plan));
    CHECK_TEXT("R8.2@1.0 R8.2@2.0", repairs_text(&bed.plan));
    plan_bed_make(&bed, D(BRIDGE) | D(ALTERNATION) | D(TEXT_BESIDE), prompt);
    CHECK_TEXT("A[call(a,ls,{}) call(b,ls,{})] "
               "T[res(a,['[image x.png (image/png): in the next message]'^]) "
               "res(b,['B' '[document y.pdf (application/pdf): in the next message]'^])] "
               "A['OK.'^] U[img(x.png) doc(y.pdf) 'See the document.'^] A['ok']",
               plan_text(&bed, &bed.plan));
    plan_bed_release(&bed);
}

TEST(plan, media_of_the_assistant_moves_behind_it)
{
    plan_bed bed;

    plan_bed_init(&bed, t);
    bed.adapter.media.images = VLS_MEDIA_USER;
    plan_bed_make(&bed, 0,
                  "[{'role':'assistant','blocks':[" IMG("x") "," CALL("a") "]}," T("a", "A") "]");
    CHECK_TEXT(
        "A['[image x (image/png): in the next message]'^ call(a,ls,{})] T[res(a,'A')] U[img(x)]",
        plan_text(&bed, &bed.plan));
    plan_bed_release(&bed);
}

TEST(plan, a_line_stands_for_media_that_is_refused)
{
    plan_bed bed;

    plan_bed_init(&bed, t);
    bed.adapter.media.max_image = 4;
    plan_bed_make(&bed, 0,
                  "[{'role':'user','blocks':[" IMG(
                      "a") ",{'type':'image','blob':'" ID64 "','mediaType':'image/svg+xml'},"
                           "{'type':'image','blob':'" ID64 "'},"
                           "{'type':'image','blob':'" ID64
                           "','fileId':'f1','size':99,'filename':'there'}]}]");
    CHECK_TEXT("U['[image a (image/png): too large to be shown]'^ "
               "'[image (image/svg+xml): cannot be shown here]'^ '[image: cannot be shown here]'^ "
               "img(there)]",
               plan_text(&bed, &bed.plan));
    CHECK_TEXT("R8.3@0.0 R8.1@0.1 R8.1@0.2", repairs_text(&bed.plan));
    bed.adapter.media.documents = 0;
    plan_bed_make(&bed, 0, "[{'role':'user','blocks':[" PDF("d") "]}]");
    CHECK_TEXT("U['[document d (application/pdf): cannot be shown here]'^]",
               plan_text(&bed, &bed.plan));
    plan_bed_release(&bed);
}

TEST(plan, too_many_files_go_in_lots)
{
    plan_bed bed;
    const char *prompt = "[" U("0");
    static const int gone[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 4, 6};

    plan_bed_init(&bed, t);
    bed.adapter.media.max_images = 8;
    for (int count = 1; count < (int)VLS_COUNT(gone); count++) {
        int lines = 0;
        prompt = test_format("%s,{'role':'user','blocks':[%s]}", prompt, IMG("i"));
        plan_bed_make(&bed, 0, test_format("%s]", prompt));
        for (size_t i = 0; i < bed.plan.repairs.len; i++)
            lines += strcmp(bed.plan.repairs.ptr[i].rule, VLS_R_MEDIA_COUNT) == 0;
        CHECK_INT(gone[count], lines);
        CHECK_INT(lines > 0 ? VLS_SAID_TEXT : VLS_SAID_IMAGE,
                  bed.plan.messages.ptr[1].blocks.ptr[0].kind);
    }
    plan_bed_release(&bed);
}

TEST(plan, text_documents_are_text)
{
    check_plan(t, 0,
               "[{'role':'user','blocks':[{'type':'document','text':'body','filename':'a.txt'},"
               "{'type':'document','text':'bare'}]}]",
               "U['File a.txt:'^ 'body' 'bare']", "");
    check_plan(t, 0,
               "[{'role':'user','blocks':[{'type':'document','text':'body','blob':'" ID64 "',"
               "'mediaType':'application/pdf'}]}]",
               "U[doc()]", "");
    check_plan(t, 0,
               "[{'role':'user','blocks':[{'type':'document','text':'body','blob':'" ID64 "',"
               "'mediaType':'text/plain'}]}]",
               "U['body']", "");
}

TEST(plan, a_document_is_never_alone)
{
    check_plan(t, D(TEXT_BESIDE), "[{'role':'user','blocks':[" PDF("d") "]}]",
               "U[doc(d) 'See the document.'^]", "R8.5@0");
    check_plan(t, D(TEXT_BESIDE),
               "[{'role':'user','blocks':[" PDF("d") ",{'type':'text','text':'x'}]}]",
               "U[doc(d) 'x']", "");
}

/* ---- R9, R11, R12 ---- */

TEST(plan, names_of_tools_are_made_to_fit)
{
    plan_bed bed;
    vls_plan *plan = &bed.plan;

    plan_bed_init(&bed, t);
    plan_bed_make(
        &bed, 0,
        "{'version':1,'tools':[{'name':'a.b','inputSchema':{}},{'name':'a_b','inputSchema':{}},"
        "{'name':'a b','inputSchema':{}},{'name':'a.b','inputSchema':{}}],'messages':["
        "{'role':'assistant','blocks':[{'type':'tool_use','callId':'c','name':'a.b','args':{}},"
        "{'type':'tool_use','callId':'d','name':'x:y','args':{}}]}]}");
    CHECK_INT(3, plan->tools.len);
    CHECK_STR(VLS_STR("a_b"), vls_plan_name_out(plan, VLS_STR("a_b")));
    CHECK_STR(VLS_STR("x_y"), vls_plan_name_out(plan, VLS_STR("x:y")));
    CHECK_STR(VLS_STR("a.b"), vls_plan_name_back(plan, plan->messages.ptr[0].blocks.ptr[0].name));
    CHECK_STR(VLS_STR("x:y"), vls_plan_name_back(plan, plan->messages.ptr[0].blocks.ptr[1].name));
    CHECK(!vls_str_equal(vls_plan_name_out(plan, VLS_STR("a.b")),
                         vls_plan_name_out(plan, VLS_STR("a b"))));
    /* Golden: a name that changes between versions makes every cache miss. */
    CHECK_STR(VLS_STR("a_b_EYQUBooY"), vls_plan_name_out(plan, VLS_STR("a.b")));
    CHECK_TEXT("R9.1 R9.1 R9.4 R9.1@0.1 R1.1@0.0 R1.1@0.1", repairs_text(plan));
    plan_bed_release(&bed);
}

TEST(plan, ids_of_calls_are_made_to_fit)
{
    check_plan(t, D(NINE), "[" AC("abcDEF123") "," T("abcDEF123", "A") "]",
               "A[call(abcDEF123,ls,{})] T[res(abcDEF123,'A')]", "");
    check_plan(t, D(NINE), "[" AC("call_1") "," T("call_1", "A") "]",
               "A[call(MHAtrPbo5,ls,{})] T[res(MHAtrPbo5,'A')]", "R9.2@0.0");
    check_plan(t, 0, "[" AC("functions.ls:0") "," T("functions.ls:0", "A") "]",
               "A[call(call_XrMW7QZ4lwGg5XLu,ls,{})] T[res(call_XrMW7QZ4lwGg5XLu,'A')]",
               "R9.2@0.0");
}

TEST(plan, calls_without_any_tools_get_definitions)
{
    plan_bed bed;
    const char *prompt = "[" AC("a") "," T("a", "A") "," AC("b") "," T("b", "B") "]";

    plan_bed_init(&bed, t);
    plan_bed_make(&bed, D(TOOLS), prompt);
    CHECK_INT(1, bed.plan.tools.len);
    CHECK_TEXT("R11.1", repairs_text(&bed.plan));
    plan_bed_make(&bed, 0, prompt);
    CHECK_INT(0, bed.plan.tools.len);
    plan_bed_make(
        &bed, D(TOOLS),
        test_format("{'version':1,'tools':[{'name':'x','inputSchema':{}}],'messages':%s}", prompt));
    CHECK_INT(1, bed.plan.tools.len);
    CHECK_TEXT("", repairs_text(&bed.plan));
    plan_bed_release(&bed);
}

TEST(plan, system_messages_stay_where_they_are)
{
    check_plan(t, 0, "[" U("a") "," S("b") "," A("c") "]", "U['a'] S['b'] A['c']", "");
    check_plan(t, D(SYSTEM_AT_TOP) | D(ALTERNATION), "[" U("a") "," S("b") "," A("c") "]",
               "U['a' 'System note: b'] A['c']", "R12.2@1.0 R2.1@1");
    check_plan(t, 0, "[{'role':'system','blocks':[{'type':'role:transition','to':'critic'}]}]",
               "S['From here on the assistant acts as critic.']", "");
    check_plan(t, D(SYSTEM_AT_TOP),
               "[{'role':'system','blocks':[{'type':'role:transition','to':'critic'}]}]",
               "U['From here on the assistant acts as critic.']", "R12.2@0.0");
}

TEST(plan, forms_that_no_provider_has)
{
    check_plan(t, 0, "[{'role':'assistant','blocks':[{'type':'summary','text':'s'}]}," A("a") "]",
               "U['" VLS_PLAN_SUMMARY "s'] A['a']", "");
    check_plan(t, 0, "[{'role':'user','blocks':[{'type':'hologram'},{'type':'text','text':'x'}]}]",
               "U['x']", "R12.1@0.0");
    check_plan(
        t, 0,
        "[{'role':'assistant','blocks':[{'type':'tool_use','callId':'a','name':'ls','args':{},"
        "'rawArgs':'{oops'}]}," T("a", "A") "]",
        "A[call(a,ls,\"{oops\")] T[res(a,'A')]", "");
}

/* ---- models, params, ends ---- */

TEST(plan, models_have_rules_of_their_own)
{
    static const vls_model_rule rules[] = {
        {"m1*", D(USER_LAST), 0}, {"m*", 0, D(ALTERNATION)}, {NULL, 0, 0}};
    plan_bed bed;

    plan_bed_init(&bed, t);
    bed.adapter.models = rules;
    plan_bed_make(&bed, D(ALTERNATION),
                  "{'version':1,'params':{'model':'m1-x'},'messages':[" A("a") "," A("b") "]}");
    CHECK_TEXT("A['a' 'b'] U['Please continue.'^]", plan_text(&bed, &bed.plan));
    plan_bed_make(&bed, D(ALTERNATION),
                  "{'version':1,'params':{'model':'m2'},'messages':[" A("a") "," A("b") "]}");
    CHECK_TEXT("A['a'] A['b']", plan_text(&bed, &bed.plan));
    plan_bed_release(&bed);
}

TEST(plan, params_that_a_model_refuses_are_left_out)
{
    plan_bed bed;

    plan_bed_init(&bed, t);
    plan_bed_make(
        &bed, D(NO_TEMPERATURE),
        "{'version':1,'params':{'maxTokens':5,'temperature':1,'stop':['x']},'messages':[" U(
            "a") "]}");
    CHECK(!vls_json_get(bed.plan.params, VLS_STR("temperature")));
    CHECK(vls_json_get(bed.plan.params, VLS_STR("maxTokens")));
    CHECK(vls_json_get(bed.plan.params, VLS_STR("stop")));
    CHECK_TEXT("R12.3", repairs_text(&bed.plan));
    plan_bed_release(&bed);
}

TEST(plan, of_nothing_nothing_is_made)
{
    plan_bed bed;

    plan_bed_init(&bed, t);
    CHECK_OK(vls_neutral_read(&bed.prompt, &bed.arena, VLS_STR("{\"version\":1}"), &t->err));
    CHECK_RC(VALISE_E_INVALID, vls_plan_make(&bed.plan, &bed.arena, &bed.adapter, &bed.prompt,
                                             (valise_str){NULL, 0}, &t->err));
    CHECK_TEXT("the prompt has no message", t->err.message);
    plan_bed_release(&bed);
}

TEST(plan, marks_stand_where_sections_end)
{
    plan_bed bed;

    plan_bed_init(&bed, t);
    bed.marks = true;
    plan_bed_make(&bed, D(ALTERNATION),
                  "{'version':1,'messages':[" U("ctx") "," U("a") "," A("b") "," U("c") "," U(
                      "tail") "],"
                              "'sections':{'context':1,'history':3}}");
    CHECK_TEXT("U['ctx'* 'a'] A['b'] U['c'* 'tail'_]", plan_text(&bed, &bed.plan));
    plan_bed_make(&bed, 0, "[" U("a") "," A("b") "]");
    CHECK_TEXT("U['a'] A['b'*]", plan_text(&bed, &bed.plan));
    plan_bed_release(&bed);
}
