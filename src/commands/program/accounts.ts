/** `keys` and `users`. */
import type { Command } from "commander";
import type { Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import { registerKeyChanges } from "./key-changes.ts";
import { configOption, jsonOption } from "./options.ts";

const KEY_ARGUMENT = "id or name of the key, or the key itself";
const EMAIL_ARGUMENT = "e-mail address of the user";

const loadKeys = () => import("../keys.ts");
const loadUsers = () => import("../users.ts");

export function registerKeys(program: Command, io: Io, host: Pick<ProcessHost, "ask">): void {
  const keys = program
    .command("keys")
    .description("create, list, describe, rotate and revoke API keys; revert what one changed");

  keys
    .command("create")
    .description("create a key and print it; it is shown only once")
    .requiredOption("--name <name>", "what the key is for")
    .option("--expires <date>", "last day (2027-01-31, UTC) or exact time (2027-01-31T12:00:00Z)")
    .option(
      "--scope <scope...>",
      "what the key can do: read, write, publish, run, approve, admin (default: read write publish run)",
    )
    .option("--project <id...>", "its projects (default: the default one)")
    .option("--workflow <id...>", "sees and runs only these workflows, and changes none")
    .option("--tool <name...>", "uses only these operations and tools")
    .option("--database <name...>", "its runs use only these databases")
    .option("--model <name...>", "its runs use only these models")
    .addOption(configOption())
    .addOption(jsonOption("print the key and its details as JSON"))
    .action(async (options) => (await loadKeys()).createApiKey(io, options));

  keys
    .command("list")
    .description("list keys, without their values")
    .addOption(jsonOption())
    .action(async (options) => (await loadKeys()).listApiKeys(io, options));

  keys
    .command("show")
    .description("say in words what a key can do and reach")
    .argument("<key>", `${KEY_ARGUMENT}; with MILLRACE_URL its id, or self`)
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (key, options) => (await loadKeys()).showApiKey(io, key, options));

  keys
    .command("rotate")
    .description("create a replacement; the old key keeps working for the overlap")
    .argument("<key>", KEY_ARGUMENT)
    .option("--overlap <duration>", "how long the old key keeps working: 30m, 24h, 7d (default: 24h)")
    .option(
      "--expires <date>",
      "last day or exact time of the new key (default: the same lifetime as the old key)",
    )
    .addOption(jsonOption("print the key and its details as JSON"))
    .action(async (key, options) => (await loadKeys()).rotateApiKey(io, key, options));

  keys
    .command("revoke")
    .description("revoke a key now, on every server and on open streams")
    .argument("<key>", KEY_ARGUMENT)
    .action(async (key) => (await loadKeys()).revokeApiKey(io, key));

  registerKeyChanges(keys, io, host, KEY_ARGUMENT);
}

export function registerUsers(program: Command, io: Io): void {
  const users = program
    .command("users")
    .description("list, invite, change and deactivate users, without a browser")
    .addHelpText(
      "after",
      `
Links begin with MILLRACE_BASE_URL, else with the address that the server last listened on, else with
http://127.0.0.1:3000. They are printed and never sent by e-mail.`,
    );

  users
    .command("list")
    .description("list all users, sorted by e-mail address")
    .addOption(jsonOption())
    .action(async (options) => (await loadUsers()).listAllUsers(io, options));

  users
    .command("setup-link")
    .description("print a link to create the first admin account with; earlier ones stop working")
    .action(async () => (await loadUsers()).printSetupLink(io));

  users
    .command("invite")
    .description("create a user and print the link to choose a password with")
    .argument("<email>", EMAIL_ARGUMENT)
    .requiredOption("--role <role>", "viewer, editor or admin")
    .action(async (email, options) => (await loadUsers()).inviteUserByEmail(io, email, options));

  users
    .command("reset")
    .description("print a link to choose a new password with, or a new invitation link")
    .argument("<email>", EMAIL_ARGUMENT)
    .action(async (email) => (await loadUsers()).resetPassword(io, email));

  users
    .command("reset-factors")
    .description("remove the second factors of a user who has lost them, and end their sessions")
    .argument("<email>", EMAIL_ARGUMENT)
    .addOption(configOption())
    .action(async (email, options) => (await loadUsers()).resetFactors(io, email, options));

  users
    .command("role")
    .description("change the role of a user; it applies from the next request")
    .argument("<email>", EMAIL_ARGUMENT)
    .argument("<role>", "viewer, editor or admin")
    .action(async (email, role) => (await loadUsers()).setRole(io, email, role));

  users
    .command("absent")
    .description("set when a user is away, and who decides approvals in their place")
    .argument("<email>", EMAIL_ARGUMENT)
    .requiredOption("--until <time>", "when the user is back, such as 2026-12-20T08:00:00Z")
    .requiredOption("--substitute <email>", "who decides in their place as well")
    .option("--from <time>", "when the absence begins (default: now)")
    .action(async (email, options) => (await import("../absences.ts")).setUserAbsence(io, email, options));

  users
    .command("back")
    .description("end the absence of a user")
    .argument("<email>", EMAIL_ARGUMENT)
    .action(async (email) => (await import("../absences.ts")).endUserAbsence(io, email));

  users
    .command("deactivate")
    .description("deactivate a user: end all sessions and refuse all keys of this user")
    .argument("<email>", EMAIL_ARGUMENT)
    .action(async (email) => (await loadUsers()).setStatus(io, email, "deactivated"));

  users
    .command("activate")
    .description("activate a deactivated user again")
    .argument("<email>", EMAIL_ARGUMENT)
    .action(async (email) => (await loadUsers()).setStatus(io, email, "active"));
}
