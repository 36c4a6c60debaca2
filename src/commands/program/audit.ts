/** `audit`. */
import type { Command } from "commander";
import type { Io } from "../io.ts";

const load = () => import("../audit.ts");

export function registerAudit(program: Command, io: Io): void {
  const audit = program
    .command("audit")
    .description("export the audit log, verify its hash chain, print its newest hash");

  audit
    .command("export")
    .description("write the audit log as lines of JSON, oldest entry first")
    .option("--since <time>", "only entries at or after this time or date, such as 2026-11-21")
    .option("--until <time>", "only entries before this time or date")
    .option("--project <id>", "only entries of this project")
    .option("--output <file>", "output file; must not exist (default: standard output)")
    .action(async (options) => (await load()).exportAudit(io, options));

  audit
    .command("head")
    .description("print the id and the hash of the newest entry, to be kept elsewhere")
    .action(async () => (await load()).printAuditHead(io));

  audit
    .command("verify")
    .description("verify the hash of every entry")
    .option("--head <id:hash>", "an earlier head that must still be part of the log")
    .action(async (options) => (await load()).verifyAudit(io, options));
}
