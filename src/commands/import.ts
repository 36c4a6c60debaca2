/** `millrace import`: adds what an export holds and this instance lacks. Existing data is never changed. */
import { saveExpectation } from "../../tools/workflows/save-expectation.ts";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { iso } from "../core/clock.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { newRequestId } from "../core/ids.ts";
import type { Writers } from "../core/ports.ts";
import type { VersionWithDefinition } from "../core/workflow-ports.ts";
import { FIRST_STATE_REVISION } from "../core/workflow-state-ports.ts";
import type { UserLine, WorkflowLine } from "./archive/format.ts";
import { writeProjects } from "./archive/projects.ts";
import { writeSubscriptions } from "./archive/subscriptions.ts";
import { readLines } from "./archive/lines.ts";
import { type ImportPlan, planImport } from "./archive/import-plan.ts";
import { confirm, type ConfirmHost } from "./confirm.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { OPERATOR_ACTOR, withOperator, type Operator } from "./operator.ts";
import { plural } from "./plural.ts";
import { type Progress, showProgress } from "./progress.ts";

export interface ImportOptions {
  yes?: boolean;
  dryRun?: boolean;
  /** Skips workflows that have another history here; without it, the import is refused. */
  keep?: boolean;
  /** Imports all schedules paused, because the instance that exported them may still run them. */
  pauseSchedules?: boolean;
}

/** Imports a file, after the whole file is checked and the operator confirms what it adds. */
export async function importAll(
  io: Io,
  host: ConfirmHost,
  file: string,
  options: ImportOptions,
): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new CommandError(
      `${resolve(file)} is not a file. Name a file written by millrace export.`,
      EXIT.usage,
    );
  await withOperator(io, {}, async (operator) => {
    const plan = await planImport(file, operator.instance.read, operator.services.engine);
    refuseConflicts(plan, options.keep === true);
    printPlan(io, plan, options);
    const { projects, users, workflows, subscriptions } = plan;
    if ([projects, users, workflows, subscriptions].every(({ length }) => length === 0) || options.dryRun)
      return;
    if (!options.yes) await confirm(host, "Import this?", "imported");
    const progress = showProgress(io, "Importing", workflows.length);
    try {
      await writePlan(operator, file, plan, { paused: options.pauseSchedules === true, progress });
    } finally {
      progress.end();
    }
    operator.instance.log.info(
      { users: users.length, workflows: workflows.length, subscriptions: subscriptions.length },
      "export imported",
    );
    io.out("Imported.\n");
  });
}

function refuseConflicts({ issues, conflictingWorkflows }: ImportPlan, keep: boolean): void {
  if (issues.length > 0) throw new CommandError(`${issues.join("\n")}\nNothing was imported.`);
  if (conflictingWorkflows.length === 0 || keep) return;
  throw new CommandError(
    `These workflows exist here with another history: ${conflictingWorkflows.join(", ")}. Nothing was imported, because ` +
      "an import never overwrites data. Use --keep to skip these workflows and import the rest.",
  );
}

function printPlan(io: Io, plan: ImportPlan, { pauseSchedules = false }: ImportOptions): void {
  const { green, dim, yellow, bold } = paint(io);
  const {
    users,
    existingUsers,
    workflows,
    unchangedWorkflows,
    conflictingWorkflows,
    schedules,
    subscriptions,
    keys,
    ignoredRecords,
  } = plan;
  for (const { id, members, grants } of plan.projects)
    io.out(
      `${green("+")} project ${id}, ${plural(members.length, "member")}, ${plural(grants.length, "grant")}\n`,
    );
  for (const { id, differs } of plan.existingProjects)
    if (differs !== null) io.out(`${dim("=")} project ${id}: skipped, exists here with other ${differs}\n`);
  for (const id of workflows) io.out(`${green("+")} workflow ${id}\n`);
  for (const id of conflictingWorkflows) io.out(`${dim("=")} workflow ${id}: skipped, exists here\n`);
  for (const { email, role, status } of users)
    io.out(`${green("+")} ${email}, ${role}, ${importedStatus(status)}\n`);
  for (const { email, differs } of existingUsers)
    if (differs !== null) io.out(`${dim("=")} ${email}: skipped, exists here (${differs})\n`);
  io.out(
    `${bold(`${plural(workflows.length, "new workflow")}, ${plural(users.length, "new user")}`)}; ${unchangedWorkflows} and ${existingUsers.length} already exist here\n`,
  );
  if (subscriptions.length > 0)
    io.out(
      `${plural(subscriptions.length, "subscription")} will be paused, because each has a new signing secret. For each, give its receiver what millrace subscriptions rotate <id> prints, and then use millrace subscriptions change <id> --resume:\n${subscriptions.map(({ id, name }) => `  ${name} (${id})\n`).join("")}`,
    );
  if (schedules > 0)
    io.out(
      pauseSchedules
        ? `${plural(schedules, "schedule")} will be paused; resume them when the other instance no longer runs them.\n`
        : yellow(
            `${plural(schedules, "schedule")} will run here from now on. Make sure that the other instance no longer runs them, or use --pause-schedules.\n`,
          ),
    );
  if (users.length > 0)
    io.out(
      "Exports hold no passwords. millrace users reset <email> prints a link with which a user can choose one.\n",
    );
  if (keys.length > 0)
    io.out(
      `Exports hold no API keys. Create those that are still needed again:\n${keys.map(({ name, owner, scopes }) => `  ${name} of ${owner} (${scopes.join(", ")})\n`).join("")}`,
    );
  if (ignoredRecords > 0)
    io.out(
      `${plural(ignoredRecords, "record")} of runs or of the audit log will not be imported; millrace backup and restore move them.\n`,
    );
}

/** A file must not let anybody sign in: an active user becomes invited until they choose a password here. */
const importedStatus = (status: UserLine["status"]): UserLine["status"] =>
  status === "deactivated" ? status : "invited";

/** Writes all users in one transaction, and each workflow in one of its own. */
async function writePlan(
  { services, setup }: Operator,
  file: string,
  plan: ImportPlan,
  { paused, progress }: { paused: boolean; progress: Progress },
): Promise<void> {
  const write = <T>(operation: string, effect: (tx: Writers) => Promise<T>): Promise<T> =>
    services.write({ operation, actor: OPERATOR_ACTOR, requestId: newRequestId() }, effect);
  await write("import_project", (tx) => writeProjects(tx, plan.projects));
  await write("import_user", async (tx) => {
    for (const user of plan.users) {
      await tx.users.insert({
        id: user.id,
        email: user.email,
        role: user.role,
        roleSource: null,
        status: importedStatus(user.status),
        passwordHash: null,
        verifiedAt: null,
        createdAt: user.created_at,
        createdBy: user.created_by,
        lastLoginAt: null,
      });
      if (user.absence !== undefined) {
        const { from: startsAt, until: endsAt, substitute, set_at: setAt } = user.absence;
        await tx.users.setAbsence(user.email, { startsAt, endsAt, substitute, setAt });
      }
      await tx.recordAudit(user.email, `role_${user.role}`);
    }
  });
  const remaining = new Set(plan.workflows);
  const lines = readLines(file);
  let next = await lines.next();
  const versionsOf = async function* (id: string): AsyncGenerator<VersionWithDefinition> {
    for (next = await lines.next(); next.value?.line?.kind === "version"; next = await lines.next()) {
      const { kind: _, ...version } = next.value.line;
      if (version.workflow_id !== id) throw fileChanged(file);
      yield version;
    }
  };
  while (next.done !== true) {
    const { line } = next.value;
    if (line?.kind === "workflow" && remaining.has(line.id)) {
      progress.update(plan.workflows.length - remaining.size, line.id);
      await write("import_workflow", async (tx) => {
        await tx.workflows.importWithHistory(line, versionsOf(line.id));
        if (line.offers !== undefined)
          await tx.projects.saveOffers(
            line.id,
            line.offers,
            OPERATOR_ACTOR.principal.owner,
            iso(setup.clock.now()),
          );
        if (line.triggers !== undefined) await saveTriggers(tx, line, line.triggers);
        if (line.schedule !== null) await saveSchedule(tx, line, line.schedule);
        if (line.status === "published") await expectSuccess(tx, line);
        if (line.state !== undefined) await saveState(tx, line.id, line.state);
      });
      remaining.delete(line.id);
    } else next = await lines.next();
  }
  if (remaining.size > 0) throw fileChanged(file);
  await write("import_subscription", (tx) =>
    writeSubscriptions(tx, plan.subscriptions, iso(setup.clock.now())),
  );

  async function saveState(tx: Writers, id: string, values: Record<string, unknown>): Promise<void> {
    const updatedAt = iso(setup.clock.now());
    const { principal } = OPERATOR_ACTOR;
    const change = { kind: "import", keyName: principal.keyName, reason: null } as const;
    const state = { values, updatedAt, updatedBy: principal.owner, change };
    if (!(await tx.workflowStates.replace(id, FIRST_STATE_REVISION, state, usageSubjectOf(principal))))
      throw new Error(`the new workflow ${id} has a state already`);
  }

  /** The triggers get new URLs, because those of the other instance belong to it. */
  async function saveTriggers(
    tx: Writers,
    { id, published_version: version }: WorkflowLine,
    { owner, key_name: keyName, lineage }: NonNullable<WorkflowLine["triggers"]>,
  ): Promise<void> {
    const definition = await tx.runs.versionDefinition(id, version!);
    const declared = TOP_FIELDS.triggers.parse(definition?.["triggers"]) ?? [];
    const actor = { owner, keyName, lineage };
    const names = declared.map((trigger) => trigger.id);
    await tx.triggers.save({ workflowId: id, version: version!, actor }, names, iso(setup.clock.now()));
  }

  /** Its time begins with the import. */
  async function expectSuccess(
    tx: Writers,
    { id, published_version: version, schedule }: WorkflowLine,
  ): Promise<void> {
    const definition = version === null ? null : await tx.runs.versionDefinition(id, version);
    const owner = schedule?.owner ?? OPERATOR_ACTOR.principal.owner;
    await saveExpectation({ now: () => setup.clock.now() }, tx, { id, version, definition, owner });
  }

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

const fileChanged = (file: string): CommandError =>
  new CommandError(
    `${file} was changed while it was read. The users and workflows imported so far are complete. Import it again.`,
  );
