/**
 * The numbers of audit entries, as a caller sees them. Entries of all projects are numbered together, so to those who do not see
 * all of them the numbers, and the hashes that chain the entries, would tell how much happens elsewhere.
 */
import { visibilityOf } from "../../src/core/access.ts";
import type { AuditEntry } from "../../src/core/account-ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** The number of an entry as a list shows it, and as its cursors contain it. */
export interface EntryNumbers {
  idOf(entry: AuditEntry): number | string;
  /** Whether the caller sees the hash chain. */
  showsHashes: boolean;
  encode(query: string, id: number): string;
  /** @throws AppError invalid_cursor */
  decode(query: string, cursor: string): number;
}

export function entryNumbers({ actor, cursors }: Pick<ToolContext, "actor" | "cursors">): EntryNumbers {
  const seesAll = visibilityOf(actor.principal.access, "admin") === null;
  const textOf = (id: number): string => (seesAll ? String(id) : cursors.seal(id));
  return {
    idOf: ({ id }) => (seesAll ? id : `aud_${cursors.seal(id)}`),
    showsHashes: seesAll,
    encode: (query, id) => cursors.encode(query, [textOf(id), ""]),
    decode(query, cursor) {
      const [text] = cursors.decode(query, cursor);
      // A caller may see all or less than when the list began.
      return /^\d+$/.test(text) ? Number(text) : cursors.unseal(text);
    },
  };
}
