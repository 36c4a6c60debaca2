/** `grants`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import { jsonOption } from "./options.ts";

const PROJECT_ARGUMENT = "id of the project";
const KIND_ARGUMENT = "database, model, mcp_server, secret, host, mail or chat";
const NAME_ARGUMENT = "name in the configuration; a host, or a mail domain";

const load = () => import("../grants.ts");

export function registerGrants(program: Command, io: Io): void {
  const grants = program.command("grants").description("list, add and remove what projects may use");

  grants
    .command("list")
    .description("list what a project is granted")
    .argument("<project>", PROJECT_ARGUMENT)
    .addOption(jsonOption())
    .action(async (project, options) => (await load()).listProjectGrants(io, project, options));

  grants
    .command("add")
    .description("grant a connection, in place of an earlier grant of it")
    .argument("<project>", PROJECT_ARGUMENT)
    .argument("<kind>", KIND_ARGUMENT)
    .argument("<name>", NAME_ARGUMENT)
    .addOption(
      new Option("--access <which>", "database: refuses statements that write").choices([
        "read-only",
      ] as const),
    )
    .option("--role <name>", "database: the role of the configuration to connect as")
    .option("--tool <name...>", "mcp_server: the only tools that may be called")
    .action(async (project, kind, name, options) =>
      (await load()).grantConnection(io, project, { kind, name }, options),
    );

  grants
    .command("remove")
    .description("revoke a grant")
    .argument("<project>", PROJECT_ARGUMENT)
    .argument("<kind>", KIND_ARGUMENT)
    .argument("<name>", NAME_ARGUMENT)
    .action(async (project, kind, name) => (await load()).revokeGrant(io, project, kind, name));
}
