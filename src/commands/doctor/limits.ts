/** Shows the limits of connections, runs and schedules that are in force, and where each comes from. */
import { existsSync } from "node:fs";
import type { Config } from "../../../schemas/config.ts";
import { DEFAULT_PER_KEY_LIMITS, type LimitInForce, limitsInForce } from "../../core/usage-limits.ts";
import type { StateLocation } from "../../core/postgres-address.ts";
import { inspectDatabase } from "../../store/inspect.ts";
import { inspectPostgres } from "../../store/postgres/inspect.ts";
import { hasDefaultLimits } from "../../store/settings.ts";
import { databaseFileIn } from "../../store/state-directory.ts";
import { type CheckResult, checkResultsOf, runCheck } from "./check-result.ts";
import { movedResult } from "./moved.ts";

export type RunLimits = Pick<
  Config["limits"],
  | "connections"
  | "connections_per_address"
  | "unfinished_runs"
  | "queue_age"
  | "min_schedule_interval"
  | "per_key"
>;

const GROUP = "Limits";
const { ok } = checkResultsOf(GROUP);

/** @param hasDefaults whether the installation has default limits per key */
export function limitResults(limits: RunLimits, hasDefaults: boolean): CheckResult[] {
  return [
    ok("connections", `${count(limits.connections)} of a listener, if it may open enough files`),
    ok("connections_per_address", describeShare(limits.connections_per_address)),
    ok("unfinished_runs", `${count(limits.unfinished_runs)} in total`),
    ok("queue_age", limits.queue_age),
    ok("min_schedule_interval", limits.min_schedule_interval),
    ...limitsInForce(limits.per_key, hasDefaults).map((limit) =>
      ok(`per_key.${limit.limit}`, describe(limit, hasDefaults)),
    ),
  ];
}

const describeShare = (max: number | undefined): string =>
  max === undefined ? "a share of all, at most three quarters (default)" : `${count(max)} (configuration)`;

function describe({ limit, max, source }: LimitInForce, hasDefaults: boolean): string {
  const value = max === null ? "none" : `${count(max)} for each person and each key of the operator`;
  if (source === "configuration") return `${value} (configuration)`;
  const isMissing = !hasDefaults && limit in DEFAULT_PER_KEY_LIMITS;
  return `${value} (${isMissing ? "this installation is older than the default" : "default"})`;
}

const count = (value: number): string => value.toLocaleString("en");

/** The limits of the installation, whose state the first start creates if there is none. */
export const checkLimits = (
  { stateDir, database }: StateLocation,
  limits: RunLimits,
): Promise<CheckResult[]> =>
  runCheck(
    { group: GROUP, check: "limits", fix: "Run millrace doctor, which checks the state." },
    async () => {
      if (database !== undefined) {
        const { migrationStatus, read, close } = await inspectPostgres(database);
        try {
          const isNew = (await migrationStatus()).applied === 0;
          return limitResults(limits, isNew || (await hasDefaultLimits(read)));
        } finally {
          await close();
        }
      }
      const databaseFile = databaseFileIn(stateDir);
      if (!existsSync(databaseFile)) return limitResults(limits, true);
      const inspection = await inspectDatabase({ databaseFile });
      const { isMillraceDatabase, migrationStatus, read, close } = inspection;
      try {
        const movedTo = await inspection.movedTo();
        if (movedTo !== undefined) return [movedResult(movedTo, stateDir)];
        // A database of another program is a matter for doctor.
        const isNew = !isMillraceDatabase || (await migrationStatus()).applied === 0;
        return limitResults(limits, isNew || (await hasDefaultLimits(read)));
      } finally {
        await close();
      }
    },
  );
