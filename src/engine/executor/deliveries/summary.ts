/** What a person reads of an event, in a chat or a mail. */
import type { EventRecord } from "../../../core/subscription-ports.ts";
import type { EventNames, EventPayload } from "./payload.ts";

export interface EventSummary {
  title: string;
  tone: "good" | "bad" | "neutral";
  /** Labels with their texts. */
  facts: readonly (readonly [string, string])[];
  /** The page to open, and the label of its button. */
  link: { url: string; label: string };
}

type Link = { url: string };

export function summaryOf(
  event: EventRecord,
  { data }: EventPayload,
  { base, workflowName }: EventNames,
): EventSummary {
  const facts = event.data;
  const name = workflowName ?? event.workflowId ?? "A single step";
  const workflow = event.workflowId === null ? [] : [["Workflow", event.workflowId] as const];
  const run = event.runId === null ? [] : [["Run", event.runId] as const];
  const open = (field: string, label: string): EventSummary["link"] => ({
    url: (data[field] as Link | undefined)?.url ?? `${base}/ui/`,
    label,
  });
  switch (event.type) {
    case "run.succeeded":
      return {
        title: `${name} succeeded`,
        tone: "good",
        facts: [...workflow, ...run],
        link: open("run", "Open the run"),
      };
    case "run.failed": {
      const { code, step_id: step } = facts["error"] as { code: string; step_id?: string };
      return {
        title: `${name} failed`,
        tone: "bad",
        facts: [...workflow, ...run, ["Error", step === undefined ? code : `${code} in ${step}`]],
        link: open("run", "Open the run"),
      };
    }
    case "run.waiting":
      return {
        title: `${name} is waiting`,
        tone: "neutral",
        facts: [...workflow, ...run],
        link: open("run", "Open the run"),
      };
    case "run.interrupted":
      return {
        title: `${name} was interrupted: did "${textOf(facts["step_id"])}" happen?`,
        tone: "bad",
        facts: [...workflow, ...run],
        link: open("run", "Open the run"),
      };
    case "approval.requested":
      return {
        title: `${name} needs an approval`,
        tone: "neutral",
        facts: [...workflow, ...run, ["Until", textOf(facts["expires_at"]) ?? "no end"]],
        link: open("approval", "Open the approval"),
      };
    case "workflow.published":
      return {
        title: `${name} was published`,
        tone: "neutral",
        facts: [...workflow, ["Version", String(facts["version"])], ["By", String(facts["published_by"])]],
        link: open("workflow", "Open the workflow"),
      };
    case "workflow.overdue":
      return {
        title: `${name} is overdue`,
        tone: "bad",
        facts: [
          ...workflow,
          ["Must succeed", `every ${String(facts["every"])}`],
          ["Last success", textOf(facts["succeeded_at"]) ?? "never"],
        ],
        link: open("workflow", "Open the workflow"),
      };
    case "key.expiring":
      return {
        title: `The API key ${String(facts["key_name"])} expires`,
        tone: "neutral",
        facts: [
          ["Key", String(facts["key_id"])],
          ["Owner", String(facts["owner"])],
          ["Expires", String(facts["expires_at"])],
        ],
        link: { url: `${base}/ui/keys`, label: "Open API keys" },
      };
    case "subscription.test":
      return {
        title: "This is a test of Millrace",
        tone: "neutral",
        facts: [["Subscription", String(facts["subscription_name"])]],
        link: { url: `${base}/ui/`, label: "Open Millrace" },
      };
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
