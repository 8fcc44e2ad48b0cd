"""The command `winnow completion`: prints a script that completes commands and options in bash, and in zsh after
`bashcompinit`.
"""

import argparse
from pkgutil import resolve_name

from scrapy.settings import BaseSettings

from crawler.command_line.command_table import COMMANDS
from crawler.command_line.options import CommandOptions


class CompletionOptions(CommandOptions):
    function = "crawler.command_line.completion:complete"


def complete(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Print the script, which `source <(winnow completion)` runs; returns the exit status."""
    options = {name: _options(name, settings) for name in COMMANDS}
    cases = "\n".join(f"        {name}) words='{' '.join(words)}' ;;" for name, words in options.items())
    print(f"""_winnow() {{
    local words='{" ".join(COMMANDS)}'
    [ "$COMP_CWORD" -gt 1 ] && case "${{COMP_WORDS[1]}}" in
{cases}
        *) words='' ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _winnow winnow""")
    return 0


def _options(name: str, settings: BaseSettings) -> list[str]:
    command = resolve_name(f"crawler.commands.{name}:Command")()
    command.settings = settings
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    return [option for action in parser._actions for option in action.option_strings]
