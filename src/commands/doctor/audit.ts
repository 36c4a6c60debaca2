/** Checks the hash chain of the audit log. */
import { statSync } from "node:fs";
import type { ChainBreak } from "../../core/audit-chain.ts";
import { type DatabaseInspection, inspectDatabase } from "../../store/inspect.ts";
import { databaseFileIn } from "../../store/state-directory.ts";
import { type AuditVerification, verifyAuditLog } from "../../store/verify-audit-chain.ts";
import { plural } from "../plural.ts";
import { type CheckResult, checkResultsOf, STATE } from "./check-result.ts";

const { ok, warning, error: failed } = checkResultsOf(STATE);

const CHECK = "audit log";
/** Number of the newest entries that are verified without `--full`. */
const NEWEST = 100_000;

const COMPARE =
  "Compare the audit log with an export or a backup (millrace audit export). docs/troubleshooting.md says what can have happened.";

/** @returns undefined if there is no current database, or its state was moved; the check of the state reports that */
export async function checkAuditLog(path: string, full: boolean): Promise<CheckResult | undefined> {
  const databaseFile = databaseFileIn(path);
  if (statSync(databaseFile, { throwIfNoEntry: false }) === undefined) return undefined;
  const database = await inspectDatabase({ databaseFile });
  try {
    if (!database.isMillraceDatabase || (await database.movedTo()) !== undefined) return undefined;
    const { applied, newest } = await database.migrationStatus();
    if (applied < newest) return undefined;
    return await verifiedAuditLog(database.read, full);
  } finally {
    await database.close();
  }
}

/** Verifies the newest entries, or all. */
export const verifiedAuditLog = async (
  read: DatabaseInspection["read"],
  full: boolean,
): Promise<CheckResult> => auditResult(await verifyAuditLog(read, full ? {} : { newest: NEWEST }));

/** The result of a verification; undefined before the chain begins. */
export function auditResult(found: AuditVerification | undefined): CheckResult {
  if (found === undefined) return ok(CHECK, "no entry with a hash yet");
  const { broken, missing, olderReleases, unhashed, verified, partial } = found;
  if (broken !== undefined) return failed(CHECK, describeBreak(broken), COMPARE);
  if (missing !== undefined) {
    const detail = `${describeIds(missing.from, missing.to)} missing before the oldest entry`;
    return olderReleases
      ? warning(
          CHECK,
          `${detail}: an older release that runs beside this one purges without a record, or somebody deleted them`,
          "Finish the upgrade: stop the processes of the older release. The next purge of this release records where the log begins.",
        )
      : failed(CHECK, `${detail}, and no purge deleted them`, COMPARE);
  }
  if (unhashed.count > 0)
    return warning(
      CHECK,
      `${plural(unhashed.count, "entry", "entries")} without a hash, as an older release writes them: ${listOf(unhashed)}. Everything else fits`,
      "Finish the upgrade: stop the processes of the older release. If none has run on this state, find out who wrote these entries.",
    );
  const entries = plural(verified, "entry", "entries");
  return ok(CHECK, partial ? `the newest ${entries} fit (--full verifies all)` : `${entries}, all fit`);
}

const listOf = ({ count, ids }: AuditVerification["unhashed"]): string =>
  count > ids.length ? `${ids.join(", ")} …` : ids.join(", ");

const describeIds = (from: number, to: number): string =>
  from === to ? `entry ${from} is` : `entries ${from} to ${to} are`;

/** What does not fit, in a clause. */
function describeBreak({ id, lastId, reason }: ChainBreak): string {
  switch (reason) {
    case "missing":
      return `${describeIds(id, lastId)} missing`;
    case "hash removed":
      return `the hash of entry ${id} was removed`;
    case "changed":
      return id === lastId
        ? `entry ${id} was changed, moved or added`
        : `one of the entries ${id} to ${lastId} was changed, moved or added`;
  }
}
