/** `backup`, `restore`, `migrate-state`, `export`, `import` and `storage`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import { integer, jsonOption } from "./options.ts";

export function registerArchives(
  program: Command,
  io: Io,
  { onStop, ask }: Pick<ProcessHost, "onStop" | "ask">,
): void {
  program
    .command("backup")
    .description("write a verified copy of the state to a file, while the servers run")
    .argument("<file>", "output file; must not exist")
    .addOption(jsonOption("print the contents as JSON"))
    .action(async (file, options) => (await import("../backup.ts")).backup(io, { onStop }, file, options));

  program
    .command("restore")
    .description("create the state from a backup; an existing state is never replaced")
    .argument("<file>", "the backup")
    .addOption(jsonOption("print the contents as JSON"))
    .action(async (file, options) => (await import("../restore.ts")).restore(io, { onStop }, file, options));

  program
    .command("migrate-state")
    .description(
      "copy the state from the state directory into an empty PostgreSQL database; all servers must be stopped",
    )
    .option("--to <url>", "URL of the database (default: MILLRACE_DATABASE_URL)")
    .addOption(
      new Option("--reopen", "use the state in the state directory again, which was moved before").conflicts(
        "to",
      ),
    )
    .addOption(jsonOption("print the counts and checksums as JSON"))
    .action(async (options) => (await import("../migrate-state.ts")).migrateState(io, options));

  program
    .command("export")
    .description(
      "write everything except secrets to one file: projects, users, workflows with their history, schedules",
    )
    .argument("<file>", "output file; must not exist")
    .option("--with-runs", "include finished runs with their inputs and outputs")
    .option("--with-audit", "include the audit log")
    .action(async (file, options) => (await import("../export.ts")).exportAll(io, file, options));

  program
    .command("import")
    .description("add what an export holds and this instance lacks; existing data is never changed")
    .argument("<file>", "file written by millrace export")
    .option("--yes", "import without asking")
    .option("--dry-run", "only show what would be imported")
    .option("--keep", "if a workflow here has another history, skip it instead of refusing the import")
    .option("--pause-schedules", "import all schedules paused")
    .action(async (file, options) => (await import("../import.ts")).importAll(io, { ask }, file, options));
}

export function registerStorage(program: Command, io: Io, { ask }: Pick<ProcessHost, "ask">): void {
  const storage = program
    .command("storage")
    .description("show how many bytes each owner stores, prune old versions")
    .addOption(jsonOption())
    .action(async (options) => (await import("../storage.ts")).showStorage(io, options));

  storage
    .command("prune-versions")
    .description("delete the definitions of old versions; the history and versions in use are kept")
    .option("--workflow <id>", "only versions of this workflow")
    .addOption(
      new Option("--keep <int>", "number of the newest versions of each workflow to keep")
        .default(20)
        .argParser(integer(1, 1_000_000)),
    )
    .option("--older-than <duration>", "only versions that are older than this", "30d")
    .option("--dry-run", "only show what would be deleted")
    .option("--yes", "delete without asking")
    .action(async (options) => (await import("../storage.ts")).pruneOldVersions(io, { ask }, options));

  storage
    .command("recount")
    .description(
      "compute again how many bytes each owner stores, if doctor --full says that a count is wrong",
    )
    .action(async () => (await import("../storage.ts")).recountStorage(io));
}
