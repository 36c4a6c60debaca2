/** Writes the TypeScript of compiled messages. */
import type { Argument, Arguments, Message, Part } from "./parse.ts";

interface Expression {
  code: string;
  /** Whether it is a ReactNode instead of a text. */
  rich: boolean;
}

export interface Module {
  language: string;
  area: string;
  /** A message is undefined if it can't be compiled. */
  messages: ReadonlyMap<string, Message | undefined>;
  /** The arguments that satisfy all languages. */
  signatures: ReadonlyMap<string, Arguments>;
}

export function writeModule({ language, area, messages, signatures }: Module): string {
  const constants = Array.from(messages, ([key, message]) =>
    message === undefined ? "" : writeMessage(key, message, signatures.get(key) ?? message.arguments),
  ).join("");
  const imports = [
    /: ReactNode\b|=> ReactNode\b/.test(constants) ? 'import type { ReactNode } from "react";\n' : "",
    importOf(constants, ["formatNumber", "pluralForm"], "../../format.ts"),
    importOf(constants, ["rich"], "../../rich.ts"),
  ].join("");
  const source = `src/web/messages/${language}/${area}.json`;
  return `/** Generated from ${source} by \`npm run generate\`. Edit that file instead. */\n${imports}\n${constants}`;
}

function importOf(code: string, names: readonly string[], from: string): string {
  const used = names.filter((name) => code.includes(`${name}(`));
  return used.length === 0 ? "" : `import { ${used.join(", ")} } from "${from}";\n`;
}

function writeMessage(key: string, { parts }: Message, signature: Arguments): string {
  const { code, rich } = expression(parts);
  if (signature.size === 0) return `export const ${key} = ${code};\n`;
  const names = [...signature.keys()].join(", ");
  const types = Array.from(signature, ([name, argument]) => `${name}: ${typeOf(argument)}`).join("; ");
  return `export const ${key} = ({ ${names} }: { ${types} }): ${rich ? "ReactNode" : "string"} =>\n  ${code};\n`;
}

function typeOf(argument: Argument): string {
  switch (argument.kind) {
    case "choice":
      return argument.keys.map((one) => JSON.stringify(one)).join(" | ");
    case "value":
      return "string | number";
    case "tag":
      return "(children: ReactNode) => ReactNode";
    case "element":
      return "ReactNode";
    default:
      return argument.kind;
  }
}

/** @returns a template literal, or the call of `rich` if a part is a tag */
function expression(parts: readonly Part[]): Expression {
  if (parts.every((part) => part.type === "text"))
    return { code: JSON.stringify(parts.map(({ text }) => text).join("")), rich: false };
  const pieces = parts.map((part) => (part.type === "text" ? undefined : partExpression(part)));
  if (pieces.some((piece) => piece?.rich)) {
    const codes = parts.map((part, index) =>
      part.type === "text" ? JSON.stringify(part.text) : pieces[index]!.code,
    );
    return { code: codes.length === 1 ? codes[0]! : `rich(${codes.join(", ")})`, rich: true };
  }
  const only = pieces.length === 1 ? parts[0]! : undefined;
  // A value may be a number, so it is always put into a template literal.
  if (only !== undefined && only.type !== "value") return pieces[0]!;
  const template = parts.map((part, index) =>
    part.type === "text" ? escapeTemplate(part.text) : `\${${pieces[index]!.code}}`,
  );
  return { code: `\`${template.join("")}\``, rich: false };
}

const escapeTemplate = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${");

function partExpression(part: Exclude<Part, { type: "text" }>): Expression {
  const { name } = part;
  switch (part.type) {
    case "value":
      return { code: name, rich: false };
    case "element":
      return { code: name, rich: true };
    case "tag":
      return { code: `${name}(${expression(part.children).code})`, rich: true };
    case "number": {
      const options = Object.keys(part.options).length === 0 ? "" : `, ${JSON.stringify(part.options)}`;
      return { code: `formatNumber(${name}${options})`, rich: false };
    }
    case "select":
      return conditional(part.options, (key) => `${name} === ${JSON.stringify(key)}`);
    case "plural":
      return conditional(part.options, (key) =>
        key.startsWith("=")
          ? `${name} === ${key.slice(1)}`
          : `pluralForm(${name}) === ${JSON.stringify(key)}`,
      );
  }
}

/** A chain of conditional expressions. `other`, or else the last option, needs no condition. Exact numbers come first. */
function conditional(
  options: Readonly<Record<string, readonly Part[]>>,
  condition: (key: string) => string,
): Expression {
  const keys = Object.keys(options);
  const last = keys.includes("other") ? "other" : keys.at(-1)!;
  const branches = keys
    .filter((key) => key !== last)
    .toSorted((a, b) => Number(b.startsWith("=")) - Number(a.startsWith("=")))
    .map((key) => ({ test: condition(key), value: expression(options[key]!) }));
  const otherwise = expression(options[last]!);
  return {
    code: `(${branches.map(({ test, value }) => `${test} ? ${value.code} : `).join("")}${otherwise.code})`,
    rich: otherwise.rich || branches.some(({ value }) => value.rich),
  };
}
