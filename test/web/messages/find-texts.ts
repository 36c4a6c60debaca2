/** Finds texts for people in the source of a component. */
import { parseSync } from "vite";

/** Attributes and properties that people read. */
const READ = new Set([
  "label",
  "title",
  "placeholder",
  "description",
  "message",
  "aria-label",
  "aria-description",
  "aria-roledescription",
  "aria-valuetext",
  "alt",
  "hint",
  "error",
  "children",
  "consequence",
  "confirm",
  "cancel",
  "about",
  "legend",
  "heading",
  "summary",
  "help",
  "nothingFoundMessage",
]);
/** Attributes whose words are for the browser. */
const NOT_READ = new Set(["className", "style", "d", "href", "to", "lang", "ff", "fontFamily"]);

interface Node {
  type: string;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode));

/** @returns the text of a literal; `${…}` stands for the values of a template */
function literalText(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type === "JSXText") return (node["value"] as string).replace(/\s+/g, " ").trim();
  if (node.type !== "TemplateLiteral") return undefined;
  return (node["quasis"] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("${…}");
}

const hasLetters = (text: string): boolean => /\p{L}/u.test(text.replaceAll("${…}", ""));
/** Words that begin like a sentence. */
const looksLikeSentence = (text: string): boolean => /^\p{Lu}\S*\s+\S/u.test(text);

function nameOf(node: Node): string | undefined {
  const key = (node["key"] ?? node["name"] ?? node["left"]) as Node | undefined;
  if (key === undefined || node["computed"] === true) return undefined;
  return (key["name"] ?? key["value"]) as string | undefined;
}

/** @returns each text for people, in the order of the source */
export function findTexts(file: string, source: string): string[] {
  const found: string[] = [];

  /** @param isRead whether the value of the node is shown */
  function visit(node: Node, isRead: boolean): void {
    const text = literalText(node);
    if (text !== undefined) {
      if (node.type === "JSXText" || isRead ? hasLetters(text) : looksLikeSentence(text)) found.push(text);
      for (const child of childrenOf(node)) if (child.type !== "TemplateElement") visit(child, false);
      return;
    }
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ThrowStatement":
      case "TSLiteralType":
        return;
      case "JSXAttribute": {
        const name = nameOf(node);
        if (isNode(node["value"]) && !NOT_READ.has(name!)) visit(node["value"], READ.has(name!));
        return;
      }
      case "Property":
      case "AssignmentPattern": {
        const value = (node["value"] ?? node["right"]) as Node;
        const name = nameOf(node);
        // The value of a destructured property is a pattern with its own default.
        if (name === undefined || !NOT_READ.has(name)) visit(value, name !== undefined && READ.has(name));
        return;
      }
      case "JSXElement":
      case "JSXFragment":
        for (const child of childrenOf(node)) visit(child, child.type === "JSXExpressionContainer");
        return;
      case "ConditionalExpression":
        visit(node["test"] as Node, false);
        visit(node["consequent"] as Node, isRead);
        visit(node["alternate"] as Node, isRead);
        return;
      case "LogicalExpression":
        visit(node["left"] as Node, isRead);
        visit(node["right"] as Node, isRead);
        return;
      case "JSXExpressionContainer":
      case "TSAsExpression":
      case "ParenthesizedExpression":
        for (const child of childrenOf(node)) visit(child, isRead);
        return;
      default:
        for (const child of childrenOf(node)) visit(child, false);
    }
  }

  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  visit(program as unknown as Node, false);
  return found;
}
