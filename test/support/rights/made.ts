/** What the requests of a sequence have made, with the ids of the program. */
import type { Kind } from "./definitions.ts";
import type {
  Actor as ModelActor,
  Approval as ModelApproval,
  Delivery as ModelDelivery,
  Review as ModelReview,
  Run as ModelRun,
  Workflow as ModelWorkflow,
} from "./state.ts";

export type Surface = "rest" | "mcp";
export interface Actor extends ModelActor {
  headers: Record<string, string>;
  /** The id of the key, or of the session. */
  id: string;
  /** The only surface that it is used on; undefined for both. */
  surface?: Surface;
}
export interface Workflow extends ModelWorkflow {
  isArchived: boolean;
  published: number | null;
  isPaused: boolean;
  versions: { by: string | null; content: ModelWorkflow["versions"][number]["content"]; kind: Kind }[];
  reviews: { version: number; by: string; isPersonal: boolean }[];
  /** The workflow of another project that it calls; null for none. */
  calls: Workflow | null;
  offeredTo: string[];
  /** The path of its trigger's URL. */
  url: string | null;
}
export interface Run extends ModelRun {
  id: string;
  workflow: Workflow | null;
  kind: Kind;
  version: number;
  causes: Set<string>;
  /** Whether outputs of steps were given. */
  isTrial: boolean;
}
export interface Approval extends ModelApproval {
  id: string;
  run: Run;
  seats: Map<string, string>;
}
export interface Review extends ModelReview {
  id: string;
  workflow: Workflow;
}
export interface Delivery extends ModelDelivery {
  id: string;
  workflow: Workflow;
  /** Whether nothing said who sent it. */
  isAnonymous: boolean;
}
/** Something that belongs to a project and to none of its workflows. */
export interface Owned {
  id: string;
  project: string;
}
export interface Backfill extends Owned {
  workflow: Workflow;
}
export interface Backtest extends Owned {
  workflow: Workflow;
}
export interface BulkAction extends Owned {
  /** That of its run; null for a single step. */
  workflow: Workflow | null;
}
export interface Interruption {
  id: string;
  run: Run;
  isSettled: boolean;
}
