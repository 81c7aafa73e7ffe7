/* completion.c -- the scripts that make shells ask `valise __complete`.
 *
 * They know nothing of commands: what there is comes from the registry when it is asked. */
#include "cli/complete.h"

/* bash splits words at ':', '=' and '@' too, and replaces only what is behind the last of them;
 * but an '@' it replaces as well. */
static const char bash_script[] =
    "# bash completion for valise, made by `valise completion bash`.\n"
    "_valise() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word i current part prefix answer name\n"
    "    local -a words=()\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        local glued=no\n"
    "        [[ $line == [[:space:]]* || -z $line ]] || glued=yes\n"
    "        line=${line#\"${line%%[![:space:]]*}\"}\n"
    "        ((i < COMP_CWORD)) || word=$line\n"
    "        line=${line#\"$word\"}\n"
    "        if ((i > 1)) && [ $glued = yes ]; then\n"
    "            words[${#words[@]} - 1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    current=${words[${#words[@]} - 1]}\n"
    "    part=${current##*[\"$COMP_WORDBREAKS\"]}\n"
    "    prefix=${current%\"$part\"}\n"
    "    prefix=${prefix%@}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r answer; do\n"
    "        case $answer in\n"
    "        $'\\tfiles' | $'\\tdirs')\n"
    "            compopt -o filenames\n"
    "            name=-f\n"
    "            [ \"$answer\" = $'\\tfiles' ] || name=-d\n"
    "            while IFS= read -r word; do\n"
    "                COMPREPLY+=(\"${word#\"$prefix\"}\")\n"
    "            done < <(compgen $name -- \"$current\")\n"
    "            ;;\n"
    "        $'\\t@files')\n"
    "            [[ $current == @* ]] || continue\n"
    "            while IFS= read -r word; do\n"
    "                name=$word\n"
    "                printf -v word %q \"$word\"\n"
    "                [ ! -d \"$name\" ] || { word+=/ && compopt -o nospace; }\n"
    "                word=@$word\n"
    "                COMPREPLY+=(\"${word#\"$prefix\"}\")\n"
    "            done < <(compgen -f -- \"${current#@}\")\n"
    "            ;;\n"
    "        *)\n"
    "            word=${answer%%$'\\t'*}\n"
    "            [[ $word != */ ]] || compopt -o nospace\n"
    "            printf -v word %q \"${word#\"$prefix\"}\"\n"
    "            COMPREPLY+=(\"$word\")\n"
    "            ;;\n"
    "        esac\n"
    "    done < <(\"$1\" __complete -- \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _valise valise\n";

static const char zsh_script[] =
    "#compdef valise\n"
    "# zsh completion for valise, made by `valise completion zsh`.\n"
    "_valise() {\n"
    "    local answer word text\n"
    "    local -a found\n"
    "    while IFS= read -r answer; do\n"
    "        case $answer in\n"
    "        $'\\tfiles') _files ;;\n"
    "        $'\\tdirs') _files -/ ;;\n"
    "        $'\\t@files')\n"
    "            if compset -P '@'; then _files; fi ;;\n"
    "        *)\n"
    "            word=${answer%%$'\\t'*}\n"
    "            text=${answer#*$'\\t'}\n"
    "            found+=(\"${word//:/\\\\:}:$text\") ;;\n"
    "        esac\n"
    "    done < <(\"$words[1]\" __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
    "    (( ${#found} == 0 )) || _describe valise found\n"
    "}\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
    "    _valise \"$@\"\n"
    "else\n"
    "    compdef _valise valise\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion for valise, made by `valise completion fish`.\n"
    "function __valise_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    for answer in ($words[1] __complete -- $words[2..-1] $current 2>/dev/null)\n"
    "        switch $answer\n"
    "            case \\tfiles\n"
    "                __fish_complete_path $current\n"
    "            case \\tdirs\n"
    "                __fish_complete_directories $current\n"
    "            case \\t@files\n"
    "                if string match -q '@*' -- $current\n"
    "                    for file in (__fish_complete_path (string sub -s 2 -- $current))\n"
    "                        echo @$file\n"
    "                    end\n"
    "                end\n"
    "            case '*'\n"
    "                echo $answer\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c valise -f -a '(__valise_complete)'\n";

void cli_completion_script(vls_buf *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        vls_buf_add_text(out, bash_script);
    else if (strcmp(shell, "zsh") == 0)
        vls_buf_add_text(out, zsh_script);
    else
        vls_buf_add_text(out, fish_script);
}
