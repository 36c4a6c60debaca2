/** The definition of a step type, from which the schema, the checker, the executor and the documents derive. */
import type { z } from "zod";
import type { EffectKind } from "../../schemas/effect-kind.ts";
import type { ApprovalRules } from "./approval-rules.ts";
import type { EffectTarget } from "./interruption-rules.ts";
import type { MeteredResource } from "./usage-limits.ts";
import type { ApprovalDelivery, StepFacts, Usage } from "./model.ts";
import type { CallContext, Connections, PartialIssue } from "./connections.ts";
import type { SecretUse } from "./run-ports.ts";
import type { Shape } from "./shapes.ts";
import type { TraceHeaders } from "./trace-context.ts";
import type { SpanAttributes } from "./tracer.ts";

/**
 * A field of a step. `literal` takes no expressions, `template` takes `${{ }}` anywhere in its strings, and `cel` is one
 * bare expression. `schema` validates the resolved value.
 */
export interface Field<S extends z.ZodType = z.ZodType> {
  kind: "literal" | "template" | "cel";
  schema: S;
  /** `url`: values inside its text are percent-encoded. */
  encoding?: "url";
}

export const literal = <S extends z.ZodType>(schema: S): Field<S> => ({ kind: "literal", schema });
export const template = <S extends z.ZodType>(schema: S): Field<S> => ({ kind: "template", schema });
/** A template of a URL: values inside it are percent-encoded. One whole `${{ }}`, and one at its start, are not. */
export const urlTemplate = <S extends z.ZodType>(schema: S): Field<S> => ({
  kind: "template",
  schema,
  encoding: "url",
});
export const cel = <S extends z.ZodType>(schema: S): Field<S> => ({ kind: "cel", schema });

export type Fields = Readonly<Record<string, Field>>;
type Resolved<F extends Fields> = { [K in keyof F]: z.output<F[K]["schema"]> };

/** A step of a definition: valid against its schema, with its expressions unresolved. */
export interface UnresolvedStep {
  id: string;
  type: string;
  [field: string]: unknown;
}

/** A workflow as another one that runs it sees it. */
export interface CalledWorkflow {
  /** The JSON Schema of its inputs; null if it takes none. */
  inputs: Record<string, unknown> | null;
  /** The output of its runs. */
  output: Shape;
  /** Why its runs can't start; left out if they can. */
  obstacle?: Pick<PartialIssue, "code" | "message" | "fix">;
}

/** Calls of connections take it as their context. */
export interface StepCheckContext extends CallContext {
  connections: Connections;
  /** False if the definition is checked without its connections: a check that uses them then reports nothing at all. */
  hasConnections: boolean;
  /** Returns the shape of a field of this step after it is resolved. */
  shapeOf(field: string): Shape;
  /** Returns the shape of one entry of a field that is an object (`tables.orders`). */
  shapeAt(field: string, key: string): Shape;
  /** Returns the steps that have certainly ended before this one. */
  earlierSteps(): UnresolvedStep[];
  /** Returns what callers of a workflow depend on; undefined if it does not exist. */
  workflow(id: string): Promise<CalledWorkflow | undefined>;
  /** Returns the ids of workflows, to find a near match. */
  workflowIds(): Promise<string[]>;
  /** The addresses of some active users of the project, to find a near match; left out like `isActiveUser`. */
  memberEmails?: (() => Promise<string[]>) | undefined;
  /** Whether a mail address is that of an active user; left out if the definition is checked without its users. */
  isActiveUser?: ((email: string) => Promise<boolean>) | undefined;
}

export interface StepCheck {
  /** Issues with paths below the step. */
  issues: PartialIssue[];
  /** The shape of its output, if it is known more precisely than `output` of the type. */
  output?: Shape;
  /** What the step needs to know of the check when it runs. */
  facts?: StepFacts;
  /** Whether what it calls declares that it only reads; left out where nothing declares it. */
  readOnly?: boolean;
}

/** Calls of connections take it as their context. Its signal is aborted when the run is cancelled or the step times out. */
export interface StepContext extends CallContext {
  connections: Connections;
  /** `<first run>:<step>:<item>:<hash of its input>`, to pass on to the systems that it calls. */
  idempotencyKey: string;
  /** Returns the current time, in milliseconds since 1970. */
  now(): number;
  /** What its check found, if the type `needsFacts`; undefined where the check could not find it. */
  facts?: StepFacts | undefined;
  /** The step as its definition has it. */
  step?: UnresolvedStep;
  /** The headers of its trace, to pass on to the systems that it calls; empty without a trace. */
  trace: TraceHeaders;
}

/** The outcome of a step that does not throw. */
export type StepOutcome =
  | {
      kind: "done";
      output: Record<string, unknown>;
      usage?: Usage | undefined;
      /** Number of rows that a database returned. */
      rows?: number | undefined;
    }
  /** The step ends at that time, in milliseconds since 1970. It uses no resources until then. */
  | { kind: "wait"; until: number }
  /** The step ends with the decision of a person. */
  | {
      kind: "approval";
      message: string;
      form: Record<string, unknown> | null;
      /** Addresses and roles. */
      assignees: string[];
      rules: ApprovalRules;
      evidence: Record<string, unknown> | null;
      delivery: ApprovalDelivery;
    }
  /** The step ends with the event that somebody sends to its URL. */
  | { kind: "event" }
  /** The step ends with the run of another workflow. */
  | { kind: "child"; workflow: string; inputs: Record<string, unknown> };

/** The connections that span attributes are derived from. */
export type CalledConnections = Pick<Connections, "defaultDatabase" | "databases" | "models">;

/** What the description of a step's effect derives from. */
export interface EffectContext {
  connections: CalledConnections;
  /** The version of a called workflow that would run; null if it does not exist. */
  versionOf(workflowId: string): number | null;
}

/** What a step touches outside of its run. */
export interface StepEffect {
  /** In a few words, for a person who approves it. Expressions are shown as they are written. */
  words: string;
  does: EffectKind;
  /** What it reads, or to whom or what it writes or sends, as far as the definition says; expressions as they are written. */
  targets: string[];
}

export interface StepType<F extends Fields = Fields> {
  /** The value of `type`. */
  type: string;
  title: string;
  /** A few sentences for the guide, the schema and describe_environment. */
  description: string;
  fields: F;
  /** An example of the whole step, for documents and editors. */
  example: UnresolvedStep;
  /** The shape of its output, as far as it is the same for every step of the type. */
  output: Shape;
  /** Default timeout of an attempt, in milliseconds; null without a limit. */
  timeoutMs: number | null;
  /**
   * Computes its output in memory, without effects. Its attempts are recorded only when they end.
   * @throws StepError
   */
  compute?(input: Resolved<F>): Record<string, unknown>;
  /**
   * Its result is valid for its run only, such as the approval of a person. A retry reuses it only with the same
   * definition and inputs, and only if the run that it repeats did not succeed.
   */
  runScoped?: boolean;
  /** The name of its field that is a condition, without which the step fails: later steps run only where it is true. */
  condition?: string;
  /** Whether a retry may reuse its output; left out, it may. */
  isReusable?(step: UnresolvedStep): boolean;
  /** Whether running the step again may repeat an effect. */
  hasEffects(step: UnresolvedStep): boolean;
  /**
   * Whether a trial executes the step. Left out, it does unless the step has effects.
   * @param step with its fields resolved
   */
  runsInTrial?(step: UnresolvedStep): boolean;
  /** Returns the resource that it holds while it runs (`database:shop`), for concurrency limits; null for none. */
  resource(step: UnresolvedStep, connections: Pick<Connections, "defaultDatabase">): string | null;
  /**
   * Whether such a step can find out whether the effect of another one happened: `without_effects`, or whatever it calls (`any`), because
   * nobody knows before it runs whether that has effects; its check warns then. Left out, it can't.
   */
  canLookUp?: "without_effects" | "any";
  /** Whether it sends its idempotency key along, by which a receiver can recognize a repetition. */
  sendsIdempotencyKey?: true;
  /**
   * Returns what its effect is sent to, for what the configuration says of an interruption: a resource (`mcp_server:tickets`, `mail`),
   * or a URL. Null where that is not known. Left out: its resource.
   * @param step with its fields resolved, or as its definition has it
   */
  effectTarget?(step: Readonly<Record<string, unknown>>): EffectTarget | null;
  /** Returns the metered resource that it uses. It does not start when the usage limit of its API key is reached. */
  meteredResource?(step: UnresolvedStep): MeteredResource | null;
  /** Returns the addresses that it is about to send a mail to, which count for the limits of its owner. Left out, it sends none. */
  mailsTo?(input: Resolved<F>): readonly string[];
  /**
   * Returns span attributes of the system that it calls, by OpenTelemetry's semantic conventions. They derive from the
   * definition only, never from values.
   */
  spanAttributes?(step: UnresolvedStep, connections: CalledConnections): SpanAttributes;
  /** Says what the step touches outside of its run. Left out, it touches nothing. */
  describeEffect?(step: UnresolvedStep, ctx: EffectContext): StepEffect;
  /** Returns the entries of the configuration that it uses besides its resource, such as `secret:team_hook`. */
  configurationEntries?(step: UnresolvedStep): readonly string[];
  /**
   * Returns the secrets that it is about to send, and to which hosts, for the audit log. Left out, it sends none. What its
   * connection logs in with is known from the configuration.
   */
  secretUses?(input: Resolved<F>, connections: Pick<Connections, "http">): Promise<SecretUse[]>;
  /** Whether its output can rest on the decision of a person, made for what could run after it at that time. */
  mayRestOnDecision?: boolean;
  check?(step: UnresolvedStep, ctx: StepCheckContext): Promise<StepCheck>;
  /** Whether the step reads the facts of its check when it runs. */
  needsFacts?(step: UnresolvedStep): boolean;
  run(input: Resolved<F>, ctx: StepContext): Promise<StepOutcome>;
}

/** Defines a step type. `run` receives the parsed fields. */
export const defineStepType = <F extends Fields>(type: StepType<F>): StepType<F> => type;

// oxlint-disable-next-line typescript/no-explicit-any -- the only place that erases the field types
export type AnyStepType = StepType<any>;

/** Whether a trial executes a step. */
export const runsInTrial = (type: AnyStepType, step: UnresolvedStep): boolean =>
  type.runsInTrial?.(step) ?? !type.hasEffects(step);
