/** The state of a key or of an application's access; nothing for an active one. */
import { Badge } from "@mantine/core";
import * as texts from "#texts/keys";
import type { ApiKeyState } from "../../../schemas/api-key.ts";

const COLORS: Readonly<Record<ApiKeyState, string>> = {
  active: "green",
  expiring: "orange",
  expired: "gray",
  revoked: "gray",
  owner_inactive: "gray",
  owner_unknown: "gray",
};

export function StateBadge({ state }: { state: ApiKeyState }) {
  if (state === "active") return null;
  return (
    <Badge
      variant="light"
      color={COLORS[state]}
      tt="none"
      styles={{ label: { color: "var(--mantine-color-text)" } }}
    >
      {texts.state({ state })}
    </Badge>
  );
}
