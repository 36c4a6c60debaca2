/** Checks the triggers: their expressions against what they receive and the inputs that they give, and their secrets. */
import type { Trigger } from "../../../../schemas/trigger.ts";
import type { Connections, PartialIssue } from "../../../core/connections.ts";
import { parseEventPath } from "../../../core/event-path.ts";
import { type JsonSchema, schemaIssues, templateIssues } from "../../../core/json-schema/index.ts";
import { ANY, objectOf } from "../../../core/shapes.ts";
import { signatureIssues } from "../../../core/webhook-signatures/issues.ts";
import { checkCel, checkValueAsync, factsOfCondition, withFacts } from "../expressions/index.ts";
import type { TypeScope } from "../expressions/types.ts";
import { bodyShape, eventShape } from "../trigger-event.ts";
import { handshakeIssues } from "./handshake-issues.ts";
import { type LocatedIssue, MAX_ISSUES, prefixPath } from "./check-report.ts";
import { RUN_FIELDS } from "./step-shapes.ts";
import type { CheckedInputs } from "./top-level-issues.ts";
import { conditionTypeIssues, withTypeIssues } from "./type-issues.ts";

/** The schemes with an id for each delivery, by which a repeated one is recognized. */
const SCHEMES_WITH_IDS: ReadonlySet<unknown> = new Set(["standard_webhooks", "github", "stripe", "slack"]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @param triggers the `triggers` of the definition, of any type
 * @param connections left out, the names of secrets are not checked
 */
export async function triggerIssues(
  triggers: unknown,
  { schema }: CheckedInputs,
  connections: Pick<Connections, "http"> | undefined,
  yieldToEventLoop: () => Promise<void>,
): Promise<LocatedIssue[]> {
  const issues: LocatedIssue[] = [];
  if (!Array.isArray(triggers)) return issues;
  const seen = new Map<unknown, number>();
  for (const [index, trigger] of (triggers as unknown[]).entries()) {
    if (issues.length >= MAX_ISSUES) break;
    // The schema of the definition reports others.
    if (!isObject(trigger)) continue;
    const path = ["triggers", index];
    const add = (found: readonly (PartialIssue | LocatedIssue)[]): void =>
      void issues.push(...found.map((issue) => prefixPath(path, issue)));
    const first = seen.get(trigger["id"]);
    if (first !== undefined) add([duplicateId(trigger["id"], first)]);
    else if (trigger["id"] !== undefined) seen.set(trigger["id"], index);
    add(signatureIssues(trigger["signature"], connections?.http.secrets()));
    add(handshakeIssues(trigger, connections?.http.secrets()));
    add(deliveryIdIssues(trigger));
    add(payloadIssues(trigger));
    add(await expressionIssues(trigger, schema, yieldToEventLoop));
  }
  return issues;
}

const duplicateId = (id: unknown, first: number): PartialIssue => ({
  path: ["id"],
  code: "duplicate",
  message: `is already the id of triggers[${first}]: each has a URL of its own`,
  fix: `Write another id, such as ${String(id)}_2.`,
});

/** Warns where nobody knows who sent a delivery, or whether it is a repeated one. */
function deliveryIdIssues({ signature, deduplicate }: Record<string, unknown>): PartialIssue[] {
  const issues: PartialIssue[] = [];
  if (signature === undefined)
    issues.push({
      code: "unsigned_trigger",
      severity: "warning",
      message: "has no signature, so anybody who sees its URL can start runs",
      fix: "Add signature: { scheme: standard_webhooks, secret: … } if the sender can sign.",
    });
  const { scheme, id } = isObject(signature) ? signature : {};
  const hasId = SCHEMES_WITH_IDS.has(scheme) || (scheme === "hmac" && id !== undefined);
  if (deduplicate === undefined && !hasId)
    issues.push({
      code: "no_delivery_id",
      severity: "warning",
      message: "can't recognize repeated deliveries, so each repetition starts another run",
      fix: "Add deduplicate: event.body.id, or another value that a repetition has in common with the first.",
    });
  if (typeof deduplicate === "string" && parseEventPath(deduplicate) === undefined)
    issues.push({
      path: ["deduplicate"],
      code: "not_allowed",
      message:
        "must read one value of event.body, event.headers or event.query: it is read before the delivery is answered",
      fix: 'Write a path, such as event.body.id or event.headers["x-request-id"].',
    });
  return issues;
}

function payloadIssues({ payload, sample }: Record<string, unknown>): PartialIssue[] {
  if (payload === undefined) return [];
  if (sample !== undefined)
    return [
      {
        path: ["sample"],
        code: "not_allowed",
        message: "must not be beside payload, which says more about the body",
        fix: "Remove sample, or remove payload.",
      },
    ];
  return isObject(payload)
    ? schemaIssues(payload).map((issue) =>
        Object.assign({}, issue, { path: ["payload", ...(issue.path ?? [])] }),
      )
    : [];
}

async function expressionIssues(
  trigger: Record<string, unknown>,
  schema: JsonSchema | undefined,
  yieldToEventLoop: () => Promise<void>,
): Promise<LocatedIssue[]> {
  const { if: condition, inputs = {}, deduplicate } = trigger;
  const scope = scopeOf(trigger);
  const issues: LocatedIssue[] = [];
  if (typeof condition === "string") {
    const checked = checkCel(condition, scope);
    const found = withTypeIssues(checked, conditionTypeIssues(checked.shape), condition);
    issues.push(...found.map((issue) => prefixPath(["if"], issue)));
  }
  if (typeof deduplicate === "string" && parseEventPath(deduplicate) !== undefined)
    issues.push(...checkCel(deduplicate, scope).issues.map((issue) => prefixPath(["deduplicate"], issue)));
  await yieldToEventLoop();
  if (!isObject(inputs)) return issues;
  const checked = await checkValueAsync(
    inputs,
    withFacts(scope, factsOfCondition(condition)),
    yieldToEventLoop,
  );
  issues.push(...checked.issues.map((issue) => prefixPath(["inputs"], issue)));
  const isBroken = (path: readonly PropertyKey[] = []): boolean =>
    checked.issues.some(
      ({ severity, path: broken = [] }) =>
        severity !== "warning" && broken.every((part, index) => path[index] === part),
    );
  const unfit = schema === undefined ? [] : templateIssues(schema, inputs, checked.shape);
  issues.push(...unfit.filter(({ path }) => !isBroken(path)).map((issue) => prefixPath(["inputs"], issue)));
  return issues;
}

function scopeOf({ payload, sample }: Record<string, unknown>): TypeScope {
  const usable = isObject(payload) && schemaIssues(payload).length === 0;
  const known: Partial<Trigger> = {
    ...(usable && { payload }),
    ...(payload === undefined && isObject(sample) && { sample: sample as Trigger["sample"] }),
  };
  return {
    inputs: objectOf({}),
    run: objectOf(RUN_FIELDS),
    steps: {},
    otherSteps: new Set(),
    event: eventShape(usable || payload === undefined ? bodyShape(known) : ANY),
  };
}
