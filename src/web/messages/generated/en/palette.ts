/** Generated from src/web/messages/en/palette.json by `npm run generate`. Edit that file instead. */

export const dialog = "Command palette";
export const searchLabel = "Search workflows, runs, people, pages and actions";
export const placeholder = "Search, paste an ID, or type “run …”";
export const results = "Results";
export const keys = "↑↓ to choose · Enter to open · Esc to close";
export const searching = "Searching…";
export const nothingFound = ({ words }: { words: string | number }): string =>
  `Nothing found for “${words}”. Names, IDs, descriptions and tags are searched.`;
export const newWorkflow = "New workflow";
export const showFailedRuns = "Show failed runs";
export const decideApprovals = "Decide approvals";
export const createKey = "Create API key";
export const invitePerson = "Invite a person";
export const workflowGroup = ({ verb }: { verb: "edit" | "open" | "run" }): string =>
  (verb === "open" ? "Workflows" : verb === "run" ? "Run a workflow" : "Edit a workflow");
export const workflowItem = ({ verb, name }: { verb: "edit" | "open" | "run"; name: string | number }): string =>
  (verb === "open" ? `${name}` : verb === "run" ? `Run ${name}` : `Edit ${name}`);
export const recent = "Recent";
export const favorites = "Favourites";
export const actions = "Actions";
export const pages = "Pages";
export const goTo = "Go to";
export const pasted = ({ kind, id }: { kind: "approval" | "run"; id: string | number }): string =>
  (kind === "run" ? `Run ${id}` : `Approval ${id}`);
export const runs = "Runs";
export const people = "People";
export const role = ({ role }: { role: "admin" | "editor" | "member" | "viewer" }): string =>
  (role === "member" ? "member" : role === "viewer" ? "viewer" : role === "editor" ? "editor" : "admin");
export const shortcut = "Ctrl K";
export const search = "Search";
