/**
 * The content of a view as data, from which `render.ts` makes elements. Values of runs come only into texts and a few attributes that no
 * browser executes; an element has an action instead of a listener or an address.
 */

/** What a button does. */
export type Action =
  /** Opens a page of the web interface. */
  | { open: string }
  /** Shows one of several approvals; null for the list of them. */
  | { show: string | null }
  /** Loads what the view shows again. */
  | { refresh: true };

export type Tag =
  | "button"
  | "code"
  | "dd"
  | "div"
  | "dl"
  | "dt"
  | "h1"
  | "h2"
  | "h3"
  | "header"
  | "li"
  | "p"
  | "pre"
  | "section"
  | "span"
  | "strong"
  | "table"
  | "tbody"
  | "td"
  | "th"
  | "thead"
  | "time"
  | "tr"
  | "ul";

export interface Properties {
  class?: string;
  role?: "alert" | "group" | "region" | "status";
  label?: string;
  /** Whether readers of the screen skip it. */
  hidden?: true;
  /** Whether Tab reaches it: of a region that scrolls. */
  focusable?: true;
  /** The time that a `time` shows. */
  at?: string;
  scope?: "col";
  action?: Action;
  /** Where a bar begins and how wide it is, in percent of the axis. */
  left?: number;
  width?: number;
}

export interface ViewElement {
  tag: Tag;
  properties: Properties;
  children: readonly ViewNode[];
}

export type ViewNode = string | ViewElement;

/** A child; what is not there is left out. */
type Child = ViewNode | readonly ViewNode[] | null | false | undefined;

export const h = (tag: Tag, properties: Properties, ...children: readonly Child[]): ViewElement => ({
  tag,
  properties,
  children: children.flatMap((child) =>
    child === null || child === false || child === undefined ? [] : child,
  ),
});

/** A button that opens a page of the web interface. @param path below `/ui` */
export const pageButton = (label: string, path: string, kind: "primary" | "plain" = "plain"): ViewElement =>
  h("button", { class: kind, action: { open: path } }, label);

/** The text of a node, without its elements. */
export const textOf = (node: ViewNode): string =>
  typeof node === "string" ? node : node.children.map(textOf).join("");
