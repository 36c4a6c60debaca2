/** What a definition is checked against: the connections, workflows and people of its project. */
import { canonicalAddress } from "../../schemas/mail-address.ts";
import { DEFAULT_PROJECT, projectOf } from "../../schemas/project.ts";
import type { UserReader } from "../core/account-ports.ts";
import { peopleWithRole, type PeopleReaders } from "../core/approval-people.ts";
import type { ConnectionViews } from "../core/connection-views.ts";
import type { WorkflowReader } from "../core/ports.ts";
import type { ProjectReader } from "../core/project-ports.ts";
import type { RunReader } from "../core/run-ports.ts";
import type { CheckOptions, CheckResources, WorkflowLookup } from "./definition/check/index.ts";

/** Number of workflows, and of people, among which the checker looks for a near match of an unknown one. */
const MAX_CANDIDATES = 200;

interface Sources {
  views: ConnectionViews;
  workflows: WorkflowReader;
  runs: Pick<RunReader, "versionDefinition">;
  users: PeopleReaders["users"] | undefined;
  projects: PeopleReaders["projects"] & Pick<ProjectReader, "isOffered">;
}

/** Whom a definition is checked for. */
type CheckScope = Pick<CheckOptions, "project" | "keyLimits">;

/** @returns the resources, and whether they are only a part of what the configuration has */
export type CheckResourcesOf = (scope: CheckScope) => Promise<CheckResources & { isLimited: boolean }>;

export const checkResources =
  ({ views, workflows, runs, users, projects }: Sources): CheckResourcesOf =>
  async ({ project = DEFAULT_PROJECT, keyLimits = null }) => {
    const { connections, key } = await views.of(project, keyLimits);
    return {
      connections,
      isLimited: key !== "",
      workflows: workflowsOf({ workflows, runs, projects }, project, keyLimits?.workflows ?? null),
      ...(users !== undefined && {
        isActiveUser: (email) => isMember(users, projects, project, email),
        memberEmails: () => peopleWithRole({ users, projects }, "viewer", project, MAX_CANDIDATES),
      }),
    };
  };

/** Those that the workflows of a project can call, as far as the caller sees them: its own, and those offered to it. */
const workflowsOf = (
  { workflows, runs, projects }: Pick<Sources, "workflows" | "runs" | "projects">,
  project: string,
  visible: readonly string[] | null,
): WorkflowLookup => ({
  async find(id) {
    if (visible?.includes(id) === false) return undefined;
    const found = await workflows.find(id);
    if (found === undefined) return undefined;
    const { status, published_version: published, version } = found;
    const isForeign = projectOf(found) !== project;
    if (isForeign && (published === null || !(await projects.isOffered(id, project)))) return undefined;
    const definition = await runs.versionDefinition(id, published ?? version);
    return { status, definition, ...(isForeign && { isForeign: true }) };
  },
  ids: () => workflows.recentIds(MAX_CANDIDATES, { projects: [project], workflows: visible }),
});

/** Whether an address is that of an active user with a role in the project, so that a check tells nothing about others. */
async function isMember(
  users: Pick<UserReader, "findByEmail">,
  projects: Pick<ProjectReader, "membershipsOf">,
  project: string,
  address: string,
): Promise<boolean> {
  const email = canonicalAddress(address);
  const user = await users.findByEmail(email);
  if (user?.status !== "active") return false;
  if (user.role === "admin") return true;
  if (project === DEFAULT_PROJECT) return user.role !== "member";
  return (await projects.membershipsOf(email)).has(project);
}
