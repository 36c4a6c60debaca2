/** The changes between two versions: name, description and tags in words, the definition as a diff. */
import { List, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import type { WrittenVersion } from "../../../schemas/workflow.ts";
import { toText } from "../editor/format.ts";
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
        Changes from version {from} to {to}
      </Title>
      <QueryContent query={before}>
        {(older) => (
          <QueryContent query={after}>{(newer) => <Changes older={older} newer={newer} />}</QueryContent>
        )}
      </QueryContent>
    </Stack>
  );
}

const writtenText = async ({ definition, definition_text: text }: WrittenVersion): Promise<string> =>
  text ?? (await toText(definition ?? null, "yaml"));

function Changes({ older, newer }: { older: WrittenVersion; newer: WrittenVersion }) {
  const texts = useQuery({
    queryKey: ["workflows", older.workflow_id, "diff", older.version, newer.version],
    queryFn: () => Promise.all([older, newer].map(writtenText)),
    staleTime: Infinity,
  });
  const changes = describeChanges(older, newer);
  return (
    <>
      {changes.length > 0 && (
        <List size="sm" aria-label="Changed details">
          {changes.map((sentence) => (
            <List.Item key={sentence} style={{ overflowWrap: "anywhere" }}>
              {sentence}
            </List.Item>
          ))}
        </List>
      )}
      <QueryContent query={texts}>
        {([before = "", after = ""]) => (
          <Suspense fallback={<LoadingSkeleton rows={6} />}>
            <DefinitionDiff
              before={before}
              after={after}
              beforeLabel={`Version ${older.version}`}
              afterLabel={`Version ${newer.version}`}
            />
          </Suspense>
        )}
      </QueryContent>
    </>
  );
}
