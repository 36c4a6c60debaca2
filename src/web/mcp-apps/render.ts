/** Makes the elements of a view, and changes those that are there, so that the focus and the position of scrolling stay. */
import { visibleText } from "../../../schemas/hidden-characters.ts";
import type { Action, Properties, ViewElement, ViewNode } from "./nodes.ts";

export type Render = (nodes: readonly ViewNode[]) => void;

/** @param act carries out the action of a button */
export function renderInto(root: HTMLElement, act: (action: Action) => void): Render {
  const actions = new WeakMap<Element, Action>();
  root.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("button") : null;
    const action = button === null ? undefined : actions.get(button);
    if (action !== undefined) act(action);
  });

  function patch(parent: Element, nodes: readonly ViewNode[]): void {
    for (const [index, node] of nodes.entries()) {
      const existing = parent.childNodes[index];
      const kept = existing !== undefined && isOfKind(existing, node) ? existing : create(node);
      if (kept !== existing) {
        if (existing === undefined) parent.append(kept);
        else existing.replaceWith(kept);
      }
      if (typeof node === "string") setText(kept, visibleText(node));
      else update(kept as HTMLElement, node);
    }
    while (parent.childNodes.length > nodes.length) parent.lastChild!.remove();
  }

  function update(element: HTMLElement, { properties, children }: ViewElement): void {
    const attributes = attributesOf(properties, element.tagName === "BUTTON");
    for (const name of element.getAttributeNames())
      if (name !== "style" && !(name in attributes)) element.removeAttribute(name);
    for (const [name, value] of Object.entries(attributes))
      if (element.getAttribute(name) !== value) element.setAttribute(name, value);
    const { left, width, action } = properties;
    element.style.left = left === undefined ? "" : `${left}%`;
    element.style.width = width === undefined ? "" : `${width}%`;
    if (action === undefined) actions.delete(element);
    else actions.set(element, action);
    patch(element, children);
  }

  return (nodes) => patch(root, nodes);
}

const create = (node: ViewNode): HTMLElement | Text =>
  typeof node === "string" ? document.createTextNode("") : document.createElement(node.tag);

const isOfKind = (existing: ChildNode, node: ViewNode): boolean =>
  typeof node === "string"
    ? existing instanceof Text
    : existing instanceof HTMLElement && existing.tagName === node.tag.toUpperCase();

/** A text that stays the same is left alone, because readers of the screen announce changes. */
function setText(text: ChildNode, value: string): void {
  if (text.nodeValue !== value) text.nodeValue = value;
}

function attributesOf(
  { class: name, role, label, hidden, focusable, at, scope }: Properties,
  isButton: boolean,
): Record<string, string> {
  return {
    ...(isButton && { type: "button" }),
    ...(name !== undefined && { class: name }),
    ...(role !== undefined && { role }),
    ...(label !== undefined && { "aria-label": visibleText(label) }),
    ...(hidden === true && { "aria-hidden": "true" }),
    ...(focusable === true && { tabindex: "0" }),
    ...(at !== undefined && { datetime: at }),
    ...(scope !== undefined && { scope }),
  };
}
