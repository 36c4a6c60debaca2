/** Parses one message of a catalogue, and derives the arguments of its function. */
import { type MessageFormatElement, parse, TYPE } from "@formatjs/icu-messageformat-parser";

/** What a message consists of. `element` is a tag without text, `<time/>`. */
export type Part =
  | { type: "text"; text: string }
  | { type: "value"; name: string }
  | { type: "number"; name: string; options: Intl.NumberFormatOptions }
  | { type: "plural" | "select"; name: string; options: Readonly<Record<string, readonly Part[]>> }
  | { type: "tag"; name: string; children: readonly Part[] }
  | { type: "element"; name: string };

/** The type of an argument: `value` is text or a number, `choice` one of the keys of a select. */
export type Argument =
  { kind: "value" | "number" | "string" | "tag" | "element" } | { kind: "choice"; keys: readonly string[] };

export type Arguments = ReadonlyMap<string, Argument>;

export interface Message {
  parts: readonly Part[];
  arguments: Arguments;
}

/** What is wrong with a message, and what to do. */
export class MessageError extends Error {}

/**
 * @param language decides which plural forms are needed
 * @throws MessageError for a syntax error and for what the compiler does not support
 */
export function parseMessage(text: string, language: string): Message {
  let elements: MessageFormatElement[];
  try {
    elements = parse(text, { requiresOtherClause: false, shouldParseSkeletons: true });
  } catch (error) {
    throw new MessageError(
      `is not a valid ICU message (${(error as Error).message}). Check its braces, tags and apostrophes.`,
    );
  }
  const parts = convert(elements, language);
  return { parts, arguments: collectArguments(parts) };
}

const NAME = /^[a-z][a-zA-Z0-9]*$/;

function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw new MessageError(`has the argument or tag "${name}". Use a name in camelCase.`);
}

/** @param counted the argument of the innermost plural, which `#` stands for */
function convert(elements: readonly MessageFormatElement[], language: string, counted?: string): Part[] {
  return elements.flatMap((element): Part[] => {
    switch (element.type) {
      case TYPE.literal:
        return splitElements(element.value);
      case TYPE.argument:
        return [{ type: "value", name: checkName(element.value) }];
      case TYPE.pound:
        return [{ type: "number", name: counted!, options: {} }];
      case TYPE.number:
        return [{ type: "number", name: checkName(element.value), options: numberOptions(element.style) }];
      case TYPE.tag:
        return [
          {
            type: "tag",
            name: checkName(element.value),
            children: convert(element.children, language, counted),
          },
        ];
      case TYPE.select:
        return [
          {
            type: "select",
            name: checkName(element.value),
            options: convertOptions(element, language, counted),
          },
        ];
      case TYPE.plural:
        checkPlural(element, language);
        return [
          {
            type: "plural",
            name: checkName(element.value),
            options: convertOptions(element, language, element.value),
          },
        ];
      default:
        throw new MessageError(
          `formats "${element.value}" as a date or time. Format it with src/web/locale, and pass the text as {${element.value}}.`,
        );
    }
  });
}

type Choice = Extract<MessageFormatElement, { type: TYPE.select | TYPE.plural }>;

const convertOptions = ({ options }: Choice, language: string, counted: string | undefined) =>
  Object.fromEntries(
    Object.entries(options).map(([key, { value }]) => [key, convert(value, language, counted)]),
  );

/** The parser gives a tag without text, `<time/>`, as text. */
const splitElements = (text: string): Part[] =>
  text
    .split(/<([a-z][a-zA-Z0-9]*)\s*\/>/)
    .map((piece, index): Part =>
      index % 2 === 0 ? { type: "text", text: piece } : { type: "element", name: piece },
    )
    .filter((part) => part.type !== "text" || part.text !== "");

function numberOptions(style: Extract<MessageFormatElement, { type: TYPE.number }>["style"]) {
  if (style === undefined || style === null) return {};
  if (typeof style === "object") return style.parsedOptions as Intl.NumberFormatOptions;
  throw new MessageError(
    `has the number style "${style}". Use a skeleton such as "{share, number, ::percent}".`,
  );
}

function checkPlural(element: Extract<MessageFormatElement, { type: TYPE.plural }>, language: string): void {
  const { value: name, offset, pluralType, options } = element;
  if (offset !== 0)
    throw new MessageError(`has an offset in the plural of "${name}". Pass the reduced number.`);
  if (pluralType === "ordinal") throw new MessageError(`has a selectordinal. Write the message without it.`);
  const needed = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const forms = Object.keys(options).filter((key) => !/^=\d+$/.test(key));
  const missing = needed.filter((form) => !forms.includes(form));
  if (missing.length > 0)
    throw new MessageError(`lacks the plural form ${missing.join(", ")} of "${name}". Add it.`);
  const unknown = forms.filter((form) => !needed.some((one) => one === form));
  if (unknown.length > 0)
    throw new MessageError(
      `has the plural form ${unknown.join(", ")} of "${name}", which the language does not use. Remove it.`,
    );
}

function* argumentsOf(parts: readonly Part[]): Generator<[string, Argument]> {
  for (const part of parts) {
    if (part.type === "text") continue;
    yield [part.name, argumentOf(part)];
    if (part.type === "tag") yield* argumentsOf(part.children);
    if (part.type === "plural" || part.type === "select")
      for (const option of Object.values(part.options)) yield* argumentsOf(option);
  }
}

function argumentOf(part: Exclude<Part, { type: "text" }>): Argument {
  if (part.type === "plural") return { kind: "number" };
  if (part.type !== "select") return { kind: part.type };
  return "other" in part.options
    ? { kind: "string" }
    : { kind: "choice", keys: Object.keys(part.options).toSorted() };
}

function collectArguments(parts: readonly Part[]): Arguments {
  const found = new Map<string, Argument>();
  for (const [name, argument] of argumentsOf(parts)) {
    const merged = mergeArguments(found.get(name) ?? argument, argument);
    if (merged === undefined)
      throw new MessageError(`uses "${name}" in two ways that exclude each other. Give them two names.`);
    found.set(name, merged);
  }
  return found;
}

/** @returns the type that satisfies both uses of an argument; undefined if there is none */
export function mergeArguments(a: Argument, b: Argument): Argument | undefined {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  const isElement = ({ kind }: Argument): boolean => kind === "tag" || kind === "element";
  if (isElement(a) || isElement(b)) return undefined;
  if (a.kind === "value") return b;
  if (b.kind === "value") return a;
  if (a.kind === "string" && b.kind === "choice") return b;
  if (b.kind === "string" && a.kind === "choice") return a;
  return undefined;
}
