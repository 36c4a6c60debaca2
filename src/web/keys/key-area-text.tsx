/** The projects and limits of a key; nothing for a key without them. */
import { Text } from "@mantine/core";
import { Fragment } from "react";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { WorkflowNames } from "../workflows/names.tsx";

export function KeyAreaText({ apiKey: { projects, limits } }: { apiKey: ApiKey }) {
  const parts = [
    ...(projects === undefined ? [] : [{ kind: "projects", names: projects }]),
    ...Object.entries(limits ?? {}).map(([kind, names = []]) => ({ kind, names })),
  ];
  if (parts.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      Only{" "}
      {parts.map(({ kind, names }, index) => (
        <Fragment key={kind}>
          {index > 0 && "; "}
          {kind}: {kind === "workflows" ? <WorkflowNames ids={names} /> : names.join(", ")}
        </Fragment>
      ))}
    </Text>
  );
}
