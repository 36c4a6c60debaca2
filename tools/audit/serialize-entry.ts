import type { AuditEntry } from "../../schemas/audit.ts";
import { projectField } from "../../schemas/project.ts";
import type { AuditEntry as AuditRecord } from "../../src/core/account-ports.ts";
import type { EntryNumbers } from "./entry-numbers.ts";

/** For readers of the whole log. */
export const EVERY_ENTRY: Pick<EntryNumbers, "idOf" | "showsHashes"> = {
  idOf: ({ id }) => id,
  showsHashes: true,
};

/** An entry as the API and exports return it. The hash covers these fields (src/core/audit-chain.ts). */
export const serializeEntry = (
  { idOf, showsHashes }: Pick<EntryNumbers, "idOf" | "showsHashes">,
  record: AuditRecord,
): AuditEntry => {
  const { project, keyName, requestId, details, ...entry } = record;
  return {
    ...entry,
    id: idOf(record),
    hash: showsHashes ? entry.hash : null,
    ...projectField(project),
    key_name: keyName,
    request_id: requestId,
    details: details === null ? null : { ...details },
  };
};
