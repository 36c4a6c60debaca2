/** What actors do in a sequence: what a request is about, what the model says of it, and what is so after it. */
import { ACCOUNT_OPERATIONS } from "./account-operations.ts";
import { APPROVAL_OPERATIONS } from "./approval-operations.ts";
import { INTERRUPTION_OPERATIONS } from "./interruption-operations.ts";
import { KEY_OPERATIONS } from "./key-operations.ts";
import { PROJECT_OPERATIONS } from "./project-operations.ts";
import { READ_OPERATIONS } from "./read-operations.ts";
import { REVIEW_OPERATIONS } from "./review-operations.ts";
import { RUN_OPERATIONS } from "./run-operations.ts";
import { START_OPERATIONS } from "./start-operations.ts";
import { WORKFLOW_OPERATIONS } from "./workflow-operations.ts";
import { BACKTEST_OPERATIONS } from "./backtest-operations.ts";
import { BULK_OPERATIONS } from "./bulk-operations.ts";
import type { Company } from "./company.ts";
import type { Maker, Makers, Pick } from "./request.ts";

const MAKERS: Makers = [
  ...WORKFLOW_OPERATIONS,
  ...REVIEW_OPERATIONS,
  ...RUN_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...START_OPERATIONS,
  ...BACKTEST_OPERATIONS,
  ...BULK_OPERATIONS,
  ...INTERRUPTION_OPERATIONS,
  ...PROJECT_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...KEY_OPERATIONS,
  ...READ_OPERATIONS,
];
/** The operations of the requests. */
export const REQUESTED: ReadonlySet<string> = new Set(MAKERS.map(([, operation]) => operation));
const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

/** Chooses an operation, and what it is about. */
export function chooseRequest(company: Company, pick: Pick): ReturnType<Maker> {
  let left = pick.number(TOTAL);
  const found = MAKERS.find(([weight]) => (left -= weight) < 0)!;
  return found[2](company, pick);
}
