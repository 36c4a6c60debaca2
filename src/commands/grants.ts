/** `millrace grants`: what projects may use. */
import { DEFAULT_PROJECT, type Grant, type Project, type SavedGrant } from "../../schemas/project.ts";
import { addGrant } from "../../tools/projects/add-grant.ts";
import { getProject } from "../../tools/projects/get-project.ts";
import { listGrants } from "../../tools/projects/list-grants.ts";
import { removeGrant } from "../../tools/projects/remove-grant.ts";
import { formatTimestamp } from "./columns.ts";
import { type Io, issueLine } from "./io.ts";
import { namingOptions, withOptions } from "./option-issues.ts";
import { withCaller } from "./with-caller.ts";
import { allOf, printJson, printTable } from "./project-output.ts";

/** Lists the grants of a project. */
export async function listProjectGrants(
  io: Io,
  project: string = DEFAULT_PROJECT,
  { json }: { json?: boolean } = {},
): Promise<void> {
  const { connections, grants } = await withCaller(
    io,
    { requiresStateFor: "list the grants of a project of" },
    async (caller) => ({
      connections: (await caller.call<Project>(getProject, { project })).connections,
      grants: await allOf<Grant>(caller, listGrants, { project }),
    }),
  );
  if (json) return printJson(io, grants);
  if (connections === "all") io.err(`${project} may use everything, because its connections is all.\n`);
  if (grants.length === 0) return io.out("Nothing is granted.\n");
  printTable(
    io,
    ["KIND", "NAME", "OPTIONS", "GRANTED", "BY"],
    grants.map(({ kind, name, granted_at, granted_by, ...options }) => [
      kind,
      name,
      optionsText(options),
      formatTimestamp(granted_at),
      granted_by,
    ]),
  );
}

const optionsText = ({ access, role, tools }: Pick<Grant, "access" | "role" | "tools">): string =>
  [
    ...(access === undefined ? [] : [access]),
    ...(role === undefined ? [] : [`role ${role}`]),
    ...(tools === undefined ? [] : [`tools ${tools.join(", ") || "none"}`]),
  ].join("; ");

export interface GrantOptions {
  access?: "read-only";
  role?: string;
  tool?: string[];
}

/** The options of the fields that an issue can be about. */
const OPTIONS = { access: "--access", role: "--role", tools: "--tool" };

/** Grants a connection. */
export async function grantConnection(
  io: Io,
  project: string,
  { kind, name }: { kind: string; name: string },
  { access, role, tool }: GrantOptions,
): Promise<void> {
  const options = {
    ...(access !== undefined && { access }),
    ...(role !== undefined && { role }),
    ...(tool !== undefined && { tools: tool }),
  };
  const grant = await namingOptions(OPTIONS, () =>
    withCaller(io, {}, ({ call }) => call<SavedGrant>(addGrant, { project, kind, name, ...options })),
  );
  for (const issue of grant.warnings ?? []) io.err(`Warning: ${issueLine(withOptions(issue, OPTIONS))}\n`);
  const text = optionsText(grant);
  io.out(
    `${project} may use the ${grant.kind} ${grant.name}${text === "" ? "" : ` (${text})`} from the next step on.\n`,
  );
}

/** Revokes a grant. */
export async function revokeGrant(io: Io, project: string, kind: string, name: string): Promise<void> {
  const grant = await withCaller(io, {}, ({ call }) => call<Grant>(removeGrant, { project, kind, name }));
  io.out(`${project} is not granted the ${grant.kind} ${grant.name} from the next step on.\n`);
}
