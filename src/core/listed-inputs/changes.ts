/** Says what agents get in another form than it is written, and whose programs refuse it as it is. */
import type { PartialIssue } from "../connections.ts";
import { type JsonSchema, KEYWORDS } from "../json-schema/dialect.ts";
import { isSchemaObject, typesOf } from "../json-schema/map-schemas.ts";
import { listInputs, MAX_LISTED_CHARS } from "./list-inputs.ts";
import { portablePattern } from "./portable-pattern.ts";
import { isPortableFormat } from "./portable-rules.ts";

type Path = PropertyKey[];

const CLAUDE = "Claude (Anthropic, Bedrock)";
const OPENAI = "OpenAI";
const GEMINI = "Gemini";

/** Whose models refuse a keyword in the schema of a tool. At the root Claude and OpenAI refuse choices, below it they take them. */
const REFUSED_AT_ROOT: ReadonlyMap<string, string> = new Map([
  ["anyOf", `${CLAUDE} and ${OPENAI} refuse`],
  ["oneOf", `${CLAUDE} and ${OPENAI} refuse`],
  ["enum", `${OPENAI} refuses`],
  ["const", `${OPENAI} refuses`],
]);
const REFUSED: ReadonlyMap<string, string> = new Map(
  [
    "not",
    "if",
    "dependentSchemas",
    "dependentRequired",
    "patternProperties",
    "propertyNames",
    "prefixItems",
    "contains",
  ].map((keyword) => [keyword, `${OPENAI} (strict) and ${GEMINI} refuse`]),
);

/**
 * Finds what the list of tools has in another form. Nothing of it keeps the workflow from running: calls are checked as it is
 * written.
 * @param inputs the `inputs` of a definition, without issues
 * @returns warnings with paths below the inputs
 */
export function inputChanges(inputs: JsonSchema): PartialIssue[] {
  const { schema, names } = listInputs(inputs);
  if (schema === undefined)
    return [
      {
        path: [],
        code: "listed_without_fields",
        severity: "warning",
        message: `is listed to agents as an object without fields, because its list would have more than ${MAX_LISTED_CHARS} characters`,
        fix: "Shorten descriptions, or take fewer inputs.",
      },
    ];
  const found: PartialIssue[] = [];
  const visit = (node: unknown, path: Path): void => {
    if (!isSchemaObject(node)) return;
    for (const [keyword, value] of Object.entries(node)) {
      const at = [...path, keyword];
      const refused = REFUSED.get(keyword) ?? (path.length === 0 ? REFUSED_AT_ROOT.get(keyword) : undefined);
      if (refused !== undefined) found.push(inWords(at, keyword, refused));
      else if (isNoText(keyword, value))
        found.push(inWords(at, "a value that is empty or no text", `${GEMINI} refuses`));
      else if (keyword === "format" && acceptsText(node) && !isPortableFormat(value))
        found.push(inWords(at, `the format ${String(value)}`, formatRefused(String(value))));
      else if (keyword === "pattern" && acceptsText(node) && portablePattern(String(value)) === undefined)
        found.push(inWords(at, "this pattern", `${OPENAI} and clients that read it as JavaScript refuse`));
      const kind = KEYWORDS.get(keyword);
      if (kind === "schema") visit(value, at);
      else if (kind === "schemas" && Array.isArray(value))
        value.forEach((inner, index) => visit(inner, [...at, index]));
      else if (kind === "named" && isSchemaObject(value))
        for (const [name, inner] of Object.entries(value)) {
          const listed = keyword === "properties" ? names.get(name) : undefined;
          if (listed !== undefined) found.push(renamed([...at, name], listed));
          visit(inner, [...at, name]);
        }
    }
  };
  visit(inputs, []);
  return found;
}

const acceptsText = (schema: JsonSchema): boolean => typesOf(schema)?.includes("string") ?? true;

/** OpenAI takes `date-time`, `time`, `date`, `duration`, `email`, `hostname`, `ipv4`, `ipv6` and `uuid`, Gemini only the first. */
const formatRefused = (format: string): string =>
  format.startsWith("uri") ? `${GEMINI} and ${OPENAI} refuse` : `${GEMINI} refuses`;

const isNoText = (keyword: string, value: unknown): boolean => {
  const values =
    keyword === "const" ? [value] : keyword === "enum" && Array.isArray(value) ? (value as unknown[]) : [];
  return values.some((each) => each !== null && (typeof each !== "string" || each === ""));
};

const inWords = (path: Path, subject: string, refused: string): PartialIssue => ({
  path,
  code: "listed_in_words",
  severity: "warning",
  message: `is listed to agents in words, in the description, and checked at the call: ${refused} a list of tools with ${subject} here`,
  fix: "Write it without that if the models of your agents should see it as a schema; else leave it.",
});

const renamed = (path: Path, listed: string): PartialIssue => ({
  path,
  code: "listed_name",
  severity: "warning",
  message: `is listed to agents as ${listed}, and taken by both names: ${CLAUDE} refuses a list of tools with this name`,
  fix: `Name it ${listed}, with at most 64 of the characters a-z, A-Z, 0-9, _, . and -; or leave it.`,
});
