/** Finds directions of the screen, left and right, in styles and components. The layout follows the language instead. */
import { parseSync } from "vite";

const SIDE = /^(?:left|right)$/;
/** Style props of the component library, and names of properties in camel case. */
const PROPERTY =
  /^(?:left|right|m[lr]|p[lr]|(?:(?:scroll)?[mM]argin|(?:scroll)?[pP]adding)(?:Left|Right)|border(?:Left|Right)\w*|border(?:Top|Bottom)(?:Left|Right)Radius)$/;
const CSS_PROPERTY =
  /^(?:left|right|(?:scroll-)?(?:margin|padding)-(?:left|right)|border-(?:left|right)(?:-\w+)?|border-(?:top|bottom)-(?:left|right)-radius)$/;
/** A value of any property that names a side. */
const CSS_VALUE =
  /\btranslate(?:X|3d)?\(|\bto (?:left|right)\b|(?:^|\s)(?:left|right)(?:\s|$)|\b[+-]?90deg\b/;
/** Declarations within a text. */
const INLINE_CSS =
  /\b(?:margin|padding|border)-(?:left|right)\b|\btranslateX\(|\btext-align:\s*(?:left|right)\b/;
/** Where the library places something. */
const PLACEMENT = /^(?:left|right)(?:-(?:start|end))?$|^(?:top|bottom)-(?:left|right)$/;
/** Signs that point to a side; they don't turn with the text around them. */
const ARROW = /[←→↔⇐⇒▸◂▶◀]/u;
const TURNED_CLASS = "arrow";

/** Whether the right and the left value of a shorthand differ. */
function isUneven(property: string, value: string): boolean {
  const parts = value.trim().split(/\s+(?![^(]*\))/);
  if (parts.length < 3) return false;
  if (/^(?:margin|padding|inset|scroll-margin|scroll-padding|border-(?:width|style|color))$/.test(property))
    return parts.length === 4 && parts[1] !== parts[3];
  if (property !== "border-radius") return false;
  const [topLeft, topRight, bottomRight, bottomLeft = topRight] = parts;
  return topLeft !== topRight || bottomRight !== bottomLeft;
}

/** @returns each declaration that names a side */
export function findInStyles(css: string): string[] {
  const declarations = css
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .matchAll(/(?<=[{;]\s*)([a-z-]+)\s*:\s*([^;{}]+)(?=[;}])/g);
  return [...declarations].flatMap(([, property, value]) =>
    CSS_PROPERTY.test(property!) || CSS_VALUE.test(value!) || isUneven(property!, value!)
      ? [`${property}: ${value!.trim().replaceAll(/\s+/g, " ")}`]
      : [],
  );
}

interface Node {
  type: string;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode));

const nameOf = (node: unknown): string => {
  const { name, value } = (node ?? {}) as { name?: unknown; value?: unknown };
  return typeof name === "string" ? name : typeof value === "string" ? value : "";
};

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** @returns the text of a literal; undefined for other nodes */
const textOf = (node: Node | null): string | undefined => {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node?.type === "TemplateElement") return (node["value"] as { cooked: string }).cooked;
  return undefined;
};

/** @returns each property, value and sign that names a side */
export function findInCode(file: string, source: string): string[] {
  const found: string[] = [];

  function visit(node: Node, turned: boolean): void {
    if (/^(?:Import|Export(?:All|Named))Declaration$/.test(node.type) && isNode(node["source"])) return;
    if (/^TS(?:LiteralType|PropertySignature)$/.test(node.type)) return;
    let inside = turned;
    if (node.type === "JSXAttribute" && PROPERTY.test(nameOf(node["name"]))) found.push(nameOf(node["name"]));
    if (node.type === "ObjectExpression")
      for (const property of node["properties"] as Node[]) visitProperty(property);
    if (node.type === "JSXElement") {
      const { attributes } = node["openingElement"] as { attributes: Node[] };
      inside = attributes.some(
        (attribute) =>
          nameOf(attribute["name"]) === "className" &&
          textOf(attribute["value"] as Node | null)
            ?.split(" ")
            .includes(TURNED_CLASS) === true,
      );
    }
    if (node.type === "JSXText" && !inside) {
      const arrow = ARROW.exec(node["value"] as string);
      if (arrow !== null) found.push(arrow[0]);
    }
    const text = textOf(node);
    if (text !== undefined && (PLACEMENT.test(text) || INLINE_CSS.test(text))) found.push(`"${text}"`);
    for (const child of childrenOf(node)) visit(child, inside);
  }

  function visitProperty({ key, value, computed, shorthand }: Node): void {
    if (computed === true || !isNode(key)) return;
    const name = nameOf(key);
    if (PROPERTY.test(name)) found.push(name);
    const text = shorthand === true || !isNode(value) ? undefined : textOf(value);
    if (text !== undefined && !SIDE.test(text) && isUneven(kebabCase(name), text))
      found.push(`${name}: ${text}`);
  }

  visit(parseSync(file, source).program as unknown as Node, false);
  return found;
}

/** @returns the icons of the library that a file imports, such as IconArrowBackUp */
export const importedIcons = (source: string): string[] =>
  [...source.matchAll(/import \{([^}]*)\} from "@tabler\/icons-react"/g)].flatMap(([, names]) =>
    names!.split(",").flatMap((name) => /\bIcon\w+/.exec(name)?.[0] ?? []),
  );

/** @returns the class of an icon: tabler-icon-arrow-back-up */
export const iconClass = (icon: string): string =>
  `tabler-icon${kebabCase(icon.slice("Icon".length)).replaceAll(/(?<=[a-z])(?=\d)/g, "-")}`;
