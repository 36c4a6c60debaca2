/** Projects in an export: their settings, members and grants. */
import { DEFAULT_PROJECT } from "../../../schemas/project.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { Writers } from "../../core/ports.ts";
import type { ProjectReader, ProjectRecord } from "../../core/project-ports.ts";
import type { ProjectLine } from "./format.ts";

/** What a line says about a project itself. */
const settingsOf = ({
  name,
  description,
  connections,
  http_public,
  review,
  backtest,
  limits,
}: ProjectLine) => ({
  name,
  description,
  connections,
  http_public,
  review,
  backtest,
  limits,
});

/** Yields the projects. The default one is left out as long as nobody has changed it. */
export async function* projectLines(projects: ProjectReader): AsyncGenerator<ProjectLine> {
  for (const project of await projects.list()) {
    const line = await lineOf(projects, project);
    if (!isUntouched(line)) yield line;
  }
}

async function lineOf(projects: ProjectReader, project: ProjectRecord): Promise<ProjectLine> {
  return {
    kind: "project",
    id: project.id,
    name: project.name,
    description: project.description,
    connections: project.connections,
    http_public: project.httpPublic,
    review: project.review,
    backtest: project.backtest,
    limits: { ...project.limits },
    created_at: project.createdAt,
    created_by: project.createdBy,
    members: (await projects.members(project.id)).map(({ email, role, addedAt, addedBy }) => ({
      email,
      role,
      added_at: addedAt,
      added_by: addedBy,
    })),
    grants: (await projects.grants(project.id)).map(({ kind, name, options, grantedAt, grantedBy }) => ({
      kind,
      name,
      options: options === null ? null : { ...options },
      granted_at: grantedAt,
      granted_by: grantedBy,
    })),
  };
}

/** Whether a line says what the default project of a new installation has. */
const isUntouched = (line: ProjectLine): boolean =>
  line.id === DEFAULT_PROJECT &&
  line.members.length + line.grants.length === 0 &&
  canonicalJson(settingsOf(line)) ===
    canonicalJson({
      name: "Default",
      description: "",
      connections: "all",
      http_public: null,
      review: false,
      backtest: null,
      limits: {},
    });

/** What an import does with a project: adds it, skips an equal one, or skips one that differs here. */
export type ProjectOutcome = { isNew: true } | { isNew: false; differs: string | null };

/** Compares a project of a file with this instance. The default project counts as new while nobody has changed it. */
export async function compareProject(projects: ProjectReader, line: ProjectLine): Promise<ProjectOutcome> {
  const found = await projects.find(line.id);
  if (found === undefined) return { isNew: true };
  const here = await lineOf(projects, found);
  if (isUntouched(here)) return { isNew: true };
  const parts = {
    settings: settingsOf,
    members: ({ members }: ProjectLine) => members.map(({ email, role }) => [email, role]),
    grants: ({ grants }: ProjectLine) => grants.map(({ kind, name, options }) => [kind, name, options]),
  };
  const differing = Object.entries(parts)
    .filter(([, part]) => canonicalJson(part(here)) !== canonicalJson(part(line)))
    .map(([name]) => name);
  return { isNew: false, differs: differing.length === 0 ? null : differing.join(", ") };
}

/** Writes projects that this instance lacks. @throws AppError upgrade_unfinished */
export async function writeProjects(tx: Writers, lines: readonly ProjectLine[]): Promise<void> {
  if (lines.length > 0) await tx.projects.assertNoOlderCopies();
  for (const line of lines) {
    const { id, name, description, connections, http_public: httpPublic, review, backtest } = line;
    const limits = Object.keys(line.limits).length === 0 ? null : line.limits;
    const settings = { name, description, connections, httpPublic, review, backtest, limits };
    const created = { id, ...settings, createdAt: line.created_at, createdBy: line.created_by };
    if (!(await tx.projects.insertUnlessTaken(created))) await tx.projects.update(id, settings);
    for (const { email, role, added_at: addedAt, added_by: addedBy } of line.members)
      await tx.projects.saveMember({ project: id, email, role, addedAt, addedBy });
    for (const { granted_at: grantedAt, granted_by: grantedBy, ...grant } of line.grants)
      await tx.projects.saveGrant({ project: id, ...grant, grantedAt, grantedBy });
    await tx.recordAudit(id, undefined, { project: id });
  }
}
