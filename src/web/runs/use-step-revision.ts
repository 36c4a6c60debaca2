import { useThrottledValue } from "@mantine/hooks";
import type { RunStep } from "../../../schemas/run.ts";

/** Minimum time between two requests for the details of a step, in milliseconds: a fan-out changes many times a second. */
const DETAILS_THROTTLE_MS = 2_000;

/** @returns a text that changes whenever the details of the step are to be loaded again */
export const useStepRevision = (step: RunStep | undefined): string =>
  useThrottledValue(
    `${step?.status} ${step?.attempts} ${step?.items?.done ?? ""} ${step?.items?.failed ?? ""}`,
    DETAILS_THROTTLE_MS,
  );
