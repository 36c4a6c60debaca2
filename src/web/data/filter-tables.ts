import type { Table } from "./queries.ts";

/** @returns the tables whose name, or one of whose columns, contains every word */
export function filterTables(tables: readonly Table[], words: string): Table[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return tables.filter(({ name, columns }) => {
    const names = [name, ...columns.map((column) => column.name)].map((text) => text.toLowerCase());
    return wanted.every((word) => names.some((text) => text.includes(word)));
  });
}
