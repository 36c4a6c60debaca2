/** Requests of applications (OAuth clients) that a person decides on the consent page. */
import { z } from "zod";
import { Scope } from "./actor.ts";
import { text, timestamp } from "./text.ts";

export const AuthorizationRequestId = text(100, 1).meta({
  description: "The id of the request, from the address of the consent page.",
  example: "V1StGXR8Z5jdHi6BmyT0k",
});

export const AuthorizationRequest = z
  .strictObject({
    name: z.string().meta({
      description: "What the application calls itself. Nothing proves it.",
      example: "Claude",
    }),
    kind: z.enum(["web", "local", "app"]).meta({
      description:
        "Where the access goes: `web`, a site; `local`, a program on the person's machine; `app`, a program that opens links of a scheme.",
      example: "web",
    }),
    host: z.string().meta({
      description: "The host that gets the access; for `app`, the scheme.",
      example: "claude.ai",
    }),
    published_by: z.string().nullable().meta({
      description: "The host that publishes the description of the application; null if it has none.",
      example: "claude.ai",
    }),
    scopes: z.array(Scope).meta({
      description: "The scopes that it asks for, of those that your roles allow.",
      example: ["read", "run"],
    }),
    projects: z
      .array(z.strictObject({ id: z.string(), name: z.string() }))
      .meta({ description: "The projects that you can grant." }),
    resource: z.string().meta({
      description: "The address that the access is for.",
      example: "https://millrace.example.com/mcp",
    }),
    expires_at: timestamp,
  })
  .meta({ id: "AuthorizationRequest", description: "An application asks for access in your name." });
export type AuthorizationRequest = z.infer<typeof AuthorizationRequest>;

export const AuthorizationDecision = z.strictObject({
  request: AuthorizationRequestId,
  allow: z.boolean().meta({ description: "Whether the application gets access.", example: true }),
  scopes: z
    .array(Scope)
    .max(Scope.options.length)
    .optional()
    .meta({
      description: "What it may do; read is always included. Default: everything that it asks for.",
      example: ["read", "run"],
    }),
  projects: z
    .array(text(200, 1))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: "The ids of its projects. Default: as for a new key.", example: ["finance"] }),
});

export const AuthorizationOutcome = z
  .strictObject({
    continue_at: z.string().meta({
      description: "The path at which the browser goes on to the application.",
      example: "/oauth/authorize/V1StGXR8Z5jdHi6BmyT0k",
    }),
  })
  .meta({ id: "AuthorizationOutcome", description: "The decision is recorded." });
