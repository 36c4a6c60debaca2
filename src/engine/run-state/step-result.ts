/** The possible results of one execution of a step, or of an item of its fan-out. */
import type { RunError } from "../../../schemas/run.ts";
import type { ApprovalRecord } from "../../core/model.ts";
import type { EncodedJson } from "../../core/encoded-json.ts";
import type { PreparedRun } from "../../core/engine-port.ts";

/** The step has ended. */
export type EndedResult =
  | {
      kind: "succeeded";
      output: EncodedJson;
      inputHash: string | null;
      /** The run whose recorded output was reused, or `cache`. */
      reusedFrom?: string;
      /** Where to store the output for later runs. */
      cache?: { key: string; expiresAt: string };
    }
  | { kind: "skipped" }
  | { kind: "failed"; error: RunError }
  | { kind: "cancelled" };

/** The step waits and holds no executor meanwhile. The directory waits/ holds one module for each kind. */
export type Wait =
  | { kind: "wait"; until: string; inputHash: string }
  | {
      kind: "approval";
      inputHash: string;
      approval: Pick<
        ApprovalRecord,
        "id" | "message" | "form" | "assignees" | "plan" | "rules" | "evidence" | "delivery"
      >;
      /** When the wait fails; null for never. */
      expiresAt: string | null;
    }
  | {
      kind: "event";
      inputHash: string;
      /** When the wait fails; null for never. */
      until: string | null;
    }
  | {
      kind: "child";
      inputHash: string;
      run: PreparedRun;
      /** When the wait fails; null for never. */
      until: string | null;
    }
  /** A person is to say whether the effect of an earlier attempt happened. */
  | { kind: "interruption"; interruption: string; inputHash: string };

/** How the timer of a wait, or what it waits for, ends it: with the result of the step, or with another attempt. */
export type WaitEnd = EndedResult | { kind: "again" };

/** What a repeated step does next. Its failure is an `EndedResult`. */
export type RepeatResult =
  | {
      kind: "iteration";
      /** Counted from 0. */
      index: number;
      /** The variables of the iteration. */
      loop: Record<string, unknown>;
      /** When it starts (ISO 8601); null for at once. */
      dueAt: string | null;
    }
  /** The loop has ended. */
  | { kind: "repeated" };

export type StepResult = EndedResult | Wait | RepeatResult | { kind: "fan_out"; items: readonly unknown[] };

const ENDED: ReadonlySet<StepResult["kind"]> = new Set(["succeeded", "skipped", "failed", "cancelled"]);

export const isEnded = (result: StepResult): result is EndedResult => ENDED.has(result.kind);

/** Results of a step that runs several times. */
const SEVERAL: ReadonlySet<StepResult["kind"]> = new Set(["fan_out", "iteration", "repeated"]);

export const isWait = (result: StepResult): result is Wait => !isEnded(result) && !SEVERAL.has(result.kind);
