import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { codeBlocksOf, DOCUMENTS, inlineCodeOf, sectionOf, tableIn } from "../support/documents.ts";
import { PROGRAM } from "../support/built.ts";

interface Help {
  /** By name. */
  subcommands: ReadonlyMap<string, Help>;
  /** `--name`, and whether it takes a value. */
  options: ReadonlyMap<string, boolean>;
  /** Number of arguments. */
  maximum: number;
  minimum: number;
}

/** The subcommands, options and arguments of a command, as its `--help` shows them. */
async function helpOf(path: readonly string[]): Promise<Help> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...path, "--help"]);
  const part = (title: string): string => stdout.split(`\n${title}:\n`)[1]?.split(/\n\S/)[0] ?? "";
  const names = [...part("Commands").matchAll(/^ {2}([a-z][\w-]*)/gm)].map((found) => found[1]!);
  const subcommands = names
    .filter((name) => name !== "help")
    .map(async (name) => [name, await helpOf([...path, name])] as const);
  const usage = /^Usage: .*$/m.exec(stdout)![0];
  const options = [...part("Options").matchAll(/^ {2}(?:-\w, )?(--[\w-]+)( [<[])?/gm)];
  return {
    subcommands: new Map(await Promise.all(subcommands)),
    options: new Map(options.map(([, name, value]) => [name!, value !== undefined])),
    minimum: [...usage.matchAll(/<[\w=-]+(?:\.\.\.)?>/g)].length,
    // The last argument may be given several times: `[key...]`.
    maximum: usage.includes("...")
      ? Infinity
      : [...usage.matchAll(/[<[](?!options\]|command\])[\w-]+[>\]]/g)].length,
  };
}

interface DocumentedCommand {
  page: string;
  command: string;
}

/** `millrace <word> …` up to the end of that command. Skips the image and the user, which have the same name. */
const COMMAND =
  /(?<!-{1,2}\w+ |[\w/.-])millrace(?:\.js)? (?!millrace\b|https?:|<|…)(--?[a-z]|[a-z])(?:'[^'\n]*'|"[^"\n]*"|\$\([^)\n]*\)|[^|&;\n"'`#)])*/g;

function documentedCommands(): DocumentedCommand[] {
  return DOCUMENTS.flatMap((page) => {
    const blocks = codeBlocksOf(page).flatMap(({ language, text }) =>
      language === "sh" || language === "" ? [text.replaceAll("\\\n", " ")] : [],
    );
    const inline = inlineCodeOf(page).filter((code) => /^(npx )?millrace /.test(code));
    return [...blocks, ...inline].flatMap((text) =>
      [...text.matchAll(COMMAND)].map(([command]) => ({ page, command: command.trim() })),
    );
  });
}

/** The problem of a command, or undefined. */
function issueOf(help: Help, command: string): string | undefined {
  const words = command.match(/(?:'[^']*'|"[^"]*"|\$\([^)]*\)|[^\s'"])+/g)!.slice(1);
  let at = help;
  let count = 0;
  let isShort = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    const [name = "", value] = word.split("=", 2);
    if (name === "…") isShort = true;
    else if (name.startsWith("--")) {
      const takes = at.options.get(name);
      if (takes === undefined) return `has no option ${name}`;
      if (!takes) continue;
      if (value !== undefined) continue;
      // A text that only mentions the option may omit its value.
      while (words[index + 1] !== undefined && !words[index + 1]!.startsWith("--")) {
        index += 1;
        if (!TAKES_MANY.has(name)) break;
      }
    } else if (at.subcommands.has(name) && count === 0) at = at.subcommands.get(name)!;
    else count += 1;
  }
  if (at.subcommands.size > 0 && at.maximum === 0 && count > 0) return "is no command";
  if (count > at.maximum) return `takes ${at.maximum} arguments, not ${count}`;
  return count === 0 || isShort || count >= at.minimum ? undefined : `takes ${at.minimum} arguments`;
}

const TAKES_MANY = new Set(["--scope", "--status"]);

describe("the commands in the documents", () => {
  let help: Help;
  beforeAll(async () => {
    help = await helpOf([]);
  });

  it("exist, with these options and this number of arguments", () => {
    const commands = documentedCommands();
    expect(commands.length).toBeGreaterThan(80);
    const issues = commands.flatMap(({ page, command }) => {
      const issue = issueOf(help, command);
      return issue === undefined ? [] : [`${page}: ${command}: ${issue}`];
    });
    expect(issues).toEqual([]);
  });

  it("are all in README's table", () => {
    const rows = tableIn(sectionOf("README.md", "## Run it for others"));
    const listed = rows.map(([cell]) => /^`millrace ([\w-]+)/.exec(cell!)?.[1]);
    expect(new Set(listed)).toEqual(new Set(help.subcommands.keys()));
  });
});
