import type { InterruptionOutcome, OnInterrupted } from "../../../schemas/interruption.ts";
import type { EncodedJson } from "../../core/encoded-json.ts";
import type { Job, RunCause, RunRecord, StepFacts, Usage } from "../../core/model.ts";
import type { PlannedStep } from "../definition/plan.ts";

/** What a lookup has found out of an interrupted attempt. */
export interface FoundOut {
  /** The id of the interruption. */
  interruption: string;
  at: string;
  /** Null where it could not tell, because of `error`. */
  happened: { output: EncodedJson | null } | false | null;
  error: string | null;
  /** How often it failed so far. */
  failures: number;
}

/** One execution of a step, or of an item of its fan-out. Its later fields are set as it proceeds. */
export interface Attempt {
  readonly run: RunRecord;
  readonly job: Job;
  readonly planned: PlannedStep;
  readonly startedAt: string;
  /** The step's fields with their expressions evaluated. */
  input?: Record<string, unknown>;
  /** The same, to be stored. */
  inputJson?: EncodedJson;
  inputHash?: string;
  /** The key of its output in the cache, if the step has one. */
  cacheKey?: string | undefined;
  /** What the check found, where its type needs it. */
  facts?: StepFacts | undefined;
  /** The first part of its idempotency key, see `firstRunWithEffect`. */
  effectRunId?: string;
  /** Its idempotency key, where sending it again may double its effect. */
  effectKey?: string | undefined;
  /** What happens if it ends without an answer. */
  onInterrupted?: OnInterrupted;
  /** The interruption on which it is sent again, and what was known of it. */
  basis?: { interruption: string; outcome: InterruptionOutcome | null };
  /** Who said that its effect happened, and what it returned. */
  adopted?: RunCause | null;
  /** What was found out of the interrupted attempt before it, saved with its start or its end. */
  found?: FoundOut;
  /** Whether its start was recorded; false when it was refused, and the step's code must not run. */
  startRecorded?: boolean;
  /** When the step's code started, in milliseconds of the monotonic clock. */
  codeStartedAt?: number;
  /** What a model used, even when the attempt failed. */
  usage?: Usage | undefined;
  /** Number of rows that a database returned. */
  rows?: number | undefined;
}

/** The key by which the systems that an attempt calls recognize that it is repeated. Its input must be resolved. */
export const idempotencyKeyOf = ({ run, job, effectRunId, inputHash }: Attempt): string =>
  [effectRunId ?? run.firstRunId, job.stepId, job.item ?? "-", inputHash].join(":");
