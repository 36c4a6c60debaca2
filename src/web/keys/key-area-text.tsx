/** The projects and limits of a key; nothing for a key without them. */
import { Text } from "@mantine/core";
import type { ApiKey } from "../../../schemas/api-key.ts";

export function KeyAreaText({ apiKey: { projects, limits } }: { apiKey: ApiKey }) {
  const parts = [
    ...(projects === undefined ? [] : [`projects: ${projects.join(", ")}`]),
    ...Object.entries(limits ?? {}).map(([kind, names]) => `${kind}: ${(names ?? []).join(", ")}`),
  ];
  if (parts.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      Only {parts.join("; ")}
    </Text>
  );
}
