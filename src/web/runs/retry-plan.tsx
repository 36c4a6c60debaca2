/** The plan of a retry: which steps are reused, and which run. */
import { List } from "@mantine/core";
import { Fragment } from "react";
import type { RetrySteps } from "../../../schemas/run.ts";
import { Id } from "../ui/id.tsx";

export function RetryPlan({ plan: { reused, run, effects, items } }: { plan: RetrySteps }) {
  return (
    <List size="sm" aria-live="polite" aria-label="Retry preview">
      {run.length === 0 && <List.Item>No step runs: all outputs are reused.</List.Item>}
      {run.length > 0 && (
        <List.Item>
          Run, unless their evaluated input is the same: <Steps ids={run} items={items} />
        </List.Item>
      )}
      {effects.length > 0 && (
        <List.Item>
          With effects, which may happen again: <Steps ids={effects} />
        </List.Item>
      )}
      {reused.length > 0 && (
        <List.Item>
          Reused, not executed again: <Steps ids={reused} />
        </List.Item>
      )}
    </List>
  );
}

/** Maximum number of steps that are named. */
const MAX_NAMED = 30;

function Steps({ ids, items }: { ids: readonly string[]; items?: RetrySteps["items"] }) {
  return (
    <>
      {ids.slice(0, MAX_NAMED).map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ", "}
          <Id>{id}</Id>
          {itemsText(items?.[id])}
        </Fragment>
      ))}
      {ids.length > MAX_NAMED && ` and ${ids.length - MAX_NAMED} more`}
    </>
  );
}

/** How many items of a fan-out run. */
function itemsText(items: NonNullable<RetrySteps["items"]>[string] | undefined): string {
  if (items === undefined) return "";
  const { reused, run } = items;
  return reused === 0
    ? ` (all ${run.toLocaleString()} items)`
    : ` (${run.toLocaleString()} of ${(reused + run).toLocaleString()} items; ${reused.toLocaleString()} reused)`;
}
