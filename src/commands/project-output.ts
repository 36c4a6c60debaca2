/** What the commands of projects and grants share: reading whole lists, and printing them. */
import { MAX_PAGE } from "../../schemas/page.ts";
import type { AnyTool } from "../core/tool.ts";
import { alignColumns } from "./columns.ts";
import { type Io, paint } from "./io.ts";
import type { Operator } from "./operator.ts";

/** Reads all pages of a list. */
export async function allOf<T>(
  { call }: Pick<Operator, "call">,
  tool: AnyTool,
  input: Readonly<Record<string, unknown>> = {},
): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { items: T[]; next_cursor: string | null } = await call(tool, {
      ...input,
      limit: MAX_PAGE,
      ...(cursor !== null && { cursor }),
    });
    all.push(...page.items);
    if (page.next_cursor === null) return all;
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
