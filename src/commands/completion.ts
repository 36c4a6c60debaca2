/** `millrace completion`: scripts that complete commands, options and choices in a shell. */
import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof SHELLS)[number];

/** What can follow a command: its subcommands and options, and the choices of an option. */
interface Completion {
  /** The words of the command, such as `runs show`; empty for the program. */
  path: string;
  words: string[];
  choices: { option: string; words: readonly string[] }[];
}

/** Everything that can be completed. Hidden commands and options are left out. */
function completionsOf(command: Command, path: readonly string[] = []): Completion[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((sub) => sub.name() !== "help");
  const options = help.visibleOptions(command).filter(({ long }) => long);
  return [
    {
      path: path.join(" "),
      words: [...commands.map((sub) => sub.name()), ...options.map(({ long }) => long!)],
      choices: options.flatMap(({ long, argChoices }) =>
        argChoices === undefined ? [] : [{ option: long!, words: argChoices }],
      ),
    },
    ...commands.flatMap((sub) => completionsOf(sub, [...path, sub.name()])),
  ];
}

/** The script for a shell, which knows the commands of this release. */
export function completionScript(program: Command, shell: Shell): string {
  const completions = completionsOf(program);
  switch (shell) {
    case "bash":
      return bash(completions);
    case "zsh":
      return `#compdef millrace\nautoload -U +X bashcompinit && bashcompinit\n${bash(completions)}`;
    case "fish":
      return fish(completions);
    case "powershell":
      return powershell(completions);
  }
}

/** The cases of a shell function that chooses by the words so far, and by the option before. */
function bash(completions: readonly Completion[]): string {
  const paths = completions.filter(({ path }) => path !== "").map(({ path }) => path);
  const choices = completions.flatMap(({ path, choices: of }) =>
    of.map(({ option, words }) => `    "${path}:${option}") words="${words.join(" ")}" ;;`),
  );
  return `_millrace() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" next word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
      ${paths.map((path) => `"${path}"`).join("|")}) path="$next" ;;
    esac
  done
  case "$path:$previous" in
${choices.join("\n")}
  esac
  [ -n "$words" ] || case "$path" in
${completions.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _millrace millrace
`;
}

function fish(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, words, choices }) => {
    const commands = path === "" ? [] : path.split(" ");
    const seen = commands.map((word) => `__fish_seen_subcommand_from ${word}`);
    const subs = words.filter((word) => !word.startsWith("--"));
    const none = subs.length === 0 ? [] : [`not __fish_seen_subcommand_from ${subs.join(" ")}`];
    const where = [...seen, ...none].join("; and ");
    const condition = where === "" ? "" : ` -n '${where}'`;
    return [
      ...subs.map((word) => `complete -c millrace -f${condition} -a ${word}`),
      ...words
        .filter((word) => word.startsWith("--"))
        .map((word) => {
          const of = choices.find(({ option }) => option === word);
          return `complete -c millrace${condition} -l ${word.slice(2)}${of === undefined ? "" : ` -x -a '${of.words.join(" ")}'`}`;
        }),
    ];
  });
  return `${lines.join("\n")}\n`;
}

function powershell(completions: readonly Completion[]): string {
  const table = completions.map(
    ({ path, words }) => `  '${path}' = @(${words.map((word) => `'${word}'`).join(", ")})`,
  );
  return `$millraceWords = @{
${table.join("\n")}
}
Register-ArgumentCompleter -Native -CommandName millrace -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $path = ''
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    $next = ("$path $element").Trim()
    if ($millraceWords.ContainsKey($next)) { $path = $next }
  }
  $millraceWords[$path] | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}
