/** Reads the topics that agents ask for, and joins the guides to them. */

import { SYNONYMS } from "./topic-synonyms.ts";

/** The parts of a text that name topics: lists of them are also written as JSON, or in quotes. */
const SEPARATORS = /[,;\n[\]"'`]+/;

/** @returns the known topics and the texts that name none, each once; one of them is not empty */
export function readTopics(
  asked: readonly string[],
  isKnown: (topic: string) => boolean,
): { topics: string[]; unknown: string[] } {
  const topics = new Set<string>();
  const unknown = new Set<string>();
  for (const written of asked.flatMap((text) => text.split(SEPARATORS)).map((text) => text.trim())) {
    if (written === "") continue;
    const found = meantTopics(written, isKnown);
    if (found.length === 0) unknown.add(written);
    for (const topic of found) topics.add(topic);
  }
  const isEmpty = topics.size + unknown.size === 0;
  return { topics: [...topics], unknown: isEmpty ? [...asked] : [...unknown] };
}

/** The topics that a text names: `for each`, `retry.attempts` (a field of a field), a synonym, or several words. */
function meantTopics(written: string, isKnown: (topic: string) => boolean): string[] {
  const name = written.toLowerCase().replaceAll(/[\s-]+/g, "_");
  const parts = name.split(".");
  const one = [written, name, parts.at(-1)!, parts[0]!].find(isKnown);
  if (one !== undefined) return [one];
  const meant = SYNONYMS.get(name);
  if (meant !== undefined) return meant.split(", ");
  const words = written.toLowerCase().split(/\s+/);
  if (words.length < 2) return [];
  const topics = words.map((word) => meantTopics(word, isKnown));
  return topics.every((found) => found.length > 0) ? topics.flat() : [];
}

export interface TopicGuide {
  /** Markdown: blocks with an empty line between them. */
  text: string;
  /** Whether it is about a part of the language as a whole, and not about one word. */
  isWhole: boolean;
}

/**
 * Joins guides in their order. What another guide says too is left out: what is about a part of the language stays whole, of the others
 * the first.
 */
export function joinGuides(guides: readonly TopicGuide[]): string {
  const inner = new Set(guides.flatMap(({ text }) => text.split("\n").filter(isInner).map(entryOf)));
  const said = new Set<string>();
  const texts = new Map<TopicGuide, string>();
  for (const guide of guides.toSorted((one, other) => Number(other.isWhole) - Number(one.isWhole))) {
    const left = guide.text
      .split("\n\n")
      .map((block) => (said.has(block) ? "" : isCode(block) ? block : withoutSaid(block, said, inner)));
    texts.set(guide, left.filter((block) => block !== "").join("\n\n"));
    for (const block of guide.text.split("\n\n"))
      for (const part of [block, ...block.split("\n").filter(isEntry).map(entryOf)]) said.add(part);
  }
  return guides
    .map((guide) => texts.get(guide)!)
    .filter((text) => text !== "")
    .join("\n\n");
}

/** A block without the entries that were said, or that stand in another entry; empty if nothing else was in it. */
function withoutSaid(block: string, said: ReadonlySet<string>, inner: ReadonlySet<string>): string {
  const entries = block.split(/\n(?! {2})/);
  if (!entries.some(isEntry)) return block;
  const left = entries.filter((entry) => {
    const line = entry.split("\n", 1)[0]!;
    return !isEntry(line) || !(said.has(entryOf(line)) || inner.has(entryOf(line)));
  });
  return left.some(isEntry) ? left.join("\n") : "";
}

const isCode = (block: string): boolean => block.startsWith("```");
const isInner = (line: string): boolean => line.startsWith("  - `");
/** Whether a line is about a field or a function: `Of a step: - ...`. */
const isEntry = (line: string): boolean => line.includes("- `");
/** The line without its place and its indentation. */
const entryOf = (line: string): string => line.slice(line.indexOf("- `"));
