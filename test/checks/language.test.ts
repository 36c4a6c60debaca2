import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RETIRED_PHRASES, RETIRED_WORDS } from "./retired-words.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Texts of others, this list itself, and files without prose of ours. */
const SKIPPED =
  /^(?:LICENSE|(?:.*\/)?package-lock\.json|test\/checks\/(?:retired-words|language\.test)\.ts|test\/engine\/definition\/expressions\/cel-|test\/fixtures\/state-|.*\.(?:png|svg|ico|woff2|db|sqlite|gz))/;

interface Finding {
  at: string;
  found: string;
  instead: string;
}

/** The words of a line, identifiers taken apart: `toldOnce` and `told_once` are two words each. */
const wordsOf = (line: string): string[] =>
  line
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}]+/u);

const allowed = (path: string, except: readonly string[] = []): boolean =>
  except.some((prefix) => path.startsWith(prefix));

/** Retired words in a text, with the line of each. The first line is the path itself. */
function findRetired(path: string, text: string): Finding[] {
  const found: Finding[] = [];
  text.split("\n").forEach((line, index) => {
    const at = `${path}:${index}`;
    const words = new Set(wordsOf(line));
    for (const { word, instead, except } of RETIRED_WORDS)
      if (words.has(word) && !allowed(path, except)) found.push({ at, found: word, instead });
    for (const { phrase, instead, except } of RETIRED_PHRASES) {
      const match = phrase.exec(line);
      if (match !== null && !allowed(path, except)) found.push({ at, found: match[0], instead });
    }
  });
  return found;
}

const trackedFiles = (): string[] =>
  execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" })
    .split("\0")
    .filter((path) => path !== "" && !SKIPPED.test(path));

describe("the language of the project", () => {
  it("uses no retired word in identifiers, comments, messages or documents", () => {
    const findings = trackedFiles().flatMap((path) =>
      findRetired(path, `${path}\n${readFileSync(join(ROOT, path), "utf8")}`),
    );
    expect(findings.map(({ at, found, instead }) => `${at}: "${found}": write ${instead}`)).toEqual([]);
  });

  it.each([
    ["a camel-case identifier", "const toldOnce = 1;", "told"],
    ["a snake-case field", "was_told: true", "told"],
    ["a comment", "// Is told of it.", "told"],
    ["a phrase", "while a run is under way", "under way"],
    ["a limit without a subject", "/** As many rows may be read. */", "As many rows may"],
  ])("finds a retired word in %s", (_, line, found) => {
    expect(findRetired("src/x.ts", `src/x.ts\n${line}`)).toMatchObject([{ at: "src/x.ts:1", found }]);
  });

  it.each(["const defaultValue = 1;", "// The default is 3.", "// An underway pump."])(
    "leaves other words alone: %s",
    (line) => expect(findRetired("src/x.ts", `src/x.ts\n${line}`)).toEqual([]),
  );
});
