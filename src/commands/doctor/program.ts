/** The program itself and the machine under it: versions, the built interface, the clock, how people sign in. */
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
const { ok, warning, error: fault } = checkResultsOf(GROUP);

/** What runs it. */
export interface Runtime {
  /** Node's version, as `v24.1.0`. */
  node: string;
  /** As `linux x64`. */
  platform: string;
}

const NEEDED_NODE = 24;
/** What two readings of two clocks may differ by on a busy machine. */
const DRIFT_SLACK_MS = 250;

export function checkVersions({ node, platform }: Runtime): CheckResult[] {
  const db = new Database(":memory:");
  const sqlite = String(db.prepare("select sqlite_version()").pluck().get());
  db.close();
  const versions = `Millrace ${VERSION}, Node ${node}, SQLite ${sqlite}, ${platform}`;
  return [
    Number(/^v(\d+)/.exec(node)?.[1]) >= NEEDED_NODE
      ? ok("versions", versions)
      : fault("versions", versions, `Run it with Node ${NEEDED_NODE} or newer.`),
    existsSync(join(WEB_DIRECTORY, "index.html"))
      ? ok("web interface", "built")
      : warning(
          "web interface",
          "not built: /ui/ has nothing to show",
          "Run npm run build:web in the checkout.",
        ),
  ];
}

/** Whether the wall clock moves as a clock that nobody sets, and whether time zones are known. */
export async function checkClock(clock: Clock, monotonic: () => number): Promise<CheckResult[]> {
  const mend = "Set the time by NTP (chronyd, systemd-timesyncd), which moves it little by little.";
  return runCheck({ group: GROUP, what: "clock", mend }, async () => {
    const [wall, steady] = [clock.now(), monotonic()];
    await delay(SECOND);
    const drift = clock.now() - wall - (monotonic() - steady);
    const zone = berlinHour() === "14";
    return [
      Math.abs(drift) <= DRIFT_SLACK_MS
        ? ok("clock", `${new Date(wall).toISOString()}, and steady`)
        : warning("clock", `it was moved by ${Math.round(drift)} ms within a second`, mend),
      ...(zone
        ? []
        : [
            fault(
              "time zones",
              "Node does not know them: schedules would run at the wrong time",
              "Use a Node with full ICU data, as the official builds are.",
            ),
          ]),
    ];
  });
}

/** Noon UTC in summer. */
const berlinHour = (): string =>
  new Intl.DateTimeFormat("en", { timeZone: "Europe/Berlin", hour: "numeric", hourCycle: "h23" }).format(
    Date.UTC(2026, 6, 1, 12),
  );

/** What each way to sign in stands on; what the provider itself says is looked at in provider.ts. */
const SIGN_ON: Readonly<Record<AuthMode, (variables: SignOnVariables) => unknown>> = {
  "built-in": () => undefined,
  cognito: cognitoSettings,
  oidc: oidcSettings,
};

/** Whether the variables of a way to sign in are there. */
export function checkSignOn(
  mode: AuthMode,
  { signOn, baseUrl }: Pick<Settings, "signOn" | "baseUrl">,
): CheckResult[] {
  const what = `sign-on ${mode}`;
  try {
    SIGN_ON[mode](signOn);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.issues.map((it) =>
      fault(what, it.replace(/^environment: /, ""), "Set the variable where serve is started."),
    );
  }
  if (mode !== "built-in" && baseUrl === undefined)
    return [
      warning(
        what,
        "no base URL: the provider can't know where to send people back",
        "Set MILLRACE_BASE_URL.",
      ),
    ];
  return [ok(what, mode === "built-in" ? "people have passwords here" : "its variables are set")];
}
