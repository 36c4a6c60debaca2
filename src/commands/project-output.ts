/** What the commands of projects and grants share: reading whole lists, and printing them. */
import { MAX_PAGE } from "../../schemas/page.ts";
import type { AnyTool } from "../core/tool.ts";
import type { Caller } from "./caller.ts";
import { alignColumns } from "./columns.ts";
import { type Io, paint } from "./io.ts";

/** Reads all pages of a list. */
export const allOf = async <T>(
  caller: Pick<Caller, "call">,
  tool: AnyTool,
  input: Readonly<Record<string, unknown>> = {},
): Promise<T[]> => (await firstOf<T>(caller, tool, input, Infinity)).items;

/**
 * Reads a list from its start, page by page.
 * @param limit maximum number of items
 * @returns the items, and the number of all that the list has
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the tool determines the type of its items
export async function firstOf<T>(
  { call }: Pick<Caller, "call">,
  tool: AnyTool,
  input: Readonly<Record<string, unknown>>,
  limit: number,
): Promise<{ items: T[]; total: number }> {
  const items: T[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { items: T[]; total: number; next_cursor: string | null } = await call(tool, {
      ...input,
      limit: Math.min(limit - items.length, MAX_PAGE),
      ...(cursor !== null && { cursor }),
    });
    items.push(...page.items);
    if (page.next_cursor === null || items.length >= limit) return { items, total: page.total };
    cursor = page.next_cursor;
  }
}

/** Prints a value as JSON. */
export const printJson = (io: Io, value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);

/** Prints aligned columns. */
export function printTable(io: Io, head: string[], rows: string[][]): void {
  const line = alignColumns([head, ...rows]);
  io.out(`${paint(io).bold(line(head))}\n`);
  for (const row of rows) io.out(`${line(row)}\n`);
}
