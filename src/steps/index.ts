/** All step types, in alphabetical order. */
import type { AnyStepType } from "../core/step-type.ts";
import { approvalStep } from "./approval.ts";
import { assertStep } from "./assert.ts";
import { emailStep } from "./email.ts";
import { httpStep } from "./http.ts";
import { modelStep } from "./model.ts";
import { setStep } from "./set.ts";
import { sqlStep } from "./sql.ts";
import { toolStep } from "./tool.ts";
import { waitStep } from "./wait.ts";
import { workflowStep } from "./workflow.ts";

export const stepTypes: readonly AnyStepType[] = [
  approvalStep,
  assertStep,
  emailStep,
  httpStep,
  modelStep,
  setStep,
  sqlStep,
  toolStep,
  waitStep,
  workflowStep,
];
