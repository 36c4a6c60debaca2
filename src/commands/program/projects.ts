/** `projects`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import { integer, jsonOption, MAX_BACKTEST_RUNS } from "./options.ts";

const PROJECT_ARGUMENT = "id of the project";
const EMAIL_ARGUMENT = "e-mail address of the person";

const load = () => import("../projects.ts");

const connections = () =>
  new Option("--connections <which>", "all connections, or only those that are granted").choices([
    "all",
    "granted",
  ]);
const httpPublic = () =>
  new Option("--http-public <which>", "public hosts that http steps may reach").choices([
    "none",
    "list",
    "any",
    "default",
  ]);
const backtest = () =>
  new Option("--backtest <int>", "publishing needs a backtest of this number of runs").argParser(
    integer(1, MAX_BACKTEST_RUNS),
  );
const ALLOW_DIFFERENCE = "--allow-difference <name...>";
const ALLOW_DIFFERENCE_HELP = "with --backtest: what may differ, such as output.note";
const LIMIT_HELP =
  "limit of the whole project: runs_per_hour, unfinished_runs, model_tokens_per_day, rows_per_day, stored_bytes, mails_per_hour, mails_to_address_per_hour; none removes it";

export function registerProjects(program: Command, io: Io): void {
  const projects = program
    .command("projects")
    .description("list, create, change and delete projects, and manage their members");

  projects
    .command("list")
    .description("list all projects")
    .addOption(jsonOption())
    .action(async (options) => (await load()).listAllProjects(io, options));

  projects
    .command("create")
    .description("create a project and print its id")
    .argument("<name>", "name of the project; its id is a slug of it")
    .option("--id <id>", "id of the project: lower-case letters, digits and dashes")
    .option("--description <text>", "what the project is for")
    .addOption(connections())
    .addOption(httpPublic())
    .option("--review", "publishing needs the review of another person")
    .addOption(backtest())
    .option(ALLOW_DIFFERENCE, ALLOW_DIFFERENCE_HELP)
    .option("--limit <name=value...>", LIMIT_HELP)
    .addOption(jsonOption())
    .action(async (name, options) => (await load()).createNewProject(io, name, options));

  projects
    .command("show")
    .description("show a project with its members")
    .argument("<project>", PROJECT_ARGUMENT)
    .addOption(jsonOption())
    .action(async (project, options) => (await load()).showProject(io, project, options));

  projects
    .command("update")
    .description("change a project; what is left out stays")
    .argument("<project>", PROJECT_ARGUMENT)
    .option("--name <name>", "name of the project")
    .option("--description <text>", "what the project is for")
    .addOption(connections())
    .addOption(httpPublic())
    .option("--review", "publishing needs the review of another person")
    .option("--no-review", "publishing needs no review")
    .addOption(backtest())
    .option("--no-backtest", "publishing needs no backtest")
    .option(ALLOW_DIFFERENCE, `${ALLOW_DIFFERENCE_HELP}; replaces the list`)
    .option("--limit <name=value...>", LIMIT_HELP)
    .addOption(jsonOption())
    .action(async (project, options) => (await load()).changeProject(io, project, options));

  projects
    .command("delete")
    .description("delete a project that has no workflows and no runs")
    .argument("<project>", PROJECT_ARGUMENT)
    .action(async (project) => (await load()).deleteOneProject(io, project));

  const members = projects.command("members").description("list, set and remove the members of a project");

  members
    .command("list")
    .description("list the people with a role in a project")
    .argument("<project>", PROJECT_ARGUMENT)
    .addOption(jsonOption())
    .action(async (project, options) => (await load()).listMembers(io, project, options));

  members
    .command("set")
    .description("give a person a role in a project, with or without an account")
    .argument("<project>", PROJECT_ARGUMENT)
    .argument("<email>", EMAIL_ARGUMENT)
    .argument("<role>", "viewer, editor or admin")
    .action(async (project, email, role) => (await load()).setMember(io, project, email, role));

  members
    .command("remove")
    .description("take the role of a person in a project away")
    .argument("<project>", PROJECT_ARGUMENT)
    .argument("<email>", EMAIL_ARGUMENT)
    .action(async (project, email) => (await load()).removeMember(io, project, email));
}
