/** Generated from src/web/messages/en/ui.json by `npm run generate`. Edit that file instead. */

export const accessDeniedTitle = ({ needs }: { needs: "admin" | "editor" }): string =>
  (needs === "admin" ? "Only admins can open this page" : "Only editors and admins can open this page");
export const accessDeniedHelp = ({ email, role }: { email: string | number; role: string }): string =>
  `You're signed in as ${email} with the role ${(role === "viewer" ? "viewer" : role === "editor" ? "editor" : role === "admin" ? "admin" : `${role}`)}. An admin can change your role.`;
export const home = "Home";
export const cancel = "Cancel";
export const copied = "Copied";
export const copy = ({ label }: { label: string | number }): string =>
  `Copy ${label}`;
export const unreachable = "The server can’t be reached. This loads as soon as it answers.";
export const loading = "Loading";
export const pageFailed = "Something went wrong on this page";
export const requestId = ({ id }: { id: string | number }): string =>
  `Request ID: ${id}`;
export const tryAgain = "Try again";
export const loadMore = "Load more";
export const shown = ({ shown }: { shown: string | number }): string =>
  `${shown} shown`;
export const shownOf = ({ shown, total }: { shown: string | number; total: string | number }): string =>
  `${shown} of ${total}`;
export const status = ({ status }: { status: "cancelled" | "failed" | "pending" | "queued" | "running" | "skipped" | "succeeded" | "waiting" }): string =>
  (status === "queued" ? "queued" : status === "pending" ? "pending" : status === "running" ? "running" : status === "waiting" ? "waiting" : status === "succeeded" ? "succeeded" : status === "failed" ? "failed" : status === "skipped" ? "skipped" : "cancelled");
export const surface = ({ surface }: { surface: "cli" | "mcp" | "rest" | "web" }): string =>
  (surface === "web" ? "Web interface" : surface === "rest" ? "REST API" : surface === "mcp" ? "MCP" : "Command line");
export const required = "Required.";
