/**
 * What a run waits for that people decide, as the input that its task requires. The client shows a person the page of the
 * decision; what it answers decides nothing.
 */
import { inputRequired, type InputRequests } from "@modelcontextprotocol/server";
import { visibleText } from "../../../schemas/hidden-characters.ts";
import type { Run } from "../../../schemas/run.ts";
import { shortHash } from "../../core/short-hash.ts";

/** A decision that a run waits for. */
export interface PendingDecision {
  id: string;
  /** What a person reads before the page opens. */
  message: string;
  /** The URL of its page. */
  url: string;
}

/** Makes the URL of a page of the web interface. @param path from the root, such as `/ui/approvals` */
export type WebUrl = (path: string) => Promise<string>;

const ON_THE_PAGE = "Only the page decides: no answer that you give here does.";

/** The approvals and interruptions for which a run waits, as far as its answer lists them. */
export async function pendingDecisions(run: Run, webUrl: WebUrl): Promise<PendingDecision[]> {
  const { id: runId, workflow_id: workflow, approvals = [], interruptions = [] } = run;
  const subject = workflow === null ? "A run of a single step" : `A run of the workflow ${workflow}`;
  const asked = [
    ...approvals.map(({ id, message }) => ({
      id,
      path: `/ui/approvals/${id}`,
      message: `${subject} needs an approval: ${visibleText(message)}`,
    })),
    ...interruptions
      .filter(({ waiting }) => waiting)
      .map(({ id, step_id: step }) => ({
        id,
        path: `/ui/runs/${runId}`,
        message: `${subject} was interrupted in the step "${step}", and nobody knows whether its effect happened.`,
      })),
  ];
  return Promise.all(
    asked.map(async ({ id, path, message }) => ({
      id,
      message: `${message}\n\n${ON_THE_PAGE}`,
      url: await webUrl(path),
    })),
  );
}

/** Decisions as requests that show their pages. A key stands for one request as long as the task exists. */
export const urlRequests = (decisions: readonly PendingDecision[]): InputRequests =>
  Object.fromEntries(
    decisions.map(({ id, message, url }) => [
      `${id}.${shortHash(JSON.stringify([message, url]))}`,
      inputRequired.elicitUrl({ message, url }),
    ]),
  );
