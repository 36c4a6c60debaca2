/** The results as text. */
import { kilobytes, median, table } from "../support/table.ts";
import { tokens } from "./metrics.ts";
import type { Verdict } from "./trial.ts";

const draftText = ({ drafts, firstDraftValid }: Verdict): string =>
  firstDraftValid === undefined ? "none" : `${drafts}, first ${firstDraftValid ? "valid" : "invalid"}`;

/** One result in a few lines. */
export const formatVerdict = (verdict: Verdict): string =>
  [
    `${verdict.task}: ${verdict.success ? "solved" : `not solved. ${verdict.reason}`}`,
    `${verdict.calls} calls, ${kilobytes(verdict.read)} read (${tokens(verdict.read)} tokens), drafts: ${draftText(verdict)}, ` +
      `effects before publishing: ${verdict.effectsBeforePublishing}`,
  ].join("\n");

const share = (those: readonly Verdict[], what: (verdict: Verdict) => boolean): string =>
  `${those.filter(what).length} of ${those.length}`;

/** All results as a Markdown table, with a line for all of them. */
export function formatVerdicts(verdicts: readonly Verdict[]): string {
  const middle = (value: (verdict: Verdict) => number): number => median(verdicts.map(value));
  const drafted = verdicts.filter(({ firstDraftValid }) => firstDraftValid !== undefined);
  const rows = verdicts.map((verdict) => [
    verdict.task,
    verdict.success
      ? "yes"
      : `no: ${verdict.reason?.replaceAll(/\s+/g, " ").replaceAll("|", "/").slice(0, 200)}`,
    String(verdict.calls),
    kilobytes(verdict.read),
    String(tokens(verdict.read)),
    draftText(verdict),
    String(verdict.effectsBeforePublishing),
  ]);
  rows.push([
    "all (medians)",
    share(verdicts, ({ success }) => success),
    String(middle(({ calls }) => calls)),
    kilobytes(middle(({ read }) => read)),
    String(tokens(middle(({ read }) => read))),
    `first valid: ${share(drafted, ({ firstDraftValid }) => firstDraftValid === true)}`,
    String(verdicts.reduce((sum, { effectsBeforePublishing: count }) => sum + count, 0)),
  ]);
  return table(["task", "solved", "calls", "read", "tokens", "drafts", "effects before publishing"], rows);
}
