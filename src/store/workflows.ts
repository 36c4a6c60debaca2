/** Reads workflows and their versions. */
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { WorkflowWithDefinition, Workflow, WorkflowVersion } from "../../schemas/workflow.ts";
import { visibleText } from "../../schemas/hidden-characters.ts";
import { searchTerms } from "../../schemas/text.ts";
import type { ExposureRequest, WorkflowFilter, WorkflowReader, WorkflowSort } from "../core/ports.ts";
import { readAuthorship } from "./authorship.ts";
import { contains, arrayContains } from "./dialect.ts";
import { prepared } from "./prepared.ts";
import { prunableVersions } from "./prune-versions.ts";
import { decodeDefinition, definitionText } from "./run-values.ts";
import type { Schema, WorkflowRow, WorkflowVersionRow } from "./schema.ts";

/** Maximum total length of the definitions of a page, in characters of JSON; a single one may have a megabyte. */
const MAX_PAGE_LENGTH = 2 * 1024 * 1024;

const SORT_COLUMN = { created_at: "created_at", updated_at: "updated_at", name: "name_key" } as const;

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
>;

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
const workflowsRevision = prepared((db) =>
  db.selectFrom("counters").select("value").where("name", "=", "workflows"),
);

const definitionOf = prepared((db, id: string, version: number) =>
  db
    .selectFrom("workflow_versions")
    .select("definition")
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
      const rows = await pageQuery(
        db.selectFrom("workflows").select([...summaryColumns, "workflows.name_key"]),
        query,
      ).execute();
      const candidates = rows.slice(0, query.limit);
      const definitions = query.withDefinition ? await definitionsOf(db, candidates) : undefined;
      const page = candidates.slice(0, definitions?.length);
      const last = page.at(-1);
      const column = sortOf(query.sort).column;
      return {
        items: page.map((row, i) => (definitions ? toWorkflow(row, definitions[i]!) : toWorkflow(row))),
        next: rows.length > page.length && last ? [last[column], last.id] : null,
      };
    },

    async count(filter) {
      const row = await filtered(db.selectFrom("workflows"), filter)
        .select((eb) => eb.fn.countAll<number | string>().as("count"))
        .executeTakeFirstOrThrow();
      return Number(row.count);
    },

    async currentVersions(ids) {
      if (ids.length === 0) return new Map();
      const rows = await db
        .selectFrom("workflows")
        .select(["id", "version", "published_version"])
        .where("id", "in", [...ids])
        .execute();
      return new Map(rows.map((row) => [row.id, row.published_version ?? row.version]));
    },

    revision: async () => (await workflowsRevision(db))[0]!.value,

    async recentIds(limit) {
      const rows = await db
        .selectFrom("workflows")
        .select("id")
        .orderBy("created_at", "desc")
        .limit(limit)
        .execute();
      return rows.map((row) => row.id);
    },

    async callers(id, { published }) {
      const rows = await db
        .selectFrom("workflow_calls")
        .innerJoin("workflows", "workflows.id", "workflow_calls.caller")
        .select("workflow_calls.caller")
        .distinct()
        .where("workflow_calls.callee", "=", id)
        .where("workflows.status", "!=", "archived")
        .$if(published, (query) => query.where("workflow_calls.published", "=", 1))
        .orderBy("workflow_calls.caller")
        .execute();
      return rows.map(({ caller }) => caller);
    },

    async exposureRequest(id) {
      const row = await exposures(db).where("workflows.id", "=", id).executeTakeFirst();
      return row && toExposure(db, row);
    },

    async consentedExposures() {
      const rows = await exposures(db)
        .where("exposure_consents.workflow_id", "is not", null)
        .orderBy("workflows.created_at")
        .orderBy("workflows.id")
        .execute();
      return Promise.all(rows.map((row) => toExposure(db, row)));
    },

    authorship: (id, version) => readAuthorship(db, id, version),

    async findVersion(id, version) {
      const row = await db
        .selectFrom("workflow_versions")
        .select([...versionColumns, "definition"])
        .where("workflow_id", "=", id)
        .where("version", "=", version)
        .executeTakeFirst();
      return row && toVersion({ ...row, definition: await definitionText(db, row.definition) });
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
      if (!withDefinition) return rows.map(toVersion);
      const definitions = await definitionsOf(
        db,
        rows.map(({ workflow_id, version }) => ({ id: workflow_id, version })),
      );
      return definitions.map((definition, i) => toVersion({ ...rows[i]!, definition }));
    },
  };
}

const exposures = (db: Kysely<Schema>) =>
  db
    .selectFrom("workflows")
    .innerJoin("workflow_versions", (join) =>
      join
        .onRef("workflow_versions.workflow_id", "=", "workflows.id")
        .onRef("workflow_versions.version", "=", "workflows.published_version"),
    )
    .leftJoin("exposure_consents", "exposure_consents.workflow_id", "workflows.id")
    .select([
      "workflows.id",
      "workflow_versions.version",
      "workflow_versions.name",
      "workflow_versions.description",
      "workflow_versions.definition",
      "workflow_versions.created_by as author",
      "exposure_consents.digest",
      "exposure_consents.version as consented",
      "exposure_consents.allowed_by",
      "exposure_consents.allowed_at",
    ])
    .where("workflows.exposed", "=", sql.lit(1))
    .where("workflows.status", "!=", "archived");

async function toExposure(
  db: Kysely<Schema>,
  {
    digest,
    consented,
    allowed_by: allowedBy,
    allowed_at: allowedAt,
    definition,
    ...row
  }: Awaited<ReturnType<ReturnType<typeof exposures>["execute"]>>[number],
): Promise<ExposureRequest> {
  const isAllowed = consented !== null && allowedBy !== null && allowedAt !== null;
  return {
    ...row,
    definition: (await decodeDefinition(db, definition)) ?? {},
    consent: isAllowed ? { digest, version: consented, allowedBy, allowedAt } : null,
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

function sortOf(sort: WorkflowSort) {
  const descending = sort.startsWith("-");
  const column = SORT_COLUMN[(descending ? sort.slice(1) : sort) as keyof typeof SORT_COLUMN];
  return {
    column,
    direction: descending ? ("desc" as const) : ("asc" as const),
    beyond: descending ? ("<" as const) : (">" as const),
  };
}

// The two forms of a list (with and without the definition) have different row types but the same conditions.
type Query<O> = SelectQueryBuilder<Schema, "workflows", O>;

function filtered<O>(query: Query<O>, { search, tag, status }: WorkflowFilter): Query<O> {
  let out =
    status === undefined
      ? query.where("workflows.status", "!=", "archived")
      : query.where("workflows.status", "=", status);
  if (tag !== undefined) out = out.where((eb) => arrayContains(eb.ref("workflows.tags"), tag));
  // Every search term must occur, in any order.
  for (const word of searchTerms(search ?? "")) {
    out = out.where((eb) => contains(eb.ref("workflows.search_text"), word));
  }
  return out;
}

function pageQuery<O>(query: Query<O>, options: Parameters<WorkflowReader["page"]>[0]): Query<O> {
  const { column, direction, beyond } = sortOf(options.sort);
  const path = `workflows.${column}` as const;
  let out = filtered(query, options.filter);
  if (options.after !== null) {
    const [value, id] = options.after;
    out = out.where((eb) => eb(eb.refTuple(path, "workflows.id"), beyond, eb.tuple(value, id)));
  }
  return out
    .orderBy(path, direction)
    .orderBy("workflows.id", direction)
    .limit(options.limit + 1);
}
