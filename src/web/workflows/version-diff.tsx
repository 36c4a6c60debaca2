/** The changes between two versions: name, description and tags in words, the definition as a diff. */
import { List, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import * as texts from "#texts/workflows";
import type { WorkflowVersion } from "../../../schemas/workflow.ts";
import { savedText, toText } from "../editor/format.ts";
import { QueryContent, LoadingSkeleton } from "../ui/page.tsx";
import { describeChanges } from "./describe-changes.ts";
import { versionQuery } from "./queries.ts";

const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

interface VersionDiffProps {
  workflowId: string;
  from: number;
  to: number;
}

export function VersionDiff({ workflowId, from, to }: VersionDiffProps) {
  const before = useQuery(versionQuery(workflowId, from));
  const after = useQuery(versionQuery(workflowId, to));
  return (
    <Stack gap="sm" component="section" aria-labelledby="version-changes">
      <Title order={2} size="h4" id="version-changes">
        {texts.changesBetween({ from, to })}
      </Title>
      <QueryContent query={before}>
        {(older) => (
          <QueryContent query={after}>{(newer) => <Changes older={older} newer={newer} />}</QueryContent>
        )}
      </QueryContent>
    </Stack>
  );
}

function Changes({ older, newer }: { older: WorkflowVersion; newer: WorkflowVersion }) {
  const definitions = useQuery({
    queryKey: ["workflows", older.workflow_id, "diff", older.version, newer.version],
    queryFn: () => {
      const versions = [older, newer];
      // With the text of only one of them, all that differs in form would seem to be changed.
      const areKept = versions.every(({ source }) => source !== undefined);
      return Promise.all(
        versions.map((it) => (areKept ? savedText(it, "yaml") : toText(it.definition ?? null, "yaml"))),
      );
    },
    staleTime: Infinity,
  });
  const changes = describeChanges(older, newer);
  return (
    <>
      {changes.length > 0 && (
        <List size="sm" aria-label={texts.changedDetails}>
          {changes.map((sentence) => (
            <List.Item key={sentence} style={{ overflowWrap: "anywhere" }}>
              {sentence}
            </List.Item>
          ))}
        </List>
      )}
      <QueryContent query={definitions}>
        {([before = "", after = ""]) => (
          <Suspense fallback={<LoadingSkeleton rows={6} />}>
            <DefinitionDiff
              before={before}
              after={after}
              beforeLabel={texts.versionLabel({ version: older.version })}
              afterLabel={texts.versionLabel({ version: newer.version })}
            />
          </Suspense>
        )}
      </QueryContent>
    </>
  );
}
