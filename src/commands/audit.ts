/** `millrace audit`: exports the audit log, prints its newest link and verifies its hash chain. */
import type { AuditEntry } from "../../schemas/audit.ts";
import { exportAuditLog } from "../../tools/audit/export-audit-log.ts";
import type { ChainLink } from "../core/audit-chain.ts";
import { newRequestId } from "../core/ids.ts";
import { chainHead } from "../store/audit-entries.ts";
import { type AuditVerification, verifyAuditLog } from "../store/verify-audit-chain.ts";
import { prepare } from "../surfaces/invoke.ts";
import { auditResult } from "./doctor/audit.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { OPERATOR_ACTOR, withOperator } from "./operator.ts";
import { plural } from "./plural.ts";
import { assertNewFile, jsonLines, writeOutput } from "./write-lines.ts";

export interface AuditExportOptions {
  since?: string;
  until?: string;
  project?: string;
  output?: string;
}

/** Writes the audit log as lines of JSON, oldest entry first, to a file or to standard output. */
export async function exportAudit(io: Io, { output, ...filter }: AuditExportOptions): Promise<void> {
  if (output !== undefined) assertNewFile(output);
  let count = 0;
  await withOperator(io, { requiresStateFor: "export the audit log of" }, async ({ services }) => {
    const call = {
      actor: OPERATOR_ACTOR,
      requestId: newRequestId(),
      signal: new AbortController().signal,
    };
    const pages = prepare(services, exportAuditLog, filter, call).pages();
    async function* entries(): AsyncGenerator<AuditEntry> {
      for await (const { items } of pages) {
        count += items.length;
        yield* items as AuditEntry[];
      }
    }
    await writeOutput(io, output, jsonLines(entries()));
  });
  if (output !== undefined) io.out(`${plural(count, "audit entry", "audit entries")} written to ${output}\n`);
}

/** Prints the id and the hash of the newest entry, to be kept where nobody who can write to the state can change it. */
export async function printAuditHead(io: Io): Promise<void> {
  const head = await withOperator(io, { requiresStateFor: "read the audit log of" }, ({ instance }) =>
    chainHead(instance.store.read),
  );
  if (head === undefined)
    throw new CommandError(
      "The audit log has no hash yet: this release has written no entry. Nothing was printed.",
    );
  io.out(`${head.id}:${head.hash}\n`);
}

export interface AuditVerifyOptions {
  head?: string;
}

/** Verifies the whole chain; exit code 3 if something does not fit. @throws CommandError */
export async function verifyAudit(io: Io, { head }: AuditVerifyOptions): Promise<void> {
  const known = head === undefined ? undefined : parseHead(head);
  const found = await withOperator(io, { requiresStateFor: "verify the audit log of" }, ({ instance }) =>
    verifyAuditLog(instance.store.read, { known }),
  );
  const { status, detail, fix } = auditResult(found);
  const text = [`The audit log: ${detail}.`, ...(fix === undefined ? [] : [fix])].join("\n");
  if (status === "error") throw new CommandError(text, EXIT.config);
  io.out(`${text}\n`);
  if (known !== undefined) compareHead(io, known, found);
}

function parseHead(text: string): ChainLink {
  const [, id, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (id === undefined || hash === undefined)
    throw new CommandError(
      "--head must be an id, a colon and a hash of 64 digits, as millrace audit head prints them.",
      EXIT.usage,
    );
  return { id: Number(id), hash };
}

function compareHead(io: Io, { id }: ChainLink, found: AuditVerification | undefined): void {
  switch (found?.known) {
    case "part of the chain":
      return io.out(`Entry ${id} has the given hash.\n`);
    case "different":
      throw new CommandError(
        `Entry ${id} has another hash than the given one: the log was written again since, or this is another instance.`,
        EXIT.config,
      );
    case "purged":
      throw new CommandError(
        `Entry ${id} was purged, so it can't be compared. The log begins after entry ${found.start.id}. Give a newer head.`,
      );
    case "missing":
    case undefined:
      throw new CommandError(
        `There is no entry ${id}: the newest entries were removed, an older backup was restored, or this is another instance.`,
        EXIT.config,
      );
  }
}
