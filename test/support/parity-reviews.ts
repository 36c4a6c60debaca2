/** The parity scenarios of change requests, in which the default project needs reviews. */
import { lastOutput, type ParityCall } from "./parity-scenarios.ts";
import type { CallerName, CallResult } from "./surface-clients.ts";

type Input = NonNullable<ParityCall["with"]>;

const call = (
  name: string,
  by: CallerName,
  input: Input = {},
  expect?: ParityCall["expect"],
): ParityCall => ({ call: name, by, with: input, ...(expect && { expect }) });

const REQUIRE_REVIEWS = call("update_project", "admin", { project: "default", review: true });
const say = { steps: [{ id: "say", type: "set", values: { x: 1 } }], output: { x: "${{ steps.say.x }}" } };
const create = (name: string, definition: object = say): ParityCall =>
  call("create_workflow", "full", { name, definition });
const publish = (workflow_id: string, by: CallerName = "full"): ParityCall =>
  call("publish_workflow", by, { workflow_id });
/** The change request that an earlier call made. */
const askedBy = (before: readonly CallResult[], index: number): string =>
  (before[index]!.output!["review"] as { id: string }).id;
/** Approves the change request that the previous call has read. */
const approve = (more: Record<string, unknown> = {}, expect?: ParityCall["expect"]): ParityCall =>
  call(
    "decide_review",
    "editor",
    (before) => ({
      review_id: lastOutput(before)["id"],
      decision: "approve",
      digest: lastOutput(before)["digest"],
      ...more,
    }),
    expect,
  );
const read = (index: number): ParityCall =>
  call("get_review", "editor", (before) => ({ review_id: askedBy(before, index) }));
const decide = (
  by: CallerName,
  index: number,
  more: Record<string, unknown>,
  expect?: ParityCall["expect"],
): ParityCall =>
  call("decide_review", by, (before) => ({ review_id: askedBy(before, index), ...more }), expect);
const reject = { decision: "reject", comment: "Wrong column" };

export const REVIEW_SCENARIOS: Record<string, ParityCall[]> = {
  list_reviews: [
    REQUIRE_REVIEWS,
    call("list_reviews", "full"),
    create("Report"),
    publish("report"),
    publish("report"),
    call("list_reviews", "full"),
    call("list_reviews", "readOnly", { workflow_id: "report", status: "approved" }),
    call("list_reviews", "full", { project: "default", limit: 1 }),
    call("list_reviews", "full", { project: "finance" }, "project_not_found"),
    call("list_reviews", "full", { cursor: "forged" }, "invalid_cursor"),
    call("list_reviews", "full", { status: "done" }, "invalid_input"),
  ],
  get_review: [
    REQUIRE_REVIEWS,
    create("Report"),
    publish("report"),
    read(2),
    call("get_review", "readOnly", (before) => ({ review_id: askedBy(before, 2) })),
    decide("editor", 2, reject),
    read(2),
    call("get_review", "full", { review_id: "rev_none" }, "review_not_found"),
    call("get_review", "full", { review_id: "x".repeat(101) }, "invalid_input"),
  ],
  withdraw_review: [
    REQUIRE_REVIEWS,
    create("Report"),
    publish("report"),
    call("withdraw_review", "other", (before) => ({ review_id: askedBy(before, 2) }), "review_not_yours"),
    call("withdraw_review", "readOnly", { review_id: "rev_none" }, "missing_scope"),
    call("withdraw_review", "full", { review_id: "rev_none" }, "review_not_found"),
    call("withdraw_review", "full", { review_id: "rev_none", digest: "x" }, "invalid_input"),
    call("withdraw_review", "full", (before) => ({
      review_id: askedBy(before, 2),
      idempotency_key: "w",
    })),
    call(
      "withdraw_review",
      "full",
      { review_id: "rev_none", idempotency_key: "w" },
      "idempotency_key_reused",
    ),
    call("withdraw_review", "full", (before) => ({ review_id: askedBy(before, 2) }), "review_decided"),
  ],
  decide_review: [
    REQUIRE_REVIEWS,
    create("Report"),
    publish("report"),
    decide("full", 2, reject, "person_needed"),
    decide("viewer", 2, reject, "missing_scope"),
    decide("editor", 2, { decision: "approve" }, "invalid_input"),
    decide("editor", 2, { decision: "reject" }, "invalid_input"),
    decide("editor", 2, { decision: "approve", digest: "other" }, "review_changed"),
    call("decide_review", "editor", { review_id: "rev_none", ...reject }, "review_not_found"),
    read(2),
    approve({ idempotency_key: "d" }),
    decide("editor", 2, { ...reject, idempotency_key: "d" }, "idempotency_key_reused"),
    decide("editor", 2, reject, "review_decided"),
    call("get_workflow", "full", { workflow_id: "report" }),
    call("update_workflow", "editor", { workflow_id: "report", description: "Net" }),
    publish("report"),
    decide("editor", 15, reject, "review_not_yours"),
    // The caller is published after it was asked to drop what the caller reads.
    call("update_workflow", "full", {
      workflow_id: "report",
      definition: { steps: say.steps },
      description: "",
    }),
    create("Callee"),
    publish("callee", "admin"),
    call("update_workflow", "full", { workflow_id: "callee", definition: { steps: say.steps, output: {} } }),
    publish("callee"),
    create("Caller", {
      steps: [{ id: "sub", type: "workflow", workflow: "callee" }],
      output: "${{ steps.sub.output.x }}",
    }),
    publish("caller", "admin"),
    read(21),
    approve({}, "callers_would_break"),
    create("Second", { steps: [{ id: "sub", type: "workflow", workflow: "callee" }] }),
    publish("second"),
    call("unpublish_workflow", "admin", { workflow_id: "callee", break_callers: ["caller"] }),
    decide("editor", 27, { decision: "approve", digest: "any" }, "workflow_not_runnable"),
    // The rule is newer than the request.
    create("Tested"),
    publish("tested"),
    call("update_project", "admin", { project: "default", backtest: { last: 5 } }),
    read(31),
    approve({}, "backtest_unfinished"),
  ],
};
