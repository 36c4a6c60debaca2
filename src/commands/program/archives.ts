/** `backup`, `restore`, `export` and `import`. */
import type { Command } from "commander";
import type { Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import { jsonOption } from "./options.ts";

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
    .command("export")
    .description(
      "write everything except secrets to one file: users, workflows with their history, schedules",
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
