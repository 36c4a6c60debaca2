/** A step type, defined once: the definition's schema, the checker, the executor and the documents are made from it. */
import type { z } from "zod";
import type { MeteredResource } from "./usage-limits.ts";
import type { Connections, PartialIssue, Usage } from "./connections.ts";
import type { Shape } from "./shapes.ts";
import type { TraceHeaders } from "./trace-context.ts";
import type { SpanAttributes } from "./tracer.ts";

/**
 * A field of a step. `literal`: taken as it stands, no expression. `template`: `${{ }}` anywhere inside its strings.
 * `cel`: one bare expression. `schema` is what it must be once resolved.
 */
export interface Field<S extends z.ZodType = z.ZodType> {
  kind: "literal" | "template" | "cel";
  schema: S;
}

export const literal = <S extends z.ZodType>(schema: S): Field<S> => ({ kind: "literal", schema });
export const template = <S extends z.ZodType>(schema: S): Field<S> => ({ kind: "template", schema });
export const cel = <S extends z.ZodType>(schema: S): Field<S> => ({ kind: "cel", schema });

export type Fields = Readonly<Record<string, Field>>;
type Resolved<F extends Fields> = { [K in keyof F]: z.output<F[K]["schema"]> };

/** A step as its definition has it: checked for form, expressions not yet resolved. */
export interface UnresolvedStep {
  id: string;
  type: string;
  [field: string]: unknown;
}

export interface StepCheckContext {
  connections: Connections;
  signal: AbortSignal;
  /** What is known of a field of this step once it is resolved. */
  shapeOf(field: string): Shape;
  /** What is known of one entry of a field that is an object (`tables.orders`). */
  shapeAt(field: string, key: string): Shape;
  /** The inputs (JSON Schema) and the output of another workflow; undefined where there is none. */
  workflow(id: string): Promise<{ inputs: Record<string, unknown> | null; output: Shape } | undefined>;
  /** Ids of workflows, to find a near match in. */
  workflowIds(): Promise<string[]>;
}

export interface StepCheck {
  /** Paths are below the step. */
  issues: PartialIssue[];
  /** What its output will be, where more is known than `output` says. */
  output?: Shape;
}

export interface StepContext {
  connections: Connections;
  /** Aborted when the run is cancelled or the step's time is up; `reason` is the StepError. */
  signal: AbortSignal;
  /** `<first run>:<step>:<item>:<hash of its input>`, to hand to what it calls. */
  idempotencyKey: string;
  /** The present moment, in milliseconds. */
  now(): number;
  /** The trace that it is part of, to hand to what it calls; nothing where there is none. */
  trace: TraceHeaders;
}

/** How a step's code ends; what it throws is its failure. */
export type StepOutcome =
  | {
      kind: "done";
      output: Record<string, unknown>;
      usage?: Usage | undefined;
      /** How many rows a database gave. */
      rows?: number | undefined;
    }
  /** Done at that moment; holds nothing meanwhile. */
  | { kind: "wait"; until: number }
  /** Done when a person has decided. */
  | {
      kind: "approval";
      message: string;
      form: Record<string, unknown> | null;
      assignees: string[];
    }
  /** Done when another workflow's run has ended. */
  | { kind: "child"; workflow: string; inputs: Record<string, unknown> };

/** What is known of systems that steps call. */
export type CalledConnections = Pick<Connections, "defaultDatabase" | "databases" | "models">;

export interface StepType<F extends Fields = Fields> {
  /** The word in `type`. */
  type: string;
  title: string;
  /** One or two sentences, for the guide, the schema and describe_environment. */
  description: string;
  fields: F;
  /** An example of the whole step, for documents and editors. */
  example: UnresolvedStep;
  /** Its output in words that the guide shows, and what is known of it whatever the step. */
  output: Shape;
  /** How long an attempt may take unless `timeout` says so, in milliseconds; null for as long as it takes. */
  timeoutMs: number | null;
  /** Runs in memory at once and has no effect: its attempts are recorded only when they end. */
  instant?: boolean;
  /**
   * Its result holds for that very run only: what a person agreed to. A retry takes it over only where it does the same
   * work again, the same definition on the same inputs, and the run that it repeats did not succeed.
   */
  runScoped?: boolean;
  /** Whether running it again may do something twice. */
  hasEffects(step: UnresolvedStep): boolean;
  /** What it holds while it runs (`database:shop`), for limits; null for nothing. */
  resource(step: UnresolvedStep, connections: Pick<Connections, "defaultDatabase">): string | null;
  /** What of its key's allowance it uses; it does not begin when that is used up. */
  meteredResource?(step: UnresolvedStep): MeteredResource | null;
  /**
   * The system that it calls, for traces: attributes by OpenTelemetry's semantic conventions, out of what every run of
   * the definition has in common, never out of values.
   */
  spanAttributes?(step: UnresolvedStep, connections: CalledConnections): SpanAttributes;
  check?(step: UnresolvedStep, ctx: StepCheckContext): Promise<StepCheck>;
  run(input: Resolved<F>, ctx: StepContext): Promise<StepOutcome>;
}

/** Defines a step type; `run` gets its fields as their schemas give them. */
export const defineStepType = <F extends Fields>(type: StepType<F>): StepType<F> => type;

// oxlint-disable-next-line typescript/no-explicit-any -- the one place where the shapes are forgotten
export type AnyStepType = StepType<any>;
