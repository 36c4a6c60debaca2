/** Checks the program and its machine: versions, the web interface, the clock, the variables of the sign-on. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import type { AuthMode } from "../../../schemas/user.ts";
import { VERSION, WEB_DIRECTORY } from "../../app/build.ts";
import { ConfigError } from "../../config/config-file.ts";
import type { Settings } from "../../config/environment.ts";
import { cognitoSettings, oidcSettings, type SignOnVariables } from "../../config/sign-on.ts";
import { type Clock, SECOND } from "../../core/clock.ts";
import { runCheck, PROGRAM, type CheckResult, checkResultsOf } from "./check-result.ts";

const GROUP = PROGRAM;
const { ok, warning, error: failed } = checkResultsOf(GROUP);

/** The runtime of this process. */
export interface Runtime {
  /** The version of Node, such as `v24.1.0`. */
  node: string;
  /** Operating system and architecture, such as `linux x64`. */
  platform: string;
}

const MIN_NODE_VERSION = 24;
/** Maximum difference between two readings of two clocks on a busy machine, in milliseconds. */
const DRIFT_SLACK_MS = 250;

export function checkVersions({ node, platform }: Runtime): CheckResult[] {
  const db = new Database(":memory:");
  const sqlite = String(db.prepare("select sqlite_version()").pluck().get());
  db.close();
  const versions = `Millrace ${VERSION}, Node ${node}, SQLite ${sqlite}, ${platform}`;
  return [
    Number(/^v(\d+)/.exec(node)?.[1]) >= MIN_NODE_VERSION
      ? ok("versions", versions)
      : failed("versions", versions, `Run Millrace with Node ${MIN_NODE_VERSION} or newer.`),
    ["index.html", "index.de.html"].every((page) => existsSync(join(WEB_DIRECTORY, page)))
      ? ok("web interface", "built")
      : warning(
          "web interface",
          "not built: /ui/ is not available",
          "Run npm run build:web in the checkout.",
        ),
  ];
}

/** Checks that the wall clock runs evenly and that Node knows time zones. */
export async function checkClock(clock: Clock, monotonic: () => number): Promise<CheckResult[]> {
  const fix = "Synchronize the clock with NTP (chronyd, systemd-timesyncd), which adjusts it gradually.";
  return runCheck({ group: GROUP, check: "clock", fix }, async () => {
    const [wall, steady] = [clock.now(), monotonic()];
    await delay(SECOND);
    const drift = clock.now() - wall - (monotonic() - steady);
    const zone = berlinHour() === "14";
    return [
      Math.abs(drift) <= DRIFT_SLACK_MS
        ? ok("clock", `${new Date(wall).toISOString()}, runs evenly`)
        : warning("clock", `changed by ${Math.round(drift)} ms within a second`, fix),
      ...(zone
        ? []
        : [
            failed(
              "time zones",
              "Node does not know time zones: schedules would run at the wrong time",
              "Use a build of Node with full ICU data, such as the official builds.",
            ),
          ]),
    ];
  });
}

/** The hour in Berlin at noon UTC in summer. */
const berlinHour = (): string =>
  new Intl.DateTimeFormat("en", { timeZone: "Europe/Berlin", hour: "numeric", hourCycle: "h23" }).format(
    Date.UTC(2026, 6, 1, 12),
  );

/** Reads the variables of each mode. provider.ts checks the identity provider itself. */
const SIGN_ON: Readonly<Record<AuthMode, (variables: SignOnVariables) => unknown>> = {
  "built-in": () => undefined,
  cognito: cognitoSettings,
  oidc: oidcSettings,
};

/** Checks the variables of an --auth-mode. */
export function checkSignOn(
  mode: AuthMode,
  { signOn, baseUrl }: Pick<Settings, "signOn" | "baseUrl">,
): CheckResult[] {
  const check = `sign-on ${mode}`;
  try {
    SIGN_ON[mode](signOn);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.issues.map((issue) =>
      failed(check, issue.replace(/^environment: /, ""), "Set the variable where serve is started."),
    );
  }
  if (mode !== "built-in" && baseUrl === undefined)
    return [
      warning(
        check,
        "the base URL is not set: the provider cannot send people back to Millrace",
        "Set MILLRACE_BASE_URL.",
      ),
    ];
  return [ok(check, mode === "built-in" ? "people sign in with a password" : "all variables are set")];
}
