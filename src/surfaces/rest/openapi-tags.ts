/** The groups of operations in the OpenAPI document, in the order in which the reference shows them. */
import { type AnyTool, parseRoute } from "../../core/tool.ts";

export const TAGS = [
  { name: "Workflows", description: "Workflows, their versions, and publishing." },
  { name: "Runs", description: "Starting, watching, cancelling and retrying runs." },
  { name: "Interruptions", description: "Effects of which nobody knows whether they happened." },
  { name: "Bulk actions", description: "Retrying or cancelling many runs at once." },
  { name: "Approvals", description: "Decisions of people that runs wait for." },
  { name: "Schedules", description: "Schedules of published workflows." },
  { name: "Reviews", description: "Change requests, which another person approves before they go live." },
  { name: "Environment", description: "What workflows can use." },
  { name: "Projects", description: "Projects, their members, and what they are granted." },
  { name: "Offered workflows", description: "Workflows of other projects that yours may call." },
  { name: "Subscriptions", description: "What is delivered to a URL when something happens." },
  { name: "Deliveries", description: "Events on their way to subscriptions, and what became of them." },
  { name: "Overdue workflows", description: "Published workflows that have not succeeded in time." },
  { name: "API keys", description: "API keys of users." },
  { name: "Sessions", description: "The browsers in which you are signed in." },
  { name: "Absence", description: "When you are away, and who decides approvals in your place." },
  { name: "Users", description: "Users and their roles." },
  { name: "Audit log", description: "Accepted changes and who made them." },
  { name: "Session", description: "Signing in and out, for the web interface." },
  { name: "Health", description: "For load balancers." },
] as const;

/**
 * The tag of an operation: the first part of its path in words.
 *
 * @throws Error if {@link TAGS} doesn't describe it, so that no operation lands in a group without a description.
 */
export function tagOf(tool: AnyTool): string {
  const { path } = parseRoute(tool);
  const resource = /^(?:\/workflows\/:workflow_id)?\/runs$/.test(path)
    ? "runs"
    : path.split("/")[1]!.replaceAll("-", " ");
  const name = (resource.slice(0, 1).toUpperCase() + resource.slice(1)).replace(/^Api\b/, "API");
  if (!TAGS.some((tag) => tag.name === name)) {
    throw new Error(
      `${tool.name} belongs to "${name}", which openapi-tags.ts doesn't describe. Add it there.`,
    );
  }
  return name;
}
