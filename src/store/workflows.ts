/** Reads workflows and their versions. */
import { type Kysely, sql } from "kysely";
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import type { WorkflowWithDefinition, Workflow, WorkflowVersion } from "../../schemas/workflow.ts";
import { projectField } from "../../schemas/project.ts";
import { visibleText } from "../../schemas/hidden-characters.ts";
import type { WorkflowReader } from "../core/ports.ts";
import { passedBacktests, readAuthorship, readPublications } from "./authorship.ts";
import { currentVersions, liveVersions } from "./current-versions.ts";
import { prepared, preparedUntilCommit } from "./prepared.ts";
import { prunableVersions } from "./prune-versions.ts";
import { exposures, toExposure } from "./exposures.ts";
import { decodeText, definitionText } from "./run-values.ts";
import type { Schema, WorkflowRow, WorkflowVersionRow } from "./schema.ts";
import { countWorkflows, ofVisible, pageOfWorkflows, sortOf } from "./workflow-lists.ts";

/** Maximum total length of the definitions of a page, in characters of JSON; a single one may have a megabyte. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;

const summaryColumns = [
  "workflows.id",
  "workflows.name",
  "workflows.description",
  "workflows.tags",
  "workflows.status",
  "workflows.version",
  "workflows.published_version",
  "workflows.created_at",
  "workflows.updated_at",
  "workflows.created_by",
  "workflows.project",
] as const;

type SummaryRow = Pick<
  WorkflowRow,
  | "id"
  | "name"
  | "description"
  | "tags"
  | "status"
  | "version"
  | "published_version"
  | "created_at"
  | "updated_at"
  | "created_by"
> & { project: string };

const parseDefinition = (json: string | null) =>
  json === null ? null : (JSON.parse(json) as Record<string, unknown>);

/** The texts of a workflow. Those stored before hidden characters were refused show them escaped. */
const textsOf = ({ name, description, tags }: Pick<SummaryRow, "name" | "description" | "tags">) => ({
  name: visibleText(name),
  description: visibleText(description),
  tags: (JSON.parse(tags) as string[]).map(visibleText),
});

/** @param json the text of the definition, which is left out when it is undefined */
function toWorkflow(row: SummaryRow): Workflow;
function toWorkflow(row: SummaryRow, json: string | null): WorkflowWithDefinition;
function toWorkflow(row: SummaryRow, json?: string | null): Workflow {
  return {
    id: row.id,
    ...textsOf(row),
    status: row.status,
    ...(json !== undefined && { definition: parseDefinition(json) }),
    version: row.version,
    published_version: row.published_version,
    created_at: row.created_at,
    updated_at: row.updated_at,
    created_by: row.created_by,
    ...projectField(row.project),
  };
}

function toVersion(
  row: Pick<WorkflowVersionRow, (typeof versionColumns)[number]> & { definition?: string | null },
): WorkflowVersion {
  const { tags, definition, pruned_at: prunedAt, ...rest } = row;
  return {
    ...rest,
    ...(prunedAt !== null && { pruned_at: prunedAt }),
    ...textsOf({ ...rest, tags }),
    ...(definition !== undefined && { definition: parseDefinition(definition) }),
  };
}

const withBacktest = (
  version: WorkflowVersion,
  passed: ReadonlyMap<number, PassedBacktest>,
): WorkflowVersion => {
  const backtest = passed.get(version.version);
  return backtest === undefined ? version : { ...version, backtest };
};

/** Selects the definition of the newest version by a subquery: SQLite takes several times as long for the join. */
const workflowsWithDefinition = (db: Kysely<Schema>) =>
  db
    .selectFrom("workflows")
    .select((eb) => [
      ...summaryColumns,
      eb
        .selectFrom("workflow_versions")
        .select("workflow_versions.definition")
        .whereRef("workflow_versions.workflow_id", "=", "workflows.id")
        .whereRef("workflow_versions.version", "=", "workflows.version")
        .as("definition"),
    ]);

const workflowById = prepared((db, id: string) => workflowsWithDefinition(db).where("workflows.id", "=", id));
const workflowsRevision = preparedUntilCommit(
  (db) => db.selectFrom("counters").select("value").where("name", "=", "workflows"),
  () => "",
  ({ value }) => value,
);

const projectOfWorkflow = prepared((db, id: string) =>
  db.selectFrom("workflows").select("project").where("id", "=", id),
);
/** The name of the counter of a project's changes of workflows. */
export const projectRevision = (project: string): string => `workflows:${project}`;

const callersOf = (db: Kysely<Schema>, id: string) =>
  db
    .selectFrom("workflow_calls")
    .innerJoin("workflows", "workflows.id", "workflow_calls.caller")
    .select("workflow_calls.caller")
    .distinct()
    .where("workflow_calls.callee", "=", id)
    .where("workflows.status", "!=", sql.lit("archived"))
    .orderBy("workflow_calls.caller");

const callers = prepared((db, id: string) => callersOf(db, id));
const publishedCallers = prepared((db, id: string) =>
  callersOf(db, id).where("workflow_calls.published", "=", sql.lit(1)),
);

const definitionOf = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_versions")
    .select("definition")
    .where("workflow_id", "=", id)
    .where("version", "=", version),
);

const textOf = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_versions")
    .select("definition_text")
    .where("workflow_id", "=", id)
    .where("version", "=", version),
);

/**
 * Reads the definitions of the first versions: as many as fit into a page, and at least one. Versions never change, so
 * they can be read one by one, and definitions beyond the page are not loaded.
 */
async function definitionsOf(
  db: Kysely<Schema>,
  versions: readonly { id: string; version: number }[],
): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  let size = 0;
  for (const { id, version } of versions) {
    if (size >= MAX_PAGE_LENGTH) break;
    const [row] = await definitionOf(db, id, version);
    const text = await definitionText(db, row?.definition ?? null);
    found.push(text);
    size += text?.length ?? 0;
  }
  return found;
}

export function workflowReader(db: Kysely<Schema>): WorkflowReader {
  return {
    async find(id) {
      const [row] = await workflowById(db, id);
      return row && toWorkflow(row, await definitionText(db, row.definition));
    },

    async page(query) {
      // One row more than the limit shows whether there is a next page.
      const rows = await (
        await pageOfWorkflows(db, query)
      )
        .select([...summaryColumns, "workflows.name_key"])
        .execute();
      const candidates = rows.slice(0, query.limit);
      const definitions = query.withDefinition ? await definitionsOf(db, candidates) : undefined;
      const page = candidates.slice(0, definitions?.length);
      const last = page.at(-1);
      const { column } = sortOf(query.sort);
      return {
        items: page.map((row, i) => (definitions ? toWorkflow(row, definitions[i]!) : toWorkflow(row))),
        next: rows.length > page.length && last ? [last[column], last.id] : null,
      };
    },

    count: (filter) => countWorkflows(db, filter),

    currentVersions: (ids) => currentVersions(db, ids),
    liveVersions: (ids) => liveVersions(db, ids),
    projectOf: async (id) => (await projectOfWorkflow(db, id))[0]?.project,

    async revision(projects = null) {
      if (projects === null) return (await workflowsRevision(db))!;
      const rows = await db
        .selectFrom("counters")
        .select((eb) => eb.fn.coalesce(eb.fn.sum<number | string>("value"), eb.lit(0)).as("sum"))
        .where("name", "in", projects.map(projectRevision))
        .executeTakeFirstOrThrow();
      return Number(rows.sum);
    },

    async recentIds(limit, visibility = null) {
      const rows = await db
        .selectFrom("workflows")
        .select("id")
        .where((eb) => eb.and(ofVisible(visibility)))
        .orderBy("created_at", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => row.id);
    },

    async callers(id, { published }) {
      const rows = await (published ? publishedCallers(db, id) : callers(db, id));
      return rows.map(({ caller }) => caller);
    },

    liveCallersOfDrafts: (project, limit) =>
      db
        .selectFrom("workflow_calls")
        .innerJoin("workflows as draft", "draft.id", "workflow_calls.callee")
        .innerJoin("workflows as caller", "caller.id", "workflow_calls.caller")
        .select(["draft.id as draft", "caller.id as caller"])
        .distinct()
        .where("draft.project", "=", project)
        .where("draft.status", "=", "draft")
        .where("workflow_calls.published", "=", 1)
        .where("caller.status", "=", "published")
        .orderBy("draft.id")
        .orderBy("caller.id")
        .limit(limit)
        .execute(),

    async exposureRequest(id) {
      const row = await exposures(db).where("workflows.id", "=", id).executeTakeFirst();
      return row && toExposure(db, row);
    },

    async exposureConsent(id) {
      const row = await db
        .selectFrom("exposure_consents")
        .selectAll()
        .where("workflow_id", "=", id)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { digest, version, allowed_by: allowedBy, allowed_at: allowedAt } = row;
      return { digest, version, allowedBy, allowedAt };
    },

    async consentedExposures(visibility = null) {
      const rows = await exposures(db)
        .where((eb) => eb.and(ofVisible(visibility)))
        .where("exposure_consents.workflow_id", "is not", null)
        .orderBy("workflows.created_at")
        .orderBy("workflows.id")
        .execute();
      return Promise.all(rows.map((row) => toExposure(db, row)));
    },

    authorship: (id, version) => readAuthorship(db, id, version),

    publications: (id) => readPublications(db, id),

    async findVersion(id, version) {
      const row = await db
        .selectFrom("workflow_versions")
        .select([...versionColumns, "definition"])
        .where("workflow_id", "=", id)
        .where("version", "=", version)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const found = toVersion({ ...row, definition: await definitionText(db, row.definition) });
      return withBacktest(found, await passedBacktests(db, id, [version]));
    },

    async versionText(id, version) {
      const [row] = await textOf(db, id, version);
      return decodeText(db, row?.definition_text ?? null);
    },

    prunable: (rule) => prunableVersions(db, rule),

    async versions({ id, before, limit, withDefinition }) {
      const rows = await db
        .selectFrom("workflow_versions")
        .select(versionColumns)
        .where("workflow_id", "=", id)
        .$if(before !== null, (query) => query.where("version", "<", before))
        .orderBy("version", "desc")
        .limit(limit)
        .execute();
      const passed = await passedBacktests(
        db,
        id,
        rows.map(({ version }) => version),
      );
      if (!withDefinition) return rows.map((row) => withBacktest(toVersion(row), passed));
      const definitions = await definitionsOf(
        db,
        rows.map(({ workflow_id, version }) => ({ id: workflow_id, version })),
      );
      return definitions.map((definition, i) => withBacktest(toVersion({ ...rows[i]!, definition }), passed));
    },
  };
}

const versionColumns = [
  "workflow_id",
  "version",
  "change",
  "name",
  "description",
  "tags",
  "reason",
  "created_at",
  "created_by",
  "key_name",
  "surface",
  "client",
  "pruned_at",
] as const;
