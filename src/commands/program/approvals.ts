/** `approvals`. */
import { type Command, Option } from "commander";
import { ApprovalStatus } from "../../../schemas/run-status.ts";
import type { Io } from "../io.ts";
import { configOption, jsonOption } from "./options.ts";

const ID_ARGUMENT = "id of the approval";
const load = () => import("../approvals.ts");

export function registerApprovals(program: Command, io: Io): void {
  const approvals = program.command("approvals").description("list, show, decide and pass on approvals");

  approvals
    .command("list")
    .description("list approvals, newest first")
    .addOption(new Option("--status <status>", "status").choices(ApprovalStatus.options).default("pending"))
    .option("--run <id>", "only of this run")
    .option("--project <id>", "only of this project")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options) => (await load()).listAll(io, options));

  approvals
    .command("show")
    .description("show the question, what can run after the decision, and who has decided what")
    .argument("<approval>", ID_ARGUMENT)
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (id, options) => (await load()).show(io, id, options));

  approvals
    .command("decide")
    .description("approve or decline, as the operator")
    .argument("<approval>", ID_ARGUMENT)
    .addOption(
      new Option("--decision <decision>", "decision").choices(["approve", "decline"]).makeOptionMandatory(),
    )
    .requiredOption("--digest <digest>", "digest of the plan that approvals show prints")
    .option("--comment <text>", "reason; the run can read it")
    .option("--form <json>", "the filled-in form, as a JSON object")
    .option("--override", "decide in place of the assignees; it is recorded")
    .addOption(configOption())
    .action(async (id, options) => (await load()).decide(io, id, options));

  approvals
    .command("delegate")
    .description("pass the place of an assignee on to another person")
    .argument("<approval>", ID_ARGUMENT)
    .requiredOption("--from <address>", "the assignee whose place it is")
    .requiredOption("--to <address>", "who decides from now on")
    .option("--note <text>", "what the person should know")
    .addOption(configOption())
    .action(async (id, options) => (await load()).delegate(io, id, options));
}
