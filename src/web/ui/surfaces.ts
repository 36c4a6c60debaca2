import type { Surface } from "../../../schemas/actor.ts";

/** The ways in, as people call them. */
export const SURFACE_LABELS: Readonly<Record<Surface, string>> = {
  web: "Web interface",
  rest: "REST API",
  mcp: "MCP",
  cli: "Command line",
};

/** Through what somebody did something: the key where there was one, and the program. */
export const describeClient = ({
  surface,
  key,
  client,
}: {
  surface: Surface;
  key: string | null;
  client: string;
}): string => [surface === "web" || surface === "cli" ? null : key, client].filter(Boolean).join(" · ");
