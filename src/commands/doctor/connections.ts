/** What the configuration names: databases, models, MCP servers and mail, each tried as steps use it. */
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../../../schemas/config.ts";
import { createConnections } from "../../connections/index.ts";
import { createSmtpClient } from "../../connections/mail/smtp.ts";
import { baseUrlOf } from "../../connections/models/vendors.ts";
import { describeWriteAccess } from "../../connections/databases/privileges.ts";
import type { Settings } from "../../config/environment.ts";
import { systemClock } from "../../core/clock.ts";
import type { Connections, NamedConnection } from "../../core/connections.ts";
import { VERSION } from "../../app/build.ts";
import { plural } from "../plural.ts";
import { probeTcp } from "./tcp-probe.ts";
import { runCheck, type CheckResult, checkResultsOf } from "./check-result.ts";

const GROUP = "Connections";
const { ok, warning } = checkResultsOf(GROUP);

const CLOSE_MS = 2_000;

const DATABASE_MEND =
  "Check dataset and password_var of the database, and that its server lets this machine in.";
const MODEL_MEND = "Check base_url of the model, and whether this machine may reach it through the firewall.";
const SERVER_MEND = "Check command or url of the MCP server, and what it writes to its log.";
const MAIL_MEND =
  "Check smtp_server and smtp_port of authentication.basic, and whether a firewall is in between.";

export interface ConnectionChecks {
  /** Whether models are really called, which costs a few tokens. */
  callModels: boolean;
  /** Whether MCP servers, mail, and what logins may do are looked at too. */
  thorough: boolean;
  /** Whether people come in by links, which are mailed. */
  links?: boolean;
}

/** All at once; none keeps another waiting. */
export async function checkConnections(
  config: Config,
  settings: Pick<Settings, "stateDir" | "variables">,
  { callModels, thorough, links = true }: ConnectionChecks,
): Promise<CheckResult[]> {
  const opened = createConnections(config, settings.variables, {
    stateDir: settings.stateDir,
    version: VERSION,
    now: () => systemClock.now(),
  });
  try {
    const found = await Promise.all([
      ...opened.databases
        .list()
        .map((it, index) => database(opened, it, config.databases[index]!.type, thorough)),
      ...opened.models.list().map((it, index) => model(opened, it, config.models[index]!, callModels)),
      ...(thorough ? opened.mcpServers.list().map((it) => mcpServer(opened, it)) : []),
      ...(thorough ? [mail(config, settings.variables, links)] : []),
    ]);
    return found.flat();
  } finally {
    // One that does not answer does not say goodbye either.
    await Promise.race([opened.close(), delay(CLOSE_MS, undefined, { ref: false })]);
  }
}

/** A variable that is not set is a fault only of the workflows that need it. */
const unusable = (what: string, why: string): CheckResult[] => [
  warning(what, why, "Set it where the service is started; workflows that need it can't run."),
];

type DatabaseEntry = ReturnType<Connections["databases"]["list"]>[number];

function database(
  { databases }: Connections,
  entry: DatabaseEntry,
  type: Config["databases"][number]["type"],
  thorough: boolean,
): Promise<CheckResult[]> {
  const { name, access } = entry;
  const what = `database ${name}`;
  if (entry.unavailableReason !== null) return Promise.resolve(unusable(what, entry.unavailableReason));
  return runCheck({ group: GROUP, what, mend: DATABASE_MEND }, async (signal) => {
    const ask = async (query: string): Promise<Record<string, unknown>[]> => {
      const request = { database: name, query, params: {}, write: false, maxRows: 100, maxBytes: 100_000 };
      return (await databases.query(request, signal)).rows;
    };
    // That of SQLite reads the file; the others have looked at it when they opened it.
    await ask(type === "sqlite" ? "SELECT count(*) AS tables FROM sqlite_schema" : "SELECT 1 AS one");
    const usable = ok(what, `${type}, ${access}: answers`);
    if (!thorough || access !== "read-only") return usable;
    const rights = await describeWriteAccess(type, ask);
    if (rights === null) return usable;
    return warning(
      what,
      `answers; access is read-only, but the database's own login may write: ${rights}`,
      "Give it a login that may only SELECT: that is the only wall which holds against every query.",
    );
  });
}

function model(
  { models }: Connections,
  { name, type, model_ref: ref, unavailableReason: why }: NamedConnection & { model_ref: string },
  entry: Config["models"][number],
  call: boolean,
): Promise<CheckResult[]> {
  const what = `model ${name}`;
  if (why !== null) return Promise.resolve(unusable(what, `it ${why}`));
  return runCheck({ group: GROUP, what, mend: MODEL_MEND }, async (signal) => {
    if (!call) {
      const address = new URL(baseUrlOf(entry));
      await probeTcp(address, signal);
      // Without a query, which might hold a key.
      return ok(
        what,
        `${type} ${ref}: ${address.origin}${address.pathname} can be reached; --call-models tries the key`,
      );
    }
    const request = { model: name, prompt: "Answer with the word ok.", maxOutputTokens: 64 };
    const { usage } = await models.generate(request, signal);
    return ok(what, `${type} ${ref}: answers (${usage.input_tokens + usage.output_tokens} tokens)`);
  });
}

function mcpServer({ mcpServers }: Connections, entry: NamedConnection): Promise<CheckResult[]> {
  const what = `MCP server ${entry.name}`;
  if (entry.unavailableReason !== null) return Promise.resolve(unusable(what, entry.unavailableReason));
  return runCheck({ group: GROUP, what, mend: SERVER_MEND }, async (signal) => {
    const tools = await mcpServers.tools(entry.name, signal);
    if (tools.length > 0) return ok(what, `${entry.type}: answers, ${plural(tools.length, "tool")}`);
    return warning(
      what,
      `${entry.type}: answers, but has no tools`,
      "Check what the server is started with.",
    );
  });
}

async function mail(
  config: Config,
  variables: Settings["variables"],
  links: boolean,
): Promise<CheckResult[]> {
  const smtp = config.authentication.basic;
  if (smtp === undefined)
    return [
      ok(
        "mail",
        `not configured: ${links ? "links for people are handed on by hand, " : ""}email steps can't run`,
      ),
    ];
  const { unusableReason: why, verify } = createSmtpClient(config, variables);
  const reason = why();
  if (reason !== null) return unusable("mail", reason);
  return runCheck({ group: GROUP, what: "mail", mend: MAIL_MEND }, async (signal) => {
    await verify(signal);
    const server = `${smtp.smtp_server}:${smtp.smtp_port}`;
    if (smtp.secure !== "plain") return ok("mail", `${server}: logs in; nothing was sent`);
    return warning(
      "mail",
      `${server}: logs in, and the password crosses the network unencrypted (secure: plain)`,
      "Set authentication.basic.secure to starttls or tls, unless you trust that network.",
    );
  });
}
