/** `millrace projects`: projects and their members. */
import type { BacktestRule } from "../../schemas/backtest-rule.ts";
import { PER_KEY_LIMITS } from "../../schemas/config.ts";
import {
  DEFAULT_PROJECT,
  type Project,
  type ProjectMember,
  type UpdatedProject,
} from "../../schemas/project.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { deleteProject } from "../../tools/projects/delete-project.ts";
import { getProject } from "../../tools/projects/get-project.ts";
import { listProjectMembers } from "../../tools/projects/list-project-members.ts";
import { listProjects } from "../../tools/projects/list-projects.ts";
import { removeProjectMember } from "../../tools/projects/remove-project-member.ts";
import { setProjectMember } from "../../tools/projects/set-project-member.ts";
import { updateProject } from "../../tools/projects/update-project.ts";
import { nearMatch } from "../core/near-match.ts";
import { formatTimestamp } from "./columns.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { withOperator } from "./operator.ts";
import { namingOptions } from "./option-issues.ts";
import { plural } from "./plural.ts";
import { allOf, printJson, printTable } from "./project-output.ts";

export interface ProjectOptions {
  id?: string;
  name?: string;
  description?: string;
  connections?: "all" | "granted";
  /** `default`: as the configuration says. */
  httpPublic?: "none" | "list" | "any" | "default";
  review?: boolean;
  /** Number of runs; false for no backtest. */
  backtest?: number | false;
  allowDifference?: string[];
  /** `name=value`; `none` for no limit. */
  limit?: string[];
  json?: boolean;
}

interface Json {
  json?: boolean;
}

/** Lists all projects. */
export async function listAllProjects(io: Io, { json }: Json): Promise<void> {
  const projects = await withOperator(io, { requiresStateFor: "list projects of" }, (operator) =>
    allOf<Project>(operator, listProjects),
  );
  if (json) return printJson(io, projects);
  printTable(
    io,
    ["ID", "NAME", "CONNECTIONS", "REVIEW", "CREATED"],
    projects.map(({ id, name, connections, review, created_at }) => [
      id,
      name,
      connections,
      review ? "yes" : "no",
      formatTimestamp(created_at),
    ]),
  );
}

/** Creates a project and prints its id. */
export async function createNewProject(io: Io, name: string, options: ProjectOptions): Promise<void> {
  const input = { name, ...fieldsOf(options), ...(options.id !== undefined && { id: options.id }) };
  const project = await namingOptions({ id: "--id", name: "<name>" }, () =>
    withOperator(io, {}, ({ call }) => call<Project>(createProject, input)),
  );
  if (options.json) return printJson(io, project);
  io.out(`${project.id}\n`);
  if (io.terminal)
    io.err(paint(io).dim(`Add people with: millrace projects members set ${project.id} <email> <role>\n`));
}

/** Shows a project with its members. */
export async function showProject(io: Io, id: string, { json }: Json): Promise<void> {
  const { project, members } = await withOperator(
    io,
    { requiresStateFor: "show a project of" },
    async (operator) => {
      const found = await operator.call<Project>(getProject, { project: id });
      const people =
        found.id === DEFAULT_PROJECT
          ? []
          : await allOf<ProjectMember>(operator, listProjectMembers, { project: id });
      return { project: found, members: people };
    },
  );
  if (json) return printJson(io, { ...project, members });
  const { bold } = paint(io);
  io.out(`${bold(project.id)}  ${project.name}\n`);
  if (project.description !== "") io.out(`${project.description}\n`);
  const publicHosts = project.http_public ?? "as the configuration says";
  io.out(
    `connections: ${project.connections}; public hosts: ${publicHosts}; review: ${project.review ? "yes" : "no"}\n`,
  );
  if (project.backtest !== null) io.out(`backtest: ${describeRule(project.backtest)}\n`);
  for (const [limit, max] of Object.entries(project.limits))
    io.out(`${limit}: ${max.toLocaleString("en")}\n`);
  for (const { email, role } of members) io.out(`  ${email}  ${role}\n`);
}

/** Changes a project. */
export async function changeProject(io: Io, id: string, options: ProjectOptions): Promise<void> {
  const fields = fieldsOf(options);
  if (Object.keys(fields).length === 0)
    throw new CommandError(
      "Nothing to change. millrace projects update --help lists the options.",
      EXIT.usage,
    );
  const project = await withOperator(io, {}, async ({ call }) => {
    const { backtest: rule } = fields;
    const before =
      rule && rule.allow === undefined ? await call<Project>(getProject, { project: id }) : undefined;
    const allow = before?.backtest?.allow;
    return call<UpdatedProject>(updateProject, {
      project: id,
      ...fields,
      // What is left out stays, also a part of the rule.
      ...(rule && allow !== undefined && { backtest: { ...rule, allow } }),
    });
  });
  if (options.json) return printJson(io, project);
  io.out(`Changed the project ${project.id}.\n`);
  for (const { message, fix } of project.warnings ?? [])
    io.out(`${paint(io).yellow("Warning:")} review ${message}. ${fix ?? ""}\n`);
}

/** Deletes a project that is empty. */
export async function deleteOneProject(io: Io, id: string): Promise<void> {
  const project = await withOperator(io, {}, ({ call }) => call<Project>(deleteProject, { project: id }));
  io.out(`Deleted the project ${project.id}.\n`);
}

/** Lists the members of a project. */
export async function listMembers(io: Io, project: string, { json }: Json): Promise<void> {
  const members = await withOperator(io, { requiresStateFor: "list members of a project of" }, (operator) =>
    allOf<ProjectMember>(operator, listProjectMembers, { project }),
  );
  if (json) return printJson(io, members);
  if (members.length === 0)
    return io.out("Nobody has a role in this project; admins of the instance need none.\n");
  printTable(
    io,
    ["E-MAIL", "ROLE", "ADDED", "BY"],
    members.map(({ email, role, added_at, added_by }) => [email, role, formatTimestamp(added_at), added_by]),
  );
}

/** Gives a person a role in a project. */
export async function setMember(io: Io, project: string, email: string, role: string): Promise<void> {
  const member = await withOperator(io, {}, ({ call }) =>
    call<ProjectMember>(setProjectMember, { project, email, role }),
  );
  io.out(`${member.email} is ${member.role} in ${project} from the next request on.\n`);
}

/** Takes the role of a person in a project away. */
export async function removeMember(io: Io, project: string, email: string): Promise<void> {
  const member = await withOperator(io, {}, ({ call }) =>
    call<ProjectMember>(removeProjectMember, { project, email }),
  );
  io.out(`${member.email} has no role in ${project} from the next request on.\n`);
}

const describeRule = ({ last, allow = [] }: BacktestRule): string =>
  `the last ${plural(last, "run")}${allow.length === 0 ? "" : `; may differ: ${allow.join(", ")}`}`;

/** @throws CommandError with exit code 2 */
function ruleOf({ backtest, allowDifference: allow }: ProjectOptions): { backtest?: BacktestRule | null } {
  if (typeof backtest === "number")
    return { backtest: { last: backtest, ...(allow !== undefined && { allow }) } };
  if (allow !== undefined)
    throw new CommandError("--allow-difference needs --backtest, with the number of runs.", EXIT.usage);
  return backtest === false ? { backtest: null } : {};
}

const fieldsOf = ({
  name,
  description,
  connections,
  httpPublic,
  review,
  limit,
  ...rule
}: ProjectOptions) => ({
  ...(name !== undefined && { name }),
  ...(description !== undefined && { description }),
  ...(connections !== undefined && { connections }),
  ...(httpPublic !== undefined && { http_public: httpPublic === "default" ? null : httpPublic }),
  ...(review !== undefined && { review }),
  ...ruleOf(rule),
  ...(limit !== undefined && { limits: Object.fromEntries(limit.map(parseLimit)) }),
});

function parseLimit(text: string): [string, number | null] {
  const [, name = text, value = ""] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  if (!(PER_KEY_LIMITS as readonly string[]).includes(name)) {
    const near = nearMatch(name, PER_KEY_LIMITS);
    throw new CommandError(
      `--limit must be one of ${PER_KEY_LIMITS.join(", ")}, with its value after =; got ${text}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
      EXIT.usage,
    );
  }
  if (value === "none") return [name, null];
  if (/^[1-9]\d{0,12}$/.test(value)) return [name, Number(value)];
  throw new CommandError(`--limit ${name} must be a whole number from 1, or none; got ${value}.`, EXIT.usage);
}
