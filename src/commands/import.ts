/** `millrace import`: takes over what an export holds and this instance has not. What is here is never changed. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { iso } from "../core/clock.ts";
import { newRequestId } from "../core/ids.ts";
import type { VersionWithDefinition, Writers } from "../core/ports.ts";
import type { UserLine, WorkflowLine } from "./archive/format.ts";
import { readLines } from "./archive/lines.ts";
import { type ImportPlan, planImport } from "./archive/import-plan.ts";
import { type ApplyHost, confirm } from "./apply.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { OPERATOR_ACTOR, withOperator, type Operator } from "./operator.ts";
import { plural } from "./plural.ts";

export interface ImportOptions {
  yes?: boolean;
  dryRun?: boolean;
  /** Leaves workflows as they are here where the file has them otherwise; else that is refused. */
  keep?: boolean;
  /** Imports every schedule paused: the instance that the file comes from may still run them. */
  pauseSchedules?: boolean;
}

/** Imports a file after all of it was checked and what it brings was confirmed. */
export async function importAll(
  io: Io,
  host: ApplyHost,
  file: string,
  options: ImportOptions,
): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(`${resolve(file)} is not a file. Name the export to import.`, EXIT.usage);
  await withOperator(io, {}, async (operator) => {
    const survey = await planImport(file, operator.instance.read, operator.services.engine);
    refuse(survey, options.keep === true);
    show(io, survey, options);
    if (survey.users.length + survey.workflows.length === 0 || options.dryRun) return;
    if (!options.yes) await confirm(host, "Import this?", "imported");
    await carryOver(operator, file, survey, options.pauseSchedules === true);
    operator.instance.log.info(
      { users: survey.users.length, workflows: survey.workflows.length },
      "imported",
    );
    io.out("Imported.\n");
  });
}

function refuse({ issues, conflictingWorkflows }: ImportPlan, keep: boolean): void {
  if (issues.length > 0) throw new CommandError(`${issues.join("\n")}\nNothing was imported.`);
  if (conflictingWorkflows.length === 0 || keep) return;
  throw new CommandError(
    `These workflows are here with another history: ${conflictingWorkflows.join(", ")}. Nothing was imported, because ` +
      "nothing that is here is overwritten. Say --keep to leave them as they are here and import the rest.",
  );
}

function show(io: Io, survey: ImportPlan, { pauseSchedules = false }: ImportOptions): void {
  const { green, dim, yellow, bold } = paint(io);
  const {
    users,
    existingUsers,
    workflows,
    unchangedWorkflows,
    conflictingWorkflows,
    schedules,
    keys,
    ignoredRecords,
  } = survey;
  for (const id of workflows) io.out(`${green("+")} workflow ${id}\n`);
  for (const id of conflictingWorkflows) io.out(`${dim("=")} workflow ${id}: left as it is here\n`);
  for (const { email, role, status } of users)
    io.out(`${green("+")} ${email}, ${role}, ${statusHere(status)}\n`);
  for (const { email, differs } of existingUsers)
    if (differs !== null) io.out(`${dim("=")} ${email}: left as it is here (${differs})\n`);
  io.out(
    `${bold(`${plural(workflows.length, "workflow")} and ${plural(users.length, "person", "people")} are new`)}; ${unchangedWorkflows} and ${existingUsers.length} are here already\n`,
  );
  if (schedules > 0)
    io.out(
      pauseSchedules
        ? `${plural(schedules, "schedule")} ${schedules === 1 ? "comes" : "come"} paused; resume them when the other instance no longer runs them.\n`
        : yellow(
            `${plural(schedules, "schedule")} ${schedules === 1 ? "runs" : "run"} here from now on: see that the instance they come from no longer runs them, or say --pause-schedules.\n`,
          ),
    );
  if (users.length > 0)
    io.out(
      "Passwords are in no export: millrace users reset <address> prints the link that lets somebody in.\n",
    );
  if (keys.length > 0)
    io.out(
      `API keys are in no export; make those that are needed anew:\n${keys.map(({ name, owner, scopes }) => `  ${name} of ${owner} (${scopes.join(", ")})\n`).join("")}`,
    );
  if (ignoredRecords > 0)
    io.out(
      `${plural(ignoredRecords, "line")} ${ignoredRecords === 1 ? "is a record" : "are records"} of the other instance (runs, audit log) and ${ignoredRecords === 1 ? "stays" : "stay"} in the file; millrace backup and restore move them.\n`,
    );
}

/** Nobody comes in by a file: who was active is invited until they have chosen a password here. */
const statusHere = (status: UserLine["status"]): UserLine["status"] =>
  status === "deactivated" ? status : "invited";

/** A transaction for all people, and one for each workflow. */
async function carryOver(
  { services, setup }: Operator,
  file: string,
  survey: ImportPlan,
  paused: boolean,
): Promise<void> {
  const write = <T>(operation: string, effect: (tx: Writers) => Promise<T>): Promise<T> =>
    services.write({ operation, actor: OPERATOR_ACTOR, requestId: newRequestId() }, effect);
  await write("import_user", async (tx) => {
    for (const user of survey.users) {
      await tx.users.insert({
        id: user.id,
        email: user.email,
        role: user.role,
        roleSource: null,
        status: statusHere(user.status),
        passwordHash: null,
        verifiedAt: null,
        createdAt: user.created_at,
        createdBy: user.created_by,
        lastLoginAt: null,
      });
      await tx.recordAudit(user.email, `role_${user.role}`);
    }
  });
  const wanted = new Set(survey.workflows);
  const lines = readLines(file);
  let next = await lines.next();
  const versionsOf = async function* (id: string): AsyncGenerator<VersionWithDefinition> {
    for (next = await lines.next(); next.value?.line?.kind === "version"; next = await lines.next()) {
      const { kind: _, ...version } = next.value.line;
      if (version.workflow_id !== id) throw changed(file);
      yield version;
    }
  };
  while (next.done !== true) {
    const { line } = next.value;
    if (line?.kind === "workflow" && wanted.has(line.id)) {
      await write("import_workflow", async (tx) => {
        await tx.workflows.importWithHistory(line, versionsOf(line.id));
        if (line.schedule !== null) await saveSchedule(tx, line, line.schedule);
      });
      wanted.delete(line.id);
    } else next = await lines.next();
  }
  if (wanted.size > 0) throw changed(file);

  async function saveSchedule(
    tx: Writers,
    { id, published_version: version }: WorkflowLine,
    schedule: NonNullable<WorkflowLine["schedule"]>,
  ): Promise<void> {
    const definition = await tx.runs.versionDefinition(id, version!);
    const { cron, timezone, overlap } = TOP_FIELDS.schedule.parse(definition?.["schedule"])!;
    const [due] = services.engine.nextScheduleTimes({ cron, timezone }, setup.clock.now(), 1);
    await tx.schedules.save({
      workflowId: id,
      version: version!,
      cron,
      timezone,
      overlap,
      paused: schedule.paused || paused,
      nextAt: due === undefined ? null : iso(due),
      lastAt: schedule.last_at,
      skipped: null,
      actor: { owner: schedule.owner, keyName: schedule.key_name, lineage: schedule.lineage },
    });
  }
}

const changed = (file: string): CommandError =>
  new CommandError(
    `${file} was changed while it was read. What was imported until then is whole; import it again.`,
  );
