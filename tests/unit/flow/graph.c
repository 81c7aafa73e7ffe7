/* graph.c -- flows as pictures, of which nothing that somebody wrote breaks out. [F15] */
#include "flow/kit.h"

static const char sales[] =
    "{'namespace':'sales','nodes':[{'id':'chat','type':'ChatNode'},{'id':'search','type':"
    "'SearchNode'}],'subflows':[{'namespace':'reports','start':'weekly','nodes':[{'id':'daily',"
    "'type':'ReportNode'},{'id':'weekly','type':'ReportNode'}],'edges':[{'from':'weekly','to':"
    "'daily'}]}],'edges':[{'from':'chat','to':'search','condition':'needs_search'},"
    "{'from':'search','to':'reports'},{'from':'reports','to':'chat','condition':"
    "{'>':[{'var':'n'},3]}}]}";

TEST(flow_graph, mermaid)
{
    valise *v = kit_open(t);

    CHECK_TEXT(
        "flowchart TD\n"
        "  n1[\"chat<br/>ChatNode\"]\n"
        "  n2[\"search<br/>SearchNode\"]\n"
        "  subgraph n3[\"reports\"]\n"
        "    n4[\"daily<br/>ReportNode\"]\n"
        "    n5[\"weekly<br/>ReportNode\"]\n"
        "    s3(( )) --> n5\n"
        "    n5 --> n4\n"
        "  end\n"
        "  s0(( )) --> n1\n"
        "  n1 -->|\"needs_search\"| n2\n"
        "  n2 --> n3\n"
        "  n3 -->|\"#123;#34;#62;#34;:#91;#123;#34;var#34;:#34;n#34;#125;,3#93;#125;\"| n1\n",
        kit_draw(t, kit_flow(t, v, sales), VALISE_GRAPH_MERMAID));
}

/* An arrow to a cluster leads to the circle where that begins. */
TEST(flow_graph, dot)
{
    valise *v = kit_open(t);

    CHECK_TEXT("digraph flow {\n"
               "  compound=true;\n"
               "  node [shape=box];\n"
               "  n1 [label=\"chat\\nChatNode\"];\n"
               "  n2 [label=\"search\\nSearchNode\"];\n"
               "  subgraph cluster_3 { label=\"reports\";\n"
               "    n4 [label=\"daily\\nReportNode\"];\n"
               "    n5 [label=\"weekly\\nReportNode\"];\n"
               "    s3 [shape=circle label=\"\" width=0.2]; s3 -> n5;\n"
               "    n5 -> n4 [];\n"
               "  }\n"
               "  s0 [shape=circle label=\"\" width=0.2]; s0 -> n1;\n"
               "  n1 -> n2 [label=\"needs_search\"];\n"
               "  n2 -> s3 [ lhead=cluster_3];\n"
               "  s3 -> n1 [label=\"{\\\">\\\":[{\\\"var\\\":\\\"n\\\"},3]}\" ltail=cluster_3];\n"
               "}\n",
               kit_draw(t, kit_flow(t, v, sales), VALISE_GRAPH_DOT));
}

/* Between quotes there is nothing that ends them, and nothing that means something. */
TEST(flow_graph, nothing_breaks_out)
{
    static const char *const conditions[] = {
        "\"\\\"]; evil -> n0 [label=\\\"\"",
        "{\"==\":[{\"var\":\"end\\u202e\\u2066\\\"|\"},1]}",
        "\"<script>alert(1)</script>\"",
        "\"\\\\\"",
        "\"\\\\\\\"\"",
        "\"#quot;\"",
        "\"`x` %% {{y}} ;\"",
        "{\"==\":[{\"var\":\"\\\"]\\n  click n0 href \\\"javascript:1\\\"\"},1]}",
        NULL};
    valise *v = kit_open(t);

    for (size_t i = 0; conditions[i]; i++) {
        const char *config =
            test_format("{\"nodes\":[{\"id\":\"a\",\"type\":\"SearchNode\"}],\"edges\":[{\"from\":"
                        "\"a\",\"to\":\"a\",\"condition\":%s}]}",
                        conditions[i]);
        VLS_AUTO(flow) valise_flow *flow = NULL;
        valise_flow_options options = kit_options();
        CHECK_OK(valise_flow_from_config(&flow, v, valise_str_of(config), NULL, &options, &t->err));
        for (int format = VALISE_GRAPH_MERMAID; format <= VALISE_GRAPH_DOT; format++) {
            const char *text = kit_draw(t, flow, format);
            size_t lines = 0;
            bool quoted = false;
            test_context("%s: %s", conditions[i], text);
            for (const char *c = text; *c; c++) {
                if (*c == '\\' && quoted && format == VALISE_GRAPH_DOT)
                    c++;
                else if (*c == '"')
                    quoted = !quoted;
                else if (quoted && format == VALISE_GRAPH_MERMAID)
                    CHECK(!strchr("{}[]()|\\`%", *c));
                lines += *c == '\n';
                CHECK(*c != '\n' || !quoted);
            }
            CHECK(!quoted);
            CHECK(!strstr(text, "\xe2\x80\xae")); /* U+202E */
            CHECK_INT(format == VALISE_GRAPH_DOT ? 7 : 4, lines);
        }
        test_context_end();
    }
}

TEST(flow_graph, long_rules_are_cut)
{
    valise *v = kit_open(t);
    const char *text = kit_draw(
        t,
        kit_flow(t, v,
                 "{'nodes':[{'id':'a','type':'SearchNode'}],'edges':[{'from':'a','to':'a',"
                 "'condition':{'in':[{'var':'x'},['aaaaaaaaaaaaaaaaaaaaa','bbbbbbbbbbbbbbbbbbbbbb',"
                 "'cccccccccccccccccccccccccccccccc']]}}]}"),
        VALISE_GRAPH_DOT);

    CHECK(strstr(text, "aaaaaaaaaa"));
    CHECK(!strstr(text, "cccc"));
    CHECK(strstr(text, "\xe2\x80\xa6")); /* an ellipsis */
}

TEST(flow_graph, of_what_is_not_linked)
{
    valise *v = kit_open(t);
    valise_flow *flow = kit_new(t, v, NULL), *inner = NULL;
    valise_blob *out = NULL;

    CHECK_TEXT("flowchart TD\n", kit_draw(t, flow, VALISE_GRAPH_MERMAID));
    CHECK_OK(valise_flow_add_subflow(&inner, flow, kit_quote("{'id':'s'}"), &t->err));
    CHECK_TEXT("flowchart TD\n  n1[\"s\"]\n  s0(( )) --> n1\n",
               kit_draw(t, flow, VALISE_GRAPH_MERMAID));
    CHECK_RC(VALISE_E_INVALID, valise_flow_graph(&out, flow, 7, &t->err));
}
