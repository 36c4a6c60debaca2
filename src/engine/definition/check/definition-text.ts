/**
 * The text that is stored beside a definition. Only the definition counts; the text shows it as its author wrote it, with comments.
 * It never says anything else: a text that can't be changed to what is stored is given up.
 */
import { toYaml } from "../../../../schemas/to-yaml.ts";
import { rewriteYaml } from "../../../../schemas/yaml-rewrite.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import type { BaseText } from "../../../core/engine-port.ts";
import { readSource } from "./source.ts";
import { isJsonText } from "./yaml-scalars.ts";

interface Written {
  /** An object, or YAML or JSON text. */
  source: unknown;
  /** The value of the source, which a file also has fields of the workflow in. */
  value: unknown;
}

/**
 * @param definition what is stored: the source without the fields of a file, and with the fixes that were applied
 * @param base the text that an object changes
 * @returns undefined where the text would say no more than the generated one
 */
export function definitionText(
  { source, value }: Written,
  definition: Readonly<Record<string, unknown>>,
  base: BaseText | null,
): string | undefined {
  const isYaml = typeof source === "string" && !isJsonText(source);
  if (!isYaml && base === null) return undefined;
  const [text, said] = isYaml ? [source, value] : [base!.text, JSON.parse(base!.definition) as unknown];
  const wanted = canonicalJson(definition);
  const isSame = canonicalJson(said) === wanted;
  // An object that changes nothing keeps the text, whatever this release would generate.
  if (isSame && !isYaml) return text;
  const found = isSame ? text : changeText(text, said, definition);
  return found === toYaml(definition) ? undefined : found;
}

/**
 * Changes a text so that it says another definition.
 * @param before what it says
 * @returns undefined where that is not possible
 */
export function changeText(
  text: string,
  before: unknown,
  definition: Readonly<Record<string, unknown>>,
): string | undefined {
  // An alias repeats a change where nothing changes, so the second attempt writes aliases out.
  for (const expand of [false, true]) {
    try {
      const changed = rewriteYaml(text, before, definition, { expand });
      if (saysDefinition(changed, definition)) return changed;
    } catch {
      // A text that can't be changed is no error: the definition is saved without it.
    }
  }
  return undefined;
}

/** Whether a text is valid and says the definition. */
export function saysDefinition(text: string, definition: Readonly<Record<string, unknown>>): boolean {
  const { value, issues, valueIssues } = readSource(text);
  return issues.length + valueIssues.length === 0 && canonicalJson(value) === canonicalJson(definition);
}
