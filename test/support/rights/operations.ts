/** What actors do in a sequence: what a request is about, what the model says of it, and what is so after it. */
import { ADMIN_OPERATIONS } from "./admin-operations.ts";
import { APPROVAL_OPERATIONS } from "./approval-operations.ts";
import { RUN_OPERATIONS } from "./run-operations.ts";
import { START_OPERATIONS } from "./start-operations.ts";
import { WORKFLOW_OPERATIONS } from "./workflow-operations.ts";
import type { Company } from "./company.ts";
import type { Maker, Makers, Pick } from "./request.ts";

const MAKERS: Makers = [
  ...WORKFLOW_OPERATIONS,
  ...RUN_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...START_OPERATIONS,
  ...ADMIN_OPERATIONS,
];
const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

/** Chooses an operation, and what it is about. */
export function chooseRequest(company: Company, pick: Pick): ReturnType<Maker> {
  let left = pick.number(TOTAL);
  const found = MAKERS.find(([weight]) => (left -= weight) < 0)!;
  return found[1](company, pick);
}
