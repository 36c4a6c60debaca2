/** The projects and limits of a key; nothing for a key without them. */
import { Text } from "@mantine/core";
import * as texts from "#texts/keys";
import type { ApiKey } from "../../../schemas/api-key.ts";

type Kind = "projects" | keyof NonNullable<ApiKey["limits"]>;

const namesText = (kind: Kind, names: readonly string[]): string =>
  texts.areaNames({ kind, names: names.join(", ") });

export function KeyAreaText({ apiKey: { projects, limits } }: { apiKey: ApiKey }) {
  const parts = [
    ...(projects === undefined ? [] : [namesText("projects", projects)]),
    ...Object.entries(limits ?? {}).map(([kind, names]) => namesText(kind as Kind, names ?? [])),
  ];
  if (parts.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      {texts.area({ limits: parts.join("; ") })}
    </Text>
  );
}
