/** Projects, their members and grants. */
import type { Insertable, Kysely, Selectable } from "kysely";
import type { BacktestRule } from "../../schemas/backtest-rule.ts";
import { DEFAULT_PROJECT, EVERY_PROJECT } from "../../schemas/project.ts";
import type { Role } from "../../schemas/user.ts";
import type {
  Grant,
  ProjectMember,
  ProjectReader,
  ProjectRecord,
  ProjectWriter,
} from "../core/project-ports.ts";
import type { PerKeyLimits } from "../core/usage-limits.ts";
import { jsonText, parseJson } from "./json-column.ts";
import { assertNoOlderCopies } from "./older-copies.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/** The name of the counter that is the revision. */
const REVISION = "projects";

const otherProject = prepared((db, id: string) =>
  db.selectFrom("projects").select("id").where("id", "!=", id).limit(1),
);
const projectsRevision = prepared((db, name: string) =>
  db.selectFrom("counters").select("value").where("name", "=", name),
);
const memberships = prepared((db, email: string) =>
  db.selectFrom("project_members").select(["project", "role"]).where("email", "=", email),
);
const projectById = prepared((db, id: string) => db.selectFrom("projects").selectAll().where("id", "=", id));

const offer = prepared((db, workflowId: string, project: string, every: string) =>
  db
    .selectFrom("workflow_offers")
    .select("project")
    .where("workflow_id", "=", workflowId)
    .where((eb) => eb.or([eb("project", "=", project), eb("project", "=", every)])),
);

const toProject = (row: Selectable<Schema["projects"]>): ProjectRecord => ({
  id: row.id,
  name: row.name,
  description: row.description,
  connections: row.connections,
  httpPublic: row.http_public,
  review: row.review === 1,
  backtest: parseJson<BacktestRule>(row.backtest),
  limits: parseJson<PerKeyLimits>(row.limits),
  createdAt: row.created_at,
  createdBy: row.created_by,
});

const columnsOf = (change: Partial<ProjectRecord>): Partial<Insertable<Schema["projects"]>> => ({
  ...(change.name !== undefined && { name: change.name }),
  ...(change.description !== undefined && { description: change.description }),
  ...(change.connections !== undefined && { connections: change.connections }),
  ...(change.httpPublic !== undefined && { http_public: change.httpPublic }),
  ...(change.review !== undefined && { review: Number(change.review) }),
  ...(change.backtest !== undefined && { backtest: jsonText(change.backtest) }),
  ...(change.limits !== undefined && { limits: jsonText(change.limits) }),
});

const toMember = (row: Selectable<Schema["project_members"]>): ProjectMember => ({
  project: row.project,
  email: row.email,
  role: row.role,
  addedAt: row.added_at,
  addedBy: row.added_by,
});

const toGrant = (row: Selectable<Schema["grants"]>): Grant => ({
  project: row.project,
  kind: row.kind,
  name: row.name,
  options: row.options === null ? null : (JSON.parse(row.options) as Record<string, unknown>),
  grantedAt: row.granted_at,
  grantedBy: row.granted_by,
});

const isDefault = ({ id }: { id: string }): number => Number(id === DEFAULT_PROJECT);

export function projectReader(db: Kysely<Schema>): ProjectReader {
  return {
    async find(id) {
      const [row] = await projectById(db, id);
      return row && toProject(row);
    },

    async list() {
      const rows = await db.selectFrom("projects").selectAll().orderBy("id").execute();
      return rows.toSorted((a, b) => isDefault(b) - isDefault(a)).map(toProject);
    },

    isSingle: async () => (await otherProject(db, DEFAULT_PROJECT)).length === 0,
    revision: async () => (await projectsRevision(db, REVISION))[0]!.value,

    async contents(project) {
      const { workflows } = await db
        .selectFrom("workflows")
        .select((eb) => eb.fn.countAll<number>().as("workflows"))
        .where("project", "=", project)
        .executeTakeFirstOrThrow();
      const { runs } = await db
        .selectFrom("runs")
        .select((eb) => eb.fn.countAll<number>().as("runs"))
        .where("project", "=", project)
        .executeTakeFirstOrThrow();
      return { workflows, runs };
    },

    async members(project) {
      const rows = await db
        .selectFrom("project_members")
        .selectAll()
        .where("project", "=", project)
        .orderBy("email")
        .execute();
      return rows.map(toMember);
    },

    membershipsOf: async (email) =>
      new Map<string, Role>((await memberships(db, email)).map(({ project, role }) => [project, role])),

    isOffered: async (workflowId, project) =>
      (await offer(db, workflowId, project, EVERY_PROJECT)).length > 0,

    async offersOf(workflowId) {
      const rows = await db
        .selectFrom("workflow_offers")
        .select("project")
        .where("workflow_id", "=", workflowId)
        .orderBy("project")
        .execute();
      return rows.map(({ project }) => project);
    },

    async offeredTo(project) {
      const rows = await db
        .selectFrom("workflow_offers")
        .innerJoin("workflows", "workflows.id", "workflow_offers.workflow_id")
        .select("workflows.id")
        .distinct()
        .where("workflow_offers.project", "in", [project, EVERY_PROJECT])
        .where("workflows.project", "!=", project)
        .where("workflows.status", "!=", "archived")
        .where("workflows.published_version", "is not", null)
        .orderBy("workflows.id")
        .execute();
      return rows.map(({ id }) => id);
    },

    async grants(project) {
      const rows = await db
        .selectFrom("grants")
        .selectAll()
        .where("project", "=", project)
        .orderBy("kind")
        .orderBy("name")
        .execute();
      return rows.map(toGrant);
    },
  };
}

export function projectWriter(trx: Kysely<Schema>): ProjectWriter {
  const raiseRevision = async (): Promise<void> => {
    await trx
      .updateTable("counters")
      .set((eb) => ({ value: eb("value", "+", 1) }))
      .where("name", "=", REVISION)
      .execute();
  };
  return {
    ...projectReader(trx),

    assertNoOlderCopies: () => assertNoOlderCopies(trx),

    async insertUnlessTaken(project) {
      await raiseRevision();
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto("projects")
        .values({
          id: project.id,
          name: project.name,
          description: project.description,
          connections: project.connections,
          http_public: project.httpPublic,
          review: Number(project.review),
          backtest: jsonText(project.backtest),
          limits: jsonText(project.limits),
          created_at: project.createdAt,
          created_by: project.createdBy,
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    async update(id, change) {
      await raiseRevision();
      const columns = columnsOf(change);
      if (Object.keys(columns).length > 0)
        await trx.updateTable("projects").set(columns).where("id", "=", id).execute();
    },

    async remove(id) {
      await raiseRevision();
      await trx.deleteFrom("project_members").where("project", "=", id).execute();
      await trx.deleteFrom("grants").where("project", "=", id).execute();
      await trx.deleteFrom("workflow_offers").where("project", "=", id).execute();
      await trx.deleteFrom("reviews").where("project", "=", id).execute();
      await trx.deleteFrom("deliveries").where("project", "=", id).execute();
      await trx.deleteFrom("subscriptions").where("project", "=", id).execute();
      await trx.deleteFrom("projects").where("id", "=", id).execute();
    },

    async saveMember({ project, email, role, addedAt, addedBy }) {
      await raiseRevision();
      const row = { role, added_at: addedAt, added_by: addedBy };
      await trx
        .insertInto("project_members")
        .values({ project, email, ...row })
        .onConflict((conflict) => conflict.columns(["project", "email"]).doUpdateSet(row))
        .execute();
    },

    async saveOffers(workflowId, projects, by, at) {
      await raiseRevision();
      await trx.deleteFrom("workflow_offers").where("workflow_id", "=", workflowId).execute();
      for (const project of new Set(projects))
        await trx
          .insertInto("workflow_offers")
          .values({ workflow_id: workflowId, project, offered_at: at, offered_by: by })
          .execute();
    },

    async removeMember(project, email) {
      await raiseRevision();
      const { numDeletedRows } = await trx
        .deleteFrom("project_members")
        .where("project", "=", project)
        .where("email", "=", email)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    },

    async saveGrant({ project, kind, name, options, grantedAt, grantedBy }) {
      await raiseRevision();
      const row = {
        options: options && JSON.stringify(options),
        granted_at: grantedAt,
        granted_by: grantedBy,
      };
      await trx
        .insertInto("grants")
        .values({ project, kind, name, ...row })
        .onConflict((conflict) => conflict.columns(["project", "kind", "name"]).doUpdateSet(row))
        .execute();
    },

    async removeGrant({ project, kind, name }) {
      await raiseRevision();
      const { numDeletedRows } = await trx
        .deleteFrom("grants")
        .where("project", "=", project)
        .where("kind", "=", kind)
        .where("name", "=", name)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    },
  };
}
