/** Finds hidden characters in the texts of a definition that people and agents read: titles, descriptions and names. */
import {
  describeHiddenCharacter,
  removeHiddenCharacters,
  type TextKind,
} from "../../../../schemas/hidden-characters.ts";
import { HIDDEN_CHARACTERS, type LocatedIssue, MAX_ISSUES } from "./check-report.ts";

type Path = readonly PropertyKey[];

/** Fields that hold a JSON Schema, at the top or in a step. */
const SCHEMA_FIELDS = ["inputs", "output_schema", "form", "schema"];
/** Keywords whose values are data. */
const DATA_KEYWORDS = new Set(["default", "examples", "const", "enum"]);
/** Keywords whose keys are names. */
const NAME_KEYWORDS = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/** @param definition a definition that may have any form */
export function hiddenTextIssues(definition: Readonly<Record<string, unknown>>): LocatedIssue[] {
  const found: LocatedIssue[] = [];
  const isFull = (): boolean => found.length >= MAX_ISSUES;

  function checkText(path: Path, value: unknown, kind: TextKind): void {
    if (typeof value !== "string" || isFull()) return;
    const hidden = describeHiddenCharacter(value, kind);
    if (hidden === undefined) return;
    const cleaned = removeHiddenCharacters(value, kind);
    found.push({
      path,
      code: HIDDEN_CHARACTERS,
      message: `contains the hidden character ${hidden}`,
      fix: `Write ${JSON.stringify(cleaned)}.`,
      patch: [{ op: "replace", path, value: cleaned }],
    });
  }

  function checkName(path: Path, name: string): void {
    const hidden = describeHiddenCharacter(name, "line");
    if (hidden === undefined || isFull()) return;
    found.push({
      path,
      code: HIDDEN_CHARACTERS,
      message: `has a name with the hidden character ${hidden}`,
      fix: `Rename it to ${JSON.stringify(removeHiddenCharacters(name, "line"))}, here and where it is read.`,
    });
  }

  /** Walks without recursion, because schemas can be deep. */
  function checkSchema(path: Path, root: unknown): void {
    const stack: { path: Path; node: unknown; areNames: boolean }[] = [{ path, node: root, areNames: false }];
    for (let next = stack.pop(); next !== undefined && !isFull(); next = stack.pop()) {
      if (typeof next.node !== "object" || next.node === null) continue;
      for (const [key, value] of Object.entries(next.node)) {
        const at = [...next.path, Array.isArray(next.node) ? Number(key) : key];
        if (next.areNames) checkName(at, key);
        else if (key === "title") checkText(at, value, "line");
        else if (key === "description" || key === "$comment") checkText(at, value, "lines");
        else if (DATA_KEYWORDS.has(key)) continue;
        stack.push({ path: at, node: value, areNames: !next.areNames && NAME_KEYWORDS.has(key) });
      }
    }
  }

  function checkFields(path: Path, fields: unknown): void {
    if (typeof fields !== "object" || fields === null) return;
    const record = fields as Readonly<Record<string, unknown>>;
    checkText([...path, "description"], record["description"], "lines");
    for (const field of SCHEMA_FIELDS) checkSchema([...path, field], record[field]);
    checkFields([...path, "undo"], record["undo"]);
    checkFields([...path, "lookup"], record["lookup"]);
    checkFields([...path, "event"], record["event"]);
  }

  checkText(["name"], definition["name"], "line");
  checkFields([], definition);
  for (const [name, schema] of Object.entries((definition["state"] as object | undefined) ?? {}))
    checkSchema(["state", name], schema);
  for (const list of ["steps", "examples"]) {
    const items = definition[list];
    if (!Array.isArray(items)) continue;
    for (const [index, item] of (items as unknown[]).entries()) {
      if (list === "steps") checkFields([list, index], item);
      else checkText([list, index, "name"], (item as { name?: unknown } | null)?.name, "line");
    }
  }
  return found;
}
