import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { iso } from "../../src/core/clock.ts";
import { durationMs } from "../../src/core/duration.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

interface Published {
  id: string;
  version: number | null;
  definition: Record<string, unknown> | null;
  /** Who gets the alerts. */
  owner: string;
}

/**
 * Stores within which time the published version must succeed, or removes it if that version does not say. Its time begins
 * now, unless nothing about it has changed: publishing again is no success.
 */
export async function saveExpectation(
  ctx: Pick<ToolContext, "now">,
  tx: Pick<Writers, "expectations">,
  { id, version, definition, owner }: Published,
): Promise<void> {
  const expected = TOP_FIELDS.must_succeed.parse(definition?.["must_succeed"]);
  if (version === null || expected === undefined) return tx.expectations.remove(id);
  const { every, mail = [] } = expected;
  const before = await tx.expectations.find(id);
  const isSame = before?.every === every && before.version === version;
  await tx.expectations.save({
    workflowId: id,
    version,
    every,
    mail,
    publishedBy: owner,
    since: isSame ? before.since : iso(ctx.now()),
    dueAt: isSame ? before.dueAt : iso(ctx.now() + durationMs(every)),
    succeededAt: before?.succeededAt ?? null,
    overdueSince: isSame ? before.overdueSince : null,
  });
}
