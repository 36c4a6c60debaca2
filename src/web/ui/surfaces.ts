import * as texts from "#texts/ui";
import type { Surface } from "../../../schemas/actor.ts";

/** The labels of the interfaces through which requests arrive. */
export const SURFACE_LABELS: Readonly<Record<Surface, string>> = {
  web: texts.surface({ surface: "web" }),
  rest: texts.surface({ surface: "rest" }),
  mcp: texts.surface({ surface: "mcp" }),
  cli: texts.surface({ surface: "cli" }),
};

/** @returns the API key, where one was used, and the client program: "ci · curl 8.5" */
export const describeClient = ({
  surface,
  key,
  client,
}: {
  surface: Surface;
  key: string | null;
  client: string;
}): string => [surface === "web" || surface === "cli" ? null : key, client].filter(Boolean).join(" · ");
