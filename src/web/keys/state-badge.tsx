/** The state of a key or of an application's access; nothing for an active one. */
import { Badge } from "@mantine/core";
import type { ApiKeyState } from "../../../schemas/api-key.ts";

const STATES: Readonly<Record<ApiKeyState, { color: string; label: string }>> = {
  active: { color: "green", label: "active" },
  expiring: { color: "orange", label: "expires soon" },
  expired: { color: "gray", label: "expired" },
  revoked: { color: "gray", label: "revoked" },
  owner_inactive: { color: "gray", label: "owner deactivated" },
  owner_unknown: { color: "gray", label: "owner unknown" },
};

export function StateBadge({ state }: { state: ApiKeyState }) {
  if (state === "active") return null;
  const { color, label } = STATES[state];
  return (
    <Badge variant="light" color={color} tt="none" styles={{ label: { color: "var(--mantine-color-text)" } }}>
      {label}
    </Badge>
  );
}
