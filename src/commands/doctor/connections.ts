/** Checks the databases, models, MCP servers and the mail account of the configuration in the way steps use them. */
import { setTimeout as delay } from "node:timers/promises";
import { COMMAND_LINE } from "../../../schemas/actor.ts";
import type { Config } from "../../../schemas/config.ts";
import { createConnections } from "../../connections/index.ts";
import { createSmtpClient } from "../../connections/mail/smtp.ts";
import { baseUrlOf } from "../../connections/models/vendors.ts";
import { describeWriteAccess } from "../../connections/databases/privileges.ts";
import type { Settings } from "../../config/environment.ts";
import { systemClock } from "../../core/clock.ts";
import type { Connections, NamedConnection } from "../../core/connections.ts";
import type { OutgoingProxies } from "../../core/outgoing-proxy.ts";
import { VERSION } from "../../app/build.ts";
import { plural } from "../plural.ts";
import { probeUrl } from "./outgoing.ts";
import { runCheck, type CheckResult, checkResultsOf } from "./check-result.ts";

const GROUP = "Connections";
const { ok, warning } = checkResultsOf(GROUP);

/** How long closing the connections may take, in milliseconds. */
const CLOSE_LIMIT_MS = 2_000;

const DATABASE_FIX =
  "Check dataset and password_var of the database, and that its server accepts connections from this machine.";
const MODEL_FIX = "Check base_url of the model, and that no firewall blocks it.";
const SERVER_FIX = "Check command or url of the MCP server, and its log.";
const MAIL_FIX = "Check smtp_server and smtp_port of authentication.basic, and that no firewall blocks them.";

export interface ConnectionChecks {
  /** Whether a request is sent to each model, which costs a few tokens. */
  callModels: boolean;
  /** Whether MCP servers, mail and the permissions of database logins are checked too. */
  thorough: boolean;
  /** Whether people get links by e-mail (`--auth-mode built-in`). */
  links?: boolean;
}

/** Checks all connections at the same time. */
export async function checkConnections(
  config: Config,
  settings: Pick<Settings, "stateDir" | "secrets" | "proxies">,
  { callModels, thorough, links = true }: ConnectionChecks,
): Promise<CheckResult[]> {
  const connections = createConnections(config, settings.secrets, {
    stateDir: settings.stateDir,
    version: VERSION,
    proxies: settings.proxies,
    now: () => systemClock.now(),
  });
  try {
    const results = await Promise.all([
      ...connections.databases
        .list()
        .map((entry) => checkDatabase(connections, entry, config.databases.find(isNamed(entry)), thorough)),
      ...connections.models.list().map((entry) =>
        checkModel(connections, entry, config.models.find(isNamed(entry)), {
          call: callModels,
          proxies: settings.proxies,
        }),
      ),
      ...(thorough ? connections.mcpServers.list().map((entry) => checkMcpServer(connections, entry)) : []),
      ...(thorough ? [checkMail(config, settings.secrets, links)] : []),
    ]);
    return results.flat();
  } finally {
    // A server that does not answer may not close its connection either.
    await Promise.race([connections.close(), delay(CLOSE_LIMIT_MS, undefined, { ref: false })]);
  }
}

const isNamed =
  ({ name }: { name: string }) =>
  (entry: { name: string }): boolean =>
    entry.name === name;

/** A missing variable or an entry that is not valid is only a warning, because other workflows can run without it. */
const unusable = (check: string, reason: string | null): CheckResult[] => [
  warning(
    check,
    reason ?? "its entry in the configuration is missing",
    "Correct its entry, or set its variable where the servers are started. Workflows that need it cannot run.",
  ),
];

type DatabaseEntry = ReturnType<Connections["databases"]["list"]>[number];

function checkDatabase(
  { databases }: Connections,
  entry: DatabaseEntry,
  configured: Config["databases"][number] | undefined,
  thorough: boolean,
): Promise<CheckResult[]> {
  const { name, access } = entry;
  const check = `database ${name}`;
  if (entry.unavailableReason !== null || configured === undefined)
    return Promise.resolve(unusable(check, entry.unavailableReason));
  const { type } = configured;
  return runCheck({ group: GROUP, check, fix: DATABASE_FIX }, async (signal) => {
    const runQuery = async (query: string): Promise<Record<string, unknown>[]> => {
      const request = {
        database: name,
        query,
        params: {},
        write: false,
        maxRows: 100,
        maxBytes: 100_000,
        keepTruncated: true,
      };
      return (await databases.query(request, { owner: COMMAND_LINE, signal })).rows;
    };
    // SQLite reads the file only with the first query; the other databases read it when they connect.
    await runQuery(type === "sqlite" ? "SELECT count(*) AS tables FROM sqlite_schema" : "SELECT 1 AS one");
    const usable = ok(check, `${type}, ${access}: answers`);
    if (!thorough || access !== "read-only") return usable;
    const writeAccess = await describeWriteAccess(type, runQuery);
    if (writeAccess === null) return usable;
    return warning(
      check,
      `answers; access is read-only, but the database login can write: ${writeAccess}`,
      "Use a login that has only the SELECT permission: nothing else stops every query that writes.",
    );
  });
}

function checkModel(
  { models }: Connections,
  { name, type, model_ref: ref, unavailableReason: reason }: NamedConnection & { model_ref: string },
  entry: Config["models"][number] | undefined,
  { call, proxies }: { call: boolean; proxies: OutgoingProxies },
): Promise<CheckResult[]> {
  const check = `model ${name}`;
  if (reason !== null || entry === undefined)
    return Promise.resolve(unusable(check, reason && `it ${reason}`));
  return runCheck({ group: GROUP, check, fix: MODEL_FIX }, async (signal) => {
    if (!call) {
      const address = new URL(baseUrlOf(entry));
      await probeUrl(address, proxies, signal);
      // Without the query part of the URL, which might hold a key.
      return ok(
        check,
        `${type} ${ref}: ${address.origin}${address.pathname} can be reached; --call-models tests the key`,
      );
    }
    const request = { model: name, prompt: "Answer with the word ok.", maxOutputTokens: 64 };
    const { usage } = await models.generate(request, { owner: COMMAND_LINE, signal });
    return ok(check, `${type} ${ref}: answers (${usage.input_tokens + usage.output_tokens} tokens)`);
  });
}

function checkMcpServer({ mcpServers }: Connections, entry: NamedConnection): Promise<CheckResult[]> {
  const check = `MCP server ${entry.name}`;
  if (entry.unavailableReason !== null) return Promise.resolve(unusable(check, entry.unavailableReason));
  return runCheck({ group: GROUP, check, fix: SERVER_FIX }, async (signal) => {
    const tools = await mcpServers.tools(entry.name, { owner: COMMAND_LINE, signal });
    if (tools.length > 0) return ok(check, `${entry.type}: answers, ${plural(tools.length, "tool")}`);
    return warning(
      check,
      `${entry.type}: answers, but offers no tools`,
      "Check the arguments and environment of the server.",
    );
  });
}

async function checkMail(
  config: Config,
  secrets: Settings["secrets"],
  links: boolean,
): Promise<CheckResult[]> {
  const smtp = config.authentication.basic;
  if (smtp === undefined)
    return [
      ok(
        "mail",
        `not configured: ${links ? "admins must send invitation links themselves, and " : ""}email steps cannot run`,
      ),
    ];
  const { unusableReason, verify } = createSmtpClient(config, secrets);
  const reason = unusableReason();
  if (reason !== null) return unusable("mail", reason);
  return runCheck({ group: GROUP, check: "mail", fix: MAIL_FIX }, async (signal) => {
    await verify(signal);
    const server = `${smtp.smtp_server}:${smtp.smtp_port}`;
    if (smtp.secure !== "plain") return ok("mail", `${server}: login succeeded; nothing was sent`);
    return warning(
      "mail",
      `${server}: login succeeded, but the password is sent unencrypted (secure: plain)`,
      "Set authentication.basic.secure to starttls or tls, unless you trust that network.",
    );
  });
}
