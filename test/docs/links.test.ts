import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { FILE_BACKED_VARIABLES, VARIABLES } from "../../src/config/environment.ts";
import { DOCUMENTS, proseOf, ROOT, readDocument } from "../support/documents.ts";

interface Target {
  page: string;
  line: number;
  target: string;
}

/** Links and images, inline and by definition, and addresses in angle brackets, except in backticks. */
function targetsOf(page: string): Target[] {
  const prose = proseOf(page).replaceAll(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
  const found = prose.matchAll(/\]\(([^()\s]+)\)|<([a-z]+:[^>\s]+)>|^\[[^\]]+\]: (\S+)$/gm);
  return [...found].map(({ index, 1: inline, 2: bare, 3: defined }) => ({
    page,
    line: prose.slice(0, index).split("\n").length,
    target: (inline ?? bare ?? defined)!,
  }));
}

/**
 * The anchors of a page's headings, as GitHub makes them.
 * @see https://github.com/Flet/github-slugger
 */
function anchorsOf(page: string): Set<string> {
  const anchors = new Map<string, number>();
  for (const [, heading] of proseOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading!
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    const before = anchors.get(slug) ?? 0;
    anchors.set(slug, before + 1);
    if (before > 0) anchors.set(`${slug}-${before}`, 1);
  }
  return new Set(anchors.keys());
}

/** The problem of a link, or undefined. */
function issueOf({ page, target }: Target): string | undefined {
  if (/^[a-z]+:/.test(target)) {
    const url = URL.parse(target);
    const isLocal = url?.hostname === "localhost" || url?.hostname === "127.0.0.1";
    return url?.protocol === "https:" || isLocal ? undefined : "is not an https address";
  }
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : relative(ROOT, join(ROOT, dirname(page), decodeURIComponent(path)));
  if (file.startsWith("..")) return "is outside the repository";
  if (!existsSync(join(ROOT, file))) return "does not exist";
  if (anchor === undefined) return undefined;
  if (statSync(join(ROOT, file)).isDirectory() || !file.endsWith(".md")) return "has no headings";
  return anchorsOf(file).has(anchor) ? undefined : `has no heading #${anchor}`;
}

/** Variables that Compose, clients, tests and the build of the interface use. */
const OTHER_VARIABLES = [
  "MILLRACE_VERSION",
  "MILLRACE_KEY",
  "MILLRACE_TEST_SEED",
  "MILLRACE_TEST_STORE",
  "MILLRACE_TEST_POSTGRES",
  "MILLRACE_TEST_CRASH_STRIDE",
  "MILLRACE_TEST_DEFINITIONS",
  "MILLRACE_LANGUAGE",
];

describe("the documents", () => {
  it("link only to existing files and headings", () => {
    const targets = DOCUMENTS.flatMap(targetsOf);
    expect(targets.length).toBeGreaterThan(150);
    const broken = targets.flatMap((to) => {
      const issue = issueOf(to);
      return issue === undefined ? [] : [`${to.page}:${to.line}: ${to.target} ${issue}`];
    });
    expect(broken).toEqual([]);
  });

  it("are all linked from README.md, directly or indirectly", () => {
    const reached = new Set<string>(["README.md"]);
    for (const page of reached) {
      for (const { target } of targetsOf(page)) {
        const path = join(dirname(page), target.split("#")[0]!);
        const found = [path, join(path, "README.md")].find((file) => DOCUMENTS.includes(file));
        if (found !== undefined) reached.add(found);
      }
    }
    expect(DOCUMENTS.filter((page) => !reached.has(page))).toEqual([]);
  });

  it("name only variables of Millrace that exist", () => {
    const known = new Set([
      ...VARIABLES,
      ...FILE_BACKED_VARIABLES.map((name) => `${name}_FILE`),
      ...OTHER_VARIABLES,
    ]);
    const unknown = DOCUMENTS.flatMap((page) =>
      [...readDocument(page).matchAll(/\bMILLRACE_[A-Z_]*[A-Z]\b/g)].flatMap(([name]) =>
        known.has(name) ? [] : [`${page}: ${name}`],
      ),
    );
    expect(unknown).toEqual([]);
  });
});
