/** Writes workflows and their versions, and increments the catalogue's revision. */
import type { Insertable, Kysely } from "kysely";
import { foldText } from "../../schemas/fold-text.ts";
import { RESERVED_WORKFLOW_IDS, type WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { DEFAULT_PROJECT, projectField, projectOf } from "../../schemas/project.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { type Clock, iso } from "../core/clock.ts";
import { usageSubjectOf } from "../core/usage-limits.ts";
import { calledWorkflowIds } from "../core/workflow-calls.ts";
import type { Change, WorkflowContent, WorkflowWriter } from "../core/ports.ts";
import { changeOf } from "../core/workflow-change-details.ts";
import { idTakenError, workflowSlug } from "../core/workflow-id.ts";
import type { WorkflowChange } from "../core/workflow-change-ports.ts";
import { addPublication } from "./authorship.ts";
import { prepared, preparedInsert } from "./prepared.ts";
import { pruneVersions } from "./prune-versions.ts";
import { endOutdatedReview } from "./reviews.ts";
import { encodeDefinition, encodeText, versionHolder } from "./run-values.ts";
import type { Schema, WorkflowVersionRow } from "./schema.ts";
import { workflowSearchText } from "./search-text.ts";
import { addStoredBytes, moveStoredBytes } from "./stored-bytes.ts";
import { projectRevision, workflowReader } from "./workflows.ts";

const columnsOf = (content: WorkflowContent, id: string) => ({
  name: content.name,
  name_key: foldText(content.name),
  description: content.description,
  tags: JSON.stringify(content.tags),
  search_text: workflowSearchText(id, content),
});

const json = (definition: WorkflowContent["definition"]): string | null =>
  definition === null ? null : JSON.stringify(definition);

const insertWorkflow = preparedInsert("workflows");
const insertVersion = preparedInsert("workflow_versions");
const insertCall = preparedInsert("workflow_calls");
const deleteCalls = prepared((db, caller: string, published: number) =>
  db.deleteFrom("workflow_calls").where("caller", "=", caller).where("published", "=", published),
);
const incrementCounter = prepared((db, name: string) =>
  db
    .insertInto("counters")
    .values({ name, value: 1 })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet((eb) => ({ value: eb("counters.value", "+", 1) })),
    ),
);
const findId = prepared((db, id: string) => db.selectFrom("workflows").select("id").where("id", "=", id));

/**
 * Reads and writes workflows inside a transaction.
 * @param audit called with the workflow's id at every change, and with what changed
 */
export function workflowWriter(
  trx: Kysely<Schema>,
  clock: Clock,
  audit: (id: string, change?: WorkflowChange) => Promise<void>,
): WorkflowWriter {
  const reader = workflowReader(trx);

  async function incrementRevision(project: string): Promise<void> {
    await incrementCounter(trx, "workflows");
    await incrementCounter(trx, projectRevision(project));
  }

  const incrementRevisionOf = async (id: string): Promise<void> =>
    incrementRevision((await reader.projectOf(id)) ?? DEFAULT_PROJECT);

  /** Inserts a version, and counts its bytes for its author and its project. */
  async function saveVersion(
    project: string,
    row: Omit<Insertable<WorkflowVersionRow>, "definition" | "definition_text" | "stored_bytes"> & {
      subject: string;
    },
    { definition, definition_text: written = null }: Pick<WorkflowContent, "definition" | "definition_text">,
  ): Promise<void> {
    const text = json(definition);
    const bytes = [text, written, row.description].reduce(
      (sum, part) => sum + Buffer.byteLength(part ?? ""),
      0,
    );
    const holder = versionHolder(row.workflow_id, row.version);
    const columns = {
      definition: await encodeDefinition(trx, holder, text),
      definition_text: await encodeText(trx, holder, written),
    };
    await insertVersion(trx, { ...row, ...columns, stored_bytes: bytes });
    await addStoredBytes(trx, [{ subject: row.subject, project, bytes }]);
  }

  async function recordVersion(
    before: WorkflowWithDefinition | null,
    workflow: WorkflowWithDefinition,
    written: string | null,
    change: Change,
  ): Promise<void> {
    const { principal, client } = change.actor;
    await saveVersion(
      projectOf(workflow),
      {
        workflow_id: workflow.id,
        version: workflow.version,
        change: change.kind,
        name: workflow.name,
        description: workflow.description,
        tags: JSON.stringify(workflow.tags),
        reason: change.reason,
        created_at: workflow.updated_at,
        created_by: principal.owner,
        key_name: principal.keyName,
        surface: client.surface,
        client: client.name,
        subject: usageSubjectOf(principal),
        lineage: principal.lineage,
        pruned_at: null,
      },
      { definition: workflow.definition, definition_text: written },
    );
    await replaceCalls(workflow.id, { published: false }, workflow.definition);
    await incrementRevision(projectOf(workflow));
    await audit(workflow.id, changeOf(before, workflow));
  }

  async function replaceCalls(
    caller: string,
    { published }: { published: boolean },
    definition: WorkflowContent["definition"],
  ): Promise<void> {
    await deleteCalls(trx, caller, Number(published));
    for (const callee of definition === null ? [] : calledWorkflowIds(definition))
      await insertCall(trx, { caller, callee, published: Number(published) });
  }

  /** Saves what other tables say about the published version. @returns 1 when agents get it as a tool */
  async function savePublished(id: string, version: number | null): Promise<number> {
    const found = version === null ? undefined : await reader.findVersion(id, version);
    await replaceCalls(id, { published: true }, found?.definition ?? null);
    return Number(found?.definition?.["expose_as_tool"] === true);
  }

  async function exists(id: string): Promise<boolean> {
    return RESERVED_WORKFLOW_IDS.has(id) || (await findId(trx, id)).length > 0;
  }

  /**
   * The slug of the name, or a free one of `slug-2`, `slug-3` and so on. Outside of the default project it begins with the
   * id of the project, so that no number shows what other projects have.
   */
  async function findFreeId(name: string, project: string): Promise<string> {
    const slug = workflowSlug(name, project);
    if (!(await exists(slug))) return slug;
    // Thousands of workflows may have the same name, so the number is doubled until it is free, then bisected.
    let usedNumber = 1;
    let freeNumber = 2;
    while (await exists(`${slug}-${freeNumber}`)) [usedNumber, freeNumber] = [freeNumber, freeNumber * 2];
    while (freeNumber - usedNumber > 1) {
      const middle = Math.floor((usedNumber + freeNumber) / 2);
      if (await exists(`${slug}-${middle}`)) usedNumber = middle;
      else freeNumber = middle;
    }
    return `${slug}-${freeNumber}`;
  }

  return {
    ...reader,

    async insert(content, change, { id: requestedId, project = DEFAULT_PROJECT } = {}) {
      if (requestedId !== undefined && (await exists(requestedId))) throw idTakenError(requestedId);
      const id = requestedId ?? (await findFreeId(content.name, project));
      const now = iso(clock.now());
      const workflow: WorkflowWithDefinition = {
        id,
        name: content.name,
        description: content.description,
        tags: content.tags,
        status: "draft",
        definition: content.definition,
        version: 1,
        published_version: null,
        created_at: now,
        updated_at: now,
        created_by: change.actor.principal.owner,
        ...projectField(project),
      };
      await insertWorkflow(trx, {
        id,
        ...columnsOf(content, id),
        status: workflow.status,
        version: workflow.version,
        published_version: null,
        last_published: null,
        created_at: now,
        updated_at: now,
        created_by: workflow.created_by,
        project,
      });
      await recordVersion(null, workflow, content.definition_text ?? null, change);
      return workflow;
    },

    async publish(current, live) {
      const workflow: WorkflowWithDefinition = {
        ...current,
        status: live.status,
        published_version: live.version,
      };
      await trx
        .updateTable("workflows")
        .set({
          status: live.status,
          published_version: live.version,
          ...(live.version !== null && { last_published: live.version }),
          exposed: await savePublished(current.id, live.version),
        })
        .where("id", "=", workflow.id)
        .execute();
      if (live.version === null) await endOutdatedReview(trx, workflow.id, iso(clock.now()));
      await incrementRevision(projectOf(workflow));
      await audit(workflow.id, changeOf(current, workflow));
      return workflow;
    },

    addPublication: (published, principal) => addPublication(trx, clock, published, principal),

    async allowExposure(id, { digest, version, allowedBy, allowedAt }) {
      const consent = { digest, version, allowed_by: allowedBy, allowed_at: allowedAt };
      await trx
        .insertInto("exposure_consents")
        .values({ workflow_id: id, ...consent })
        .onConflict((conflict) => conflict.column("workflow_id").doUpdateSet(consent))
        .execute();
      await incrementRevisionOf(id);
    },

    async withdrawExposure(id) {
      await trx.deleteFrom("exposure_consents").where("workflow_id", "=", id).execute();
      await incrementRevisionOf(id);
    },

    async addVersion(current, next, change) {
      const workflow: WorkflowWithDefinition = {
        ...current,
        name: next.name,
        description: next.description,
        tags: next.tags,
        definition: next.definition,
        status: next.status,
        version: current.version + 1,
        updated_at: iso(clock.now()),
      };
      await trx
        .updateTable("workflows")
        .set({
          ...columnsOf(workflow, workflow.id),
          status: workflow.status,
          version: workflow.version,
          updated_at: workflow.updated_at,
        })
        .where("id", "=", workflow.id)
        .execute();
      if (workflow.status === "archived") await endOutdatedReview(trx, workflow.id, workflow.updated_at);
      const isSame = canonicalJson(current.definition) === canonicalJson(next.definition);
      const text =
        next.definition_text ??
        (next.definition_text === undefined && isSame
          ? await reader.versionText(current.id, current.version)
          : null);
      await recordVersion(current, workflow, text, change);
      return workflow;
    },

    async move(id, to) {
      const from = (await reader.projectOf(id)) ?? DEFAULT_PROJECT;
      await moveStoredBytes(trx, id, { from, to });
      await endOutdatedReview(trx, id, iso(clock.now()));
      await trx.updateTable("workflows").set({ project: to }).where("id", "=", id).execute();
      await endOutdatedReview(trx, id, iso(clock.now()));
      await incrementRevision(from);
      await incrementRevision(to);
    },

    async pruneVersions(rule) {
      const pruned = await pruneVersions(trx, rule, iso(clock.now()));
      if (pruned.versions.length === 0) return pruned;
      await incrementRevisionOf(rule.workflowId);
      await audit(rule.workflowId);
      return pruned;
    },

    async importWithHistory(workflow, history) {
      const { id, status, version, published_version: live, created_at, updated_at, created_by } = workflow;
      const project = projectOf(workflow);
      // An older release could give a workflow an id that is reserved now.
      if ((await findId(trx, id)).length > 0) throw idTakenError(id);
      // The row stays because versions refer to it; the last version has the current name.
      const unnamed = { name: "", description: "", tags: [], definition: null };
      await insertWorkflow(trx, {
        id,
        ...columnsOf(unnamed, id),
        status,
        version,
        published_version: live,
        last_published: live,
        created_at,
        updated_at,
        created_by,
        project,
      });
      let last: WorkflowContent = unnamed;
      for await (const entry of history) {
        await saveVersion(
          project,
          {
            workflow_id: id,
            version: entry.version,
            change: entry.change,
            name: entry.name,
            description: entry.description,
            tags: JSON.stringify(entry.tags),
            reason: entry.reason,
            created_at: entry.created_at,
            created_by: entry.created_by,
            key_name: entry.key_name,
            surface: entry.surface,
            client: entry.client,
            // An export does not say which of the operator's keys it was.
            subject: entry.created_by,
            lineage: null,
            pruned_at: entry.pruned_at ?? null,
          },
          entry,
        );
        last = entry;
      }
      await replaceCalls(id, { published: false }, last.definition);
      const exposed = await savePublished(id, live);
      await trx
        .updateTable("workflows")
        .set({ ...columnsOf(last, id), exposed })
        .where("id", "=", id)
        .execute();
      await incrementRevision(project);
      await audit(id, changeOf(null, workflow));
    },
  };
}
