/**
 * Finds the JSON in an answer of a model. Models write their thinking, remarks and Markdown around it. Every value counts that stands
 * outside of the thinking; nothing inside another value does, nor inside one that is broken. It takes one pass, whatever the answer.
 */
import { MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import { JsonLossError, JsonTooDeepError, parseExactJson } from "../../core/json-text.ts";

/** A value in an answer, or why it cannot be read. */
export interface FoundValue {
  /** Offset in the answer, in UTF-16 code units. */
  offset: number;
  read: { value: unknown } | { issue: string };
}

export interface FoundJson {
  /** The values, each spelling once. */
  values: FoundValue[];
  /** Whether the answer is nothing else than the value. */
  isWhole: boolean;
  /** Why no value can be the answer, in words that follow "the answer"; undefined if one may be. */
  problem: string | undefined;
}

/** Maximum number of different values of one answer. */
const MAX_VALUES = 20;
/** Maximum number of times that a value which does not end is read up to the end of the answer. */
const MAX_UNENDED = 50;

/** Maximum number of times that a part of the answer is parsed: one that is not JSON takes a hundred times as long as its characters. */
const MAX_READS = 1_000;

/** How models mark their thinking. The list in docs/workflows.md has the same tags. */
const TAG = [
  // DeepSeek, Qwen and others; Seed-OSS writes `<seed:think>`. Prompts ask for the other names.
  String.raw`<\/?(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reasoning|analysis|reflection|scratchpad)(?:\s[^<>]{0,100})?>`,
  // Magistral, Kimi, Command A, OpenThinker.
  String.raw`\[\/?THINK\]|◁\/?think▷|<\|(?:START|END)_THINKING\|>|<\|(?:begin|end)_of_thought\|>`,
  // Gemma; gpt-oss, of which everything in front of the last channel is thinking.
  String.raw`<\|channel>thought\b|<channel\|>|<\|channel\|>(?:analysis|final)[^<]{0,50}(?:<\|constrain\|>[^<]{0,50})?<\|message\|>`,
].join("|");
const TAGS = new RegExp(TAG, "gi");
const MARKS = new RegExp(`${TAG}|\`{3,}|~{3,}|[{[]`, "gi");

/** Whether a bracket begins a value, and not a remark in brackets: JSON, or what resembles it, such as JavaScript. */
const VALUE_START =
  /\{\s*(?:["'“”„‘’}]|\/[/*]|[\p{L}\p{N}_$]+\s*:)|\[\s*(?:["'“”„‘’{[\]]|-?\d|(?:true|false|null)\b)/uy;
const SCALAR_START = /^(?:"|-?\d|true|false|null)/;

const isTag = ({ text }: Mark): boolean => text.length > 1 && /^[<[◁]/.test(text);
const isClosing = ({ text }: Mark): boolean => /^(?:.\/|<\|end_|<channel|<\|channel\|>final)/i.test(text);

/** @param text the answer as the model wrote it */
export function findJson(text: string): FoundJson {
  const whole = text.trim();
  if (/^[{[]/.test(whole) || SCALAR_START.test(whole)) {
    const read = readValue(whole);
    if (read !== undefined)
      return { values: [{ offset: text.indexOf(whole), read }], isWhole: true, problem: undefined };
  }
  return scan(text);
}

/** Returns undefined if the source is not JSON. */
function readValue(source: string): FoundValue["read"] | undefined {
  try {
    return { value: parseExactJson(source, MAX_JSON_DEPTH) };
  } catch (error) {
    if (error instanceof JsonTooDeepError)
      return { issue: `the answer is nested deeper than ${MAX_JSON_DEPTH} levels` };
    return error instanceof JsonLossError ? { issue: error.problem } : undefined;
  }
}

/** Walks over the marks of an answer: tags of thinking, fences of code blocks, and brackets. */
function scan(text: string): FoundJson {
  const found = new Map<string, FoundValue>();
  const tagAfter = tagFinder(text);
  let problem: string | undefined;
  /** Offset of the first broken value behind the last one that can be read: it may be meant instead of that. */
  let broken: number | undefined;
  let fence = "";
  /** Where the answer begins, behind its thinking. */
  let start = 0;
  let unended = 0;
  let reads = 0;
  const add = (source: string, offset: number): boolean => {
    if (!found.has(source)) {
      reads += 1;
      if (reads > MAX_READS)
        problem ??= `has more than ${MAX_READS} JSON values, counting those that are not valid`;
      const read = readValue(source);
      if (read === undefined) return false;
      found.set(source, { offset, read });
    }
    broken = undefined;
    return true;
  };
  /** Adds the content of a code block, or of the whole answer, if it is a text or a number: other values are found by their brackets. */
  const addScalar = (from: number, to: number): boolean => {
    const content = text.slice(from, to);
    const sources = [content.trim(), content.trim().replace(/^[a-z][\w+-]*\s+/i, "")];
    return sources.some((source) => SCALAR_START.test(source) && add(source, from + content.indexOf(source)));
  };
  let mark = nextOf(MARKS, text, 0);
  for (let next: number; mark !== undefined && problem === undefined; mark = nextOf(MARKS, text, next)) {
    next = mark.end;
    if (isTag(mark)) {
      fence = "";
      // Templates of prompts may contain the opening tag: then the answer has only the closing one, and begins with thinking.
      if (isClosing(mark)) {
        found.clear();
        broken = undefined;
      }
      const end = isClosing(mark) ? mark : closingAfter(tagAfter, mark.end);
      next = end?.end ?? text.length;
      start = next;
      if (end === undefined && found.size === 0)
        problem = `has only thinking, which begins at ${placeOf(mark.start)} with ${mark.text} and does not end`;
    } else if (mark.text.length > 1) {
      const isOpen = fence !== "";
      if (!isOpen) fence = mark.text.slice(0, 3);
      const close = isOpen ? -1 : text.indexOf(fence, mark.end);
      if (close !== -1 && addScalar(mark.end, close)) next = close;
      if (isOpen && mark.text.startsWith(fence)) fence = "";
    } else if (beginsValue(text, mark.start)) {
      const end = endOfValue(text, mark.start);
      const isValue = end !== -1 && add(text.slice(mark.start, end), mark.start);
      const tag = isValue ? undefined : tagAfter(mark.end);
      if (end === -1) unended += 1;
      if (isValue) next = end;
      else if (end === -1 && (unended > MAX_UNENDED || !endsThinking(text, mark.start, tag)))
        problem = `has a JSON value that begins at ${placeOf(mark.start)} and does not end`;
      // The tag may be a part of a text in it, and what is behind the tag a part of it too.
      else if (end !== -1 && tag !== undefined && tag.start < end) problem = invalidAt(text, mark.start);
      else {
        broken ??= mark.start;
        next = end === -1 ? tag!.start : end;
      }
    }
  }
  if (start > 0 && found.size === 0) addScalar(start, text.length);
  if (found.size > MAX_VALUES) problem ??= `has more than ${MAX_VALUES} JSON values`;
  if (broken !== undefined) problem ??= invalidAt(text, broken);
  if (found.size === 0) problem ??= noValue(text, start);
  return { values: [...found.values()], isWhole: false, problem };
}

/** Whether a value that does not end is a part of thinking, which ends with the tag: a tag inside a text of it may be a part of that. */
function endsThinking(text: string, start: number, tag: Mark | undefined): boolean {
  if (tag === undefined || !isClosing(tag)) return false;
  let isText = false;
  for (let at = start; at < tag.start; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isText = !isText;
    else if (code === BACKSLASH && isText) at += 1;
  }
  return !isText;
}

function beginsValue(text: string, at: number): boolean {
  VALUE_START.lastIndex = at;
  return VALUE_START.test(text);
}

interface Mark {
  text: string;
  start: number;
  end: number;
}

function nextOf(pattern: RegExp, text: string, from: number): Mark | undefined {
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match === null
    ? undefined
    : { text: match[0], start: match.index, end: match.index + match[0].length };
}

type TagFinder = (from: number) => Mark | undefined;

/** Returns a function that finds the next tag, for offsets that only grow: so the answer is searched once. */
function tagFinder(text: string): TagFinder {
  let known = nextOf(TAGS, text, 0);
  return (from) => {
    while (known !== undefined && known.start < from) known = nextOf(TAGS, text, known.end);
    return known;
  };
}

function closingAfter(tagAfter: TagFinder, from: number): Mark | undefined {
  let tag = tagAfter(from);
  while (tag !== undefined && !isClosing(tag)) tag = tagAfter(tag.end);
  return tag;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns the offset behind an object or a list, by its brackets; -1 if it does not end. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at += 1; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1)
        if (text.charCodeAt(at) === BACKSLASH) at += 1;
    } else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

const noValue = (text: string, start: number): string => {
  if (text.slice(start).trim() !== "") return start === 0 ? "is not JSON" : "is not JSON behind its thinking";
  return start === 0 ? "is empty" : "has nothing behind its thinking";
};

/** @param start where a value begins that is not JSON */
function invalidAt(text: string, start: number): string {
  const end = endOfValue(text, start);
  const place = placeOfError(text.slice(start, end === -1 ? undefined : end), start);
  return `is not JSON: the value that begins at ${placeOf(start)} is not valid${place}`;
}

/** Where the parser stops, if it says so. */
function placeOfError(source: string, start: number): string {
  try {
    JSON.parse(source);
    return "";
  } catch (error) {
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    return position === undefined ? "" : `, see ${placeOf(start + Number(position))}`;
  }
}

/** An offset in the words of messages. */
export const placeOf = (offset: number): string => `character ${offset + 1}`;
