/** Which commands work on a server elsewhere, and what the others say when MILLRACE_URL is set. */
import type { Command } from "commander";
import { CommandError, EXIT, type Io } from "../io.ts";

/** Commands, or groups of commands, that call operations of the API. */
const REMOTE: ReadonlySet<string> = new Set([
  "workflows",
  "run",
  "run-step",
  "runs",
  "approvals",
  "reviews",
  "triggers",
  "backfill",
  "backfills",
  "state",
  "subscriptions",
  "projects",
  "grants",
  "keys show",
  "completion",
]);

/** What to do instead, where it is not the same command on the machine of the server. */
const INSTEAD: Readonly<Record<string, string>> = {
  keys: "Manage keys in the web interface (user menu, API Keys): an API key can't create or revoke keys.",
  users: "Manage users in the web interface (People): an API key can't do it.",
  audit: "Read the audit log in the web interface, or with GET /audit-log.",
};

/** @throws CommandError if the command needs the state of this machine, but MILLRACE_URL is set; ConfigError */
export async function checkPlace(io: Io, command: Command): Promise<void> {
  if (!io.env["MILLRACE_URL"]) return;
  const names = pathOf(command);
  const path = names.join(" ");
  if (!names.some((_, index) => REMOTE.has(names.slice(0, index + 1).join(" "))))
    throw new CommandError(
      `millrace ${path} works on the state of this machine, but MILLRACE_URL is set. ` +
        (INSTEAD[names[0]!] ?? "Run it on the machine of the server.") +
        " To use the state of this machine, unset MILLRACE_URL.",
      EXIT.usage,
    );
  if (path === "completion") return;
  const { plainHttpWarning, remoteServer } = await import("../remote/server.ts");
  const warning = plainHttpWarning(remoteServer(io.env)!);
  if (warning !== undefined) io.err(`${warning}\n`);
}

/** The names of a command and of the commands that it belongs to, without that of the program. */
function pathOf(command: Command): string[] {
  const parent = command.parent;
  return parent === null ? [] : [...pathOf(parent), command.name()];
}
