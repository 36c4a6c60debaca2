/** Generated from src/web/messages/en/projects.json by `npm run generate`. Edit that file instead. */
import type { ReactNode } from "react";
import { pluralForm } from "../../format.ts";
import { rich } from "../../rich.ts";

export const projects = "Projects";
export const about = "Each team sees and changes only the workflows, runs and approvals of its projects. As long as there is one project, no other page mentions it.";
export const newProject = "New project";
export const reviewRequired = "review required";
export const grantedConnections = "granted connections";
export const yourRole = ({ role }: { role: "admin" | "editor" | "none" | "viewer" }): string =>
  `your role: ${(role === "viewer" ? "viewer" : role === "editor" ? "editor" : role === "admin" ? "admin" : "none")}`;
export const secondProject = "With a second project, everybody who has a role in both can switch between them. What exists now stays in the project Default, with the same rights.";
export const name = "Name";
export const optionalId = "ID (optional)";
export const idHelp = "Lower-case letters, digits and dashes; made from the name if left out. The IDs of new workflows begin with it, and it can't be changed.";
export const optionalDescription = "Description (optional)";
export const connections = "Connections";
export const create = "Create project";
export const onlyGranted = "Only granted ones";
export const onlyGrantedHelp = "Its workflows use the databases, models and other connections that an admin grants.";
export const allConnections = "All connections";
export const allConnectionsHelp = "Its workflows use everything in the configuration, also what is added to it later.";
export const hostsAsConfigured = "As the configuration says";
export const anyHosts = "Any";
export const grantedHosts = "Only granted hosts";
export const noHosts = "None";
export const runsPerHour = "Runs per hour";
export const unfinishedRuns = "Unfinished runs";
export const tokensPerDay = "Model tokens per day";
export const rowsPerDay = "Database rows per day";
export const storedBytes = "Stored bytes";
export const database = "Database";
export const model = "Model";
export const mcpServer = "MCP server";
export const secret = "Secret";
export const host = "Host";
export const mailDomain = "Mail domain";
export const chat = "Chat";
export const description = "Description";
export const requireReview = "Require review";
export const requireReviewHelp = "Publishing by an API key, or by the author of a change, needs the approval of another person.";
export const saveDetails = "Save details";
export const publicHosts = "Public hosts";
export const publicHostsHelp = "Which hosts of the internet http steps can reach. The configuration can be stricter.";
export const limits = "Limits of all runs of the project together";
export const noLimit = "No limit";
export const saveLimits = "Save connections and limits";
export const saved = ({ name }: { name: string | number }): string =>
  `Saved the project “${name}”.`;
export const reviewWarning = ({ message }: { message: string | number }): string =>
  `Review ${message}.`;
export const roleOnPeoplePage = ({ link }: { link: (children: ReactNode) => ReactNode }): ReactNode =>
  rich("In this project everybody has the role that is set on the page ", link("People"), ".");
export const membersLocked = "Only admins of this project see and change its members.";
export const membersHelp = "A role applies from the next request on. An address needs no account yet, then the role applies from the first sign-in; nothing here tells whether there is one. Admins of the instance have every right without being listed.";
export const noMembers = "No members yet.";
export const members = "Members";
export const hasRole = ({ email, role }: { email: string | number; role: "admin" | "editor" | "viewer" }): string =>
  `${email} has the role ${(role === "viewer" ? "viewer" : role === "editor" ? "editor" : "admin")}.`;
export const addAMember = "Add a member";
export const email = "E-mail address";
export const role = "Role";
export const roleName = ({ role }: { role: "admin" | "editor" | "viewer" }): string =>
  (role === "viewer" ? "viewer" : role === "editor" ? "editor" : "admin");
export const addMember = "Add member";
export const memberRemoved = ({ email, project }: { email: string | number; project: string | number }): string =>
  `${email} has no role in “${project}” any more.`;
export const removeFailed = ({ email }: { email: string | number }): string =>
  `Couldn't remove ${email}`;
export const memberYou = ({ email }: { email: string | number }): string =>
  `${email} (you)`;
export const roleOf = ({ email }: { email: string | number }): string =>
  `Role of ${email}`;
export const roleFailed = ({ email }: { email: string | number }): string =>
  `Couldn't change the role of ${email}`;
export const removeMember = ({ email }: { email: string | number }): string =>
  `Remove ${email}`;
export const removeTitle = ({ email, project }: { email: string | number; project: string | number }): string =>
  `Remove ${email} from “${project}”?`;
export const removeYourself = "You can't open this project any more, unless you are an admin of the instance.";
export const removeOther = "From now on they and their API keys can't open anything in this project.";
export const remove = "Remove";
export const grantsOfAll = "This project may use all connections. Grants take effect once it may use only granted ones; granted hosts also where public hosts must be granted.";
export const grantsHelp = "Its workflows use these connections, and no others. A change applies from the next step on.";
export const noGrants = "Nothing is granted yet.";
export const grants = "Grants";
export const revoked = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `Revoked the ${(kind === "database" ? "database" : kind === "model" ? "model" : kind === "mcp_server" ? "MCP server" : kind === "secret" ? "secret" : kind === "host" ? "host" : kind === "mail" ? "mail domain" : "chat")} ${name}.`;
export const revokeFailed = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `Couldn't revoke the ${(kind === "database" ? "database" : kind === "model" ? "model" : kind === "mcp_server" ? "MCP server" : kind === "secret" ? "secret" : kind === "host" ? "host" : kind === "mail" ? "mail domain" : "chat")} ${name}`;
export const revokeGrant = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `Revoke the ${(kind === "database" ? "database" : kind === "model" ? "model" : kind === "mcp_server" ? "MCP server" : kind === "secret" ? "secret" : kind === "host" ? "host" : kind === "mail" ? "mail domain" : "chat")} ${name}`;
export const revokeTitle = ({ kind, name }: { kind: "chat" | "database" | "host" | "mail" | "mcp_server" | "model" | "secret"; name: string | number }): string =>
  `Revoke the ${(kind === "database" ? "database" : kind === "model" ? "model" : kind === "mcp_server" ? "MCP server" : kind === "secret" ? "secret" : kind === "host" ? "host" : kind === "mail" ? "mail domain" : "chat")} ${name}?`;
export const revokeConsequence = ({ project }: { project: string | number }): string =>
  `Workflows of “${project}” that use it fail from their next step on.`;
export const revoke = "Revoke";
export const readOnlyAccess = "read-only";
export const databaseRole = ({ role }: { role: string | number }): string =>
  `role ${role}`;
export const noTools = "no tools";
export const onlyTools = ({ tools }: { tools: string | number }): string =>
  `only ${tools}`;
export const granted = ({ name, project }: { name: string | number; project: string | number }): string =>
  `Granted ${name} to “${project}”.`;
export const grantConnection = "Grant a connection";
export const grantedWithWarning = "Granted, with a warning";
export const didYouMean = ({ name }: { name: string | number }): string =>
  `Did you mean ${name}?`;
export const kind = "Kind";
export const grant = "Grant";
export const optionalRole = "Role (optional)";
export const databaseRoleHelp = "One of the roles of the database in the configuration, to connect as.";
export const readOnly = "Read-only";
export const readOnlyHelp = "Statements that write are refused.";
export const optionalTools = "Tools (optional)";
export const toolsHelp = "The only tools that may be called; none listed: all of them. Press Enter to add one.";
export const project = "Project";
export const created = ({ ago, by }: { ago: ReactNode; by: string | number }): ReactNode =>
  rich("created ", ago, " by ", by);
export const details = "Details";
export const detailsLocked = "Only admins of this project can change this.";
export const connectionsAndLimits = "Connections and limits";
export const limitsLocked = "Only admins of the instance can change this.";
export const grantsLocked = "Only admins of the instance grant connections and revoke them.";
export const deletePanel = "Delete";
export const deleted = ({ name }: { name: string | number }): string =>
  `Deleted the project “${name}”.`;
export const defaultNotDeletable = "The default project can't be deleted.";
export const deleteHelp = "A project can be deleted when it has neither workflows nor runs. Its members and grants go with it, and API keys lose it.";
export const deleteTitle = ({ name }: { name: string | number }): string =>
  `Delete the project “${name}”?`;
export const deleteConsequence = "Its members and grants are deleted, and API keys lose it. This can't be undone.";
export const deleteConfirm = "Delete project";
export const deleteProject = "Delete project…";
export const moved = ({ workflow, project }: { workflow: string | number; project: string | number }): string =>
  `Moved “${workflow}” to the project “${project}”.`;
export const moveTitle = ({ workflow }: { workflow: string | number }): string =>
  `Move “${workflow}” to a project`;
export const notMoved = "Not moved";
export const moveHelp = "The workflow keeps its ID, versions, schedule and state. Its earlier and active runs stay where they started; new ones start in the other project, with what that may use.";
export const moveAnyway = "Move it although its published version can't run there";
export const move = "Move";
export const offerTitle = ({ workflow }: { workflow: string | number }): string =>
  `Offer “${workflow}” to projects`;
export const notOffered = ({ workflow }: { workflow: string | number }): string =>
  `“${workflow}” is not offered to other projects.`;
export const offered = ({ workflow }: { workflow: string | number }): string =>
  `Offered “${workflow}”.`;
export const unseenProjects = ({ projects }: { projects: string | number }): string =>
  `You can't see ${projects}: check the spelling.`;
export const notChanged = "Not changed";
export const offerHelp = "Workflows of these projects can call the published version. They see its name, inputs and output, not what it does. It runs in its own project, with what that is granted.";
export const offeredTo = "Offered to";
export const noOtherProject = "No other project";
export const namedProjects = "Named projects";
export const allProjectsHelp = "Also those that are created later.";
export const projectIds = "IDs of projects";
export const projectIdsHelp = "You can name projects that you can't see. Press Enter to add one.";
export const saveOffer = "Save offer";
export const offeredToAll = "Offered to all projects";
export const offeredToNamed = ({ count, names }: { count: number; names: string | number }): string =>
  (pluralForm(count) === "one" ? `Offered to the project ${names}` : `Offered to the projects ${names}`);
export const projectNamed = ({ name }: { name: string | number }): string =>
  `Project ${name}`;
export const targetHelp = "Its members can see the workflow, and its connections are those that the workflow can use.";
export const allProjects = "All projects";
