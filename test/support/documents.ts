/** Reads the repository's documents. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Paths of all documents, relative to the root. */
export const DOCUMENTS: readonly string[] = globSync(
  ["*.md", "{docs,deploy,bench,examples}/**/*.md", "packages/*/*.md"],
  {
    cwd: ROOT,
  },
).toSorted();

export const readDocument = (page: string): string => readFileSync(join(ROOT, page), "utf8");

export interface CodeBlock {
  page: string;
  /** The line of its fence, from 1. */
  line: number;
  /** `sh`, `yaml` …; empty for none. */
  language: string;
  text: string;
}

const FENCED = /^( *)```(\w*)\n(.*?)^ *```$/gms;

/** The code blocks of a page, without the indentation of lists. */
export function codeBlocksOf(page: string): CodeBlock[] {
  const text = readDocument(page);
  return [...text.matchAll(FENCED)].map(({ index, 1: indent, 2: language, 3: inner }) => ({
    page,
    line: text.slice(0, index).split("\n").length,
    language: language!,
    text: inner!.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

/** A page with blank lines instead of code blocks, so that line numbers stay the same. */
export const proseOf = (page: string): string =>
  readDocument(page).replaceAll(FENCED, (block) => block.replaceAll(/[^\n]/g, ""));

/** The inline code of a page. */
export const inlineCodeOf = (page: string): string[] =>
  [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map((found) => found[1]!);

/** The text below a heading, up to the next one of the same or a higher level. */
export function sectionOf(page: string, heading: string): string {
  const level = /^#+/.exec(heading)![0].length;
  const [, after] = readDocument(page).split(`\n${heading}\n`);
  if (after === undefined) throw new Error(`${page} has no heading "${heading}"`);
  return after.split(new RegExp(`^#{1,${level}} `, "m"))[0]!;
}

/** The rows of the first table in a text, cell by cell, without its head. */
export function tableIn(text: string): string[][] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const last = lines.findIndex((line, index) => index > first && !line.startsWith("|"));
  return lines.slice(first + 2, last).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}
