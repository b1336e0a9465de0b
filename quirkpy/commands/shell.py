"""What a shell is told of the command line: examples in its help, and completion of its words."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

from quirkpy.commands.answer import Answer

#: An example for each command, as its help shows it.
EXAMPLES = {
    "explore": "quirkpy explore study.py --workers 4 --out pair.db",
    "report": "quirkpy report pair.db --out shapes.html shapes.graphml",
    "plan": "quirkpy plan pair.db n0 n1 --cost time --out flight.npz",
    "simulate": "quirkpy simulate system.py --duration 60 --report run.html",
    "check": "quirkpy check robot.urdf",
    "table": "quirkpy table pair.db n1 --out table.h",
    "robustness": "quirkpy robustness pair.db e3 --samples 1000 --workers 4",
    "new": "quirkpy new study my.py",
    "movie": "quirkpy movie flight.npz --out flight.mp4",
    "picture": "quirkpy picture pair.db --out shapes.svg",
    "merge": "quirkpy merge a.db b.db --out both.db",
    "completion": 'eval "$(quirkpy completion bash)"',
    "demos": "quirkpy demos",
    "warm": "quirkpy warm study.py",
}
#: What bash does for a word after `quirkpy`: commands, their options, files.
BASH = """\
_quirkpy() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} options=""
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "{commands}" -- "$word"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _quirkpy quirkpy
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def words_of_completion(it: argparse.ArgumentParser) -> None:
    """The arguments of `quirkpy completion`."""
    it.add_argument("shell", choices=("bash", "zsh"), help="the shell that is to complete words")


def completion(shell: str, commands: Mapping[str, argparse.ArgumentParser]) -> Answer:
    """`quirkpy completion bash`: a script by which a shell completes commands, options and
    files."""
    options = {
        name: sorted(set(re.findall(r"--[a-z]+", words.format_usage() + " --help")))
        for name, words in commands.items()
    }
    cases = "\n".join(f'    {name}) options="{" ".join(o)}" ;;' for name, o in options.items())
    script = BASH.format(commands=" ".join(options), cases=cases)
    return Answer((ZSH if shell == "zsh" else "") + script.rstrip(), options)
