/** The operator's maxima for the durations of a definition. */
import type { Config, DURATION_LIMITS } from "../../schemas/config.ts";
import { isWaitingStepType } from "../../schemas/waiting-step-types.ts";
import { durationMs } from "./duration.ts";
import type { AnyStepType } from "./step-type.ts";

/** The part of the configuration's `limits` that has them, as durations such as `1h`. */
export type DurationLimits = Pick<Config["limits"], keyof typeof DURATION_LIMITS>;

/** The name of the maximum for the `timeout` of a step of a type. */
export const timeoutLimitOf = ({
  type,
  timeoutMs,
}: Pick<AnyStepType, "type" | "timeoutMs">): keyof DurationLimits =>
  timeoutMs === null || isWaitingStepType(type) ? "max_wait" : "max_step_timeout";

/** Parses the durations of a definition that may have been saved before a maximum was set: longer ones are cut. */
export interface DurationCutter {
  /** A pause, or the duration of a run, in milliseconds. */
  pause(duration: string): number;
  /** The timeout of a step, in milliseconds; left out, that of its type, null for no limit. */
  timeout(type: AnyStepType, duration: string | undefined): number | null;
}

export function durationCutter(limits: DurationLimits): DurationCutter {
  const max = {
    max_step_timeout: durationMs(limits.max_step_timeout),
    max_wait: durationMs(limits.max_wait),
  } satisfies Record<keyof DurationLimits, number>;
  return {
    pause: (duration) => Math.min(durationMs(duration), max.max_wait),
    timeout(type, duration) {
      const wanted = duration === undefined ? type.timeoutMs : durationMs(duration);
      return wanted === null ? null : Math.min(wanted, max[timeoutLimitOf(type)]);
    },
  };
}
