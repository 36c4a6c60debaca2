/** What the pages say of something that does not exist, or that the user may not see. */
import type { ApiError } from "../api/client.ts";

export interface MissingKind {
  /** "run", "change request". */
  noun: string;
  /** The page that lists what there is, and its label. */
  to: string;
  all: string;
  /** Why one may be gone. */
  gone?: string;
}

export const MISSING_KINDS = {
  run_not_found: { noun: "run", to: "/runs", all: "All runs", gone: "Old runs are deleted." },
  workflow_not_found: { noun: "workflow", to: "/workflows", all: "All workflows" },
  approval_not_found: {
    noun: "approval",
    to: "/approvals",
    all: "Pending approvals",
    gone: "Approvals are deleted with their runs.",
  },
  review_not_found: { noun: "change request", to: "/reviews", all: "Pending change requests" },
  interruption_not_found: {
    noun: "interruption",
    to: "/interruptions",
    all: "Open interruptions",
    gone: "Interruptions are deleted with their runs.",
  },
  bulk_action_not_found: {
    noun: "bulk action",
    to: "/bulk-actions",
    all: "All bulk actions",
    gone: "Old bulk actions are deleted.",
  },
  backtest_not_found: {
    noun: "backtest",
    to: "/workflows",
    all: "All workflows",
    gone: "It may belong to another workflow, or be deleted.",
  },
  project_not_found: { noun: "project", to: "/projects", all: "All projects" },
  api_key_not_found: { noun: "API key", to: "/keys", all: "All API keys" },
  user_not_found: { noun: "user", to: "/people", all: "All people" },
} as const satisfies Record<string, MissingKind>;

type NotFoundCode = keyof typeof MISSING_KINDS;

export interface NotFoundProps {
  code: NotFoundCode;
  id: string;
  /** A sentence that follows, such as a suggestion. */
  hint?: string;
  /** Instead of the list of all. */
  back?: { to: string; label: string };
}

const hasKind = (code: string): code is NotFoundCode => Object.hasOwn(MISSING_KINDS, code);

/** What an error says is missing; undefined for other errors. The API begins with `There is no run "run_nope".` */
export function missingIn({ code, message }: Pick<ApiError, "code" | "message">): NotFoundProps | undefined {
  const found = /^(?:There is|You have) no [\w ]+ "([^"]*)"[^.?]*\.\s*(Did you mean .*)?/.exec(message);
  if (!hasKind(code) || found === null) return undefined;
  return { code, id: found[1]!, ...(found[2] !== undefined && { hint: found[2] }) };
}
