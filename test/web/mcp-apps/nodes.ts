/** Finds parts of the nodes of a view. */
import { type Action, textOf, type ViewElement, type ViewNode } from "../../../src/web/mcp-apps/nodes.ts";

/** Every element, in the order of the page. */
export const everyElement = (nodes: readonly ViewNode[]): ViewElement[] =>
  nodes.flatMap((node) => (typeof node === "string" ? [] : [node, ...everyElement(node.children)]));

/** The texts of the elements of a class. */
export const textsOf = (nodes: readonly ViewNode[], name: string): string[] =>
  everyElement(nodes)
    .filter(({ properties }) => properties.class?.split(" ").includes(name))
    .map(textOf);

/** The labels and actions of the buttons. */
export const buttonsOf = (nodes: readonly ViewNode[]): [string, Action | undefined][] =>
  everyElement(nodes)
    .filter(({ tag }) => tag === "button")
    .map((button) => [textOf(button), button.properties.action]);
