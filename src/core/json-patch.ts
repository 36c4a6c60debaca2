/** JSON Patch (RFC 6902): the operations of fixes, with paths in parts or as JSON Pointers, and how they are applied. */
import type { JsonPatchOperation } from "../../schemas/problem.ts";

type Path = readonly PropertyKey[];

/** An operation with paths in parts. */
export type PatchOperation =
  | { op: "add" | "replace"; path: Path; value: unknown }
  | { op: "remove"; path: Path }
  | { op: "move"; from: Path; path: Path };

/** Writes a path as a JSON Pointer (RFC 6901). */
export const toPointer = (path: Path): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Writes the paths of a patch as JSON Pointers. */
export const renderPatch = (patch: readonly PatchOperation[]): JsonPatchOperation[] =>
  patch.map((operation) => ({
    ...operation,
    path: toPointer(operation.path),
    ...("from" in operation && { from: toPointer(operation.from) }),
  })) as JsonPatchOperation[];

/** Returns the operations below another path. */
export const prefixPatch = (prefix: Path, patch: readonly PatchOperation[]): PatchOperation[] =>
  patch.map((operation) => {
    const path = [...prefix, ...operation.path];
    return "from" in operation
      ? { op: operation.op, from: [...prefix, ...operation.from], path }
      : { ...operation, path };
  });

/** A patch that does not fit the document. */
export class JsonPatchError extends Error {}

/**
 * Applies a patch. A key that is moved within its object keeps its place among the others.
 * @param document JSON; it is not changed
 * @returns the changed copy
 * @throws JsonPatchError if a path does not exist; nothing is applied then
 */
export function applyJsonPatch(document: unknown, patch: readonly JsonPatchOperation[]): unknown {
  // The root is a field, so that it can be replaced like any other value.
  const holder: Container = { root: structuredClone(document) };
  for (const operation of patch) {
    const path = parsePointer(operation.path);
    switch (operation.op) {
      case "add":
        insert(holder, path, structuredClone(operation.value));
        break;
      case "replace":
        replace(holder, path, structuredClone(operation.value));
        break;
      case "remove":
        take(holder, path);
        break;
      case "move":
        move(holder, parsePointer(operation.from ?? ""), path);
        break;
    }
  }
  return holder["root"];
}

type Container = Record<string, unknown>;

function parsePointer(pointer: string): string[] {
  if (pointer !== "" && !pointer.startsWith("/"))
    throw new JsonPatchError(`${pointer} is not a JSON Pointer`);
  const parts = pointer.split("/").slice(1);
  return ["root", ...parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))];
}

const missing = (path: readonly string[]): JsonPatchError =>
  new JsonPatchError(`/${path.slice(1).join("/")} does not exist`);

/** Returns the object or list that contains the place of a path, and the last part of it. */
function parentOf(holder: Container, path: readonly string[]): [Container | unknown[], string] {
  let current: unknown = holder;
  for (const part of path.slice(0, -1)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) throw missing(path);
    current = (current as Container)[part];
  }
  if (typeof current !== "object" || current === null) throw missing(path);
  return [current as Container | unknown[], path.at(-1)!];
}

function insert(holder: Container, path: readonly string[], value: unknown): void {
  const [parent, part] = parentOf(holder, path);
  if (!Array.isArray(parent)) {
    define(parent, part, value);
    return;
  }
  const index = part === "-" ? parent.length : Number(part);
  if (!Number.isInteger(index) || index < 0 || index > parent.length) throw missing(path);
  parent.splice(index, 0, value);
}

/** Sets an own field, also one that is named `__proto__`. */
const define = (object: Container, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
};

const has = (parent: Container | unknown[], part: string): boolean =>
  Object.hasOwn(parent, part) && !(Array.isArray(parent) && part === "length");

function replace(holder: Container, path: readonly string[], value: unknown): void {
  const [parent, part] = parentOf(holder, path);
  if (!has(parent, part)) throw missing(path);
  (parent as Container)[part] = value;
}

function take(holder: Container, path: readonly string[]): unknown {
  const [parent, part] = parentOf(holder, path);
  if (!has(parent, part)) throw missing(path);
  if (Array.isArray(parent)) return parent.splice(Number(part), 1)[0];
  const value = parent[part];
  delete parent[part];
  return value;
}

function move(holder: Container, from: readonly string[], path: readonly string[]): void {
  const [parent, oldKey] = parentOf(holder, from);
  const [target, newKey] = parentOf(holder, path);
  if (parent !== target || Array.isArray(parent)) {
    insert(holder, path, take(holder, from));
    return;
  }
  if (!Object.hasOwn(parent, oldKey)) throw missing(from);
  const entries = Object.entries(parent).filter(([key]) => key !== newKey || key === oldKey);
  for (const key of Object.keys(parent)) delete parent[key];
  for (const [key, value] of entries) define(parent, key === oldKey ? newKey : key, value);
}
