/** Users, their roles and sessions, and how they sign in. */
import { z } from "zod";
import { Scope } from "./actor.ts";
import { canonicalAddress, checkMailAddress } from "./mail-address.ts";
import { text, timestamp } from "./text.ts";

/** In ascending order: each role includes those before it. */
export const Role = z.enum(["viewer", "editor", "admin"]).meta({
  description: "viewer reads; editor also writes, publishes, runs and approves; admin may do everything.",
  example: "editor",
});
export type Role = z.infer<typeof Role>;

/** The role of a user in the default project, or none there; an admin is one in every project. */
export const UserRole = z.enum(["member", ...Role.options]).meta({
  description:
    "viewer reads; editor also writes, publishes, runs and approves; admin may do everything. `member`: only what the roles in projects allow.",
  example: "editor",
});
export type UserRole = z.infer<typeof UserRole>;

/** The scopes that each role grants. They also limit the scopes of the user's API keys. */
export const ROLE_SCOPES: Readonly<Record<UserRole, readonly Scope[]>> = {
  member: [],
  viewer: ["read"],
  editor: ["read", "write", "publish", "run", "approve"],
  admin: ["read", "write", "publish", "run", "approve", "admin"],
};

export const AuthMode = z.enum(["built-in", "cognito", "oidc"]).meta({
  description:
    "How users sign in: with an e-mail address and a password, with AWS Cognito behind a load balancer, or with an OpenID Connect provider.",
  example: "built-in",
});
export type AuthMode = z.infer<typeof AuthMode>;

export const UserStatus = z.enum(["invited", "active", "deactivated"]).meta({
  description:
    "`invited`: has not accepted the invitation. `deactivated`: can't sign in, and their API keys are refused.",
  example: "active",
});
export type UserStatus = z.infer<typeof UserStatus>;

/** The addresses that releases before the rule for all scripts accepted. Users may have one that the rule refuses. */
const EARLIER = z.email().max(254);

const DESCRIPTION = {
  description: "An e-mail address; case is ignored, and the domain is stored in ASCII.",
  example: "ada@example.com",
  type: "string",
} as const;

/**
 * The e-mail address of a new user as it is compared and stored: trimmed, and in its canonical form. The rule refuses U+212A (the
 * Kelvin sign) before the @: its lower case is a k, and so another person's address.
 */
export const NewEmail = z
  .string()
  .trim()
  .check(checkMailAddress)
  .overwrite(canonicalAddress)
  .meta(DESCRIPTION);

/** The e-mail address of somebody who may be a user already, such as one who signs in, in the form of `NewEmail`. */
export const Email = z
  .string()
  .trim()
  .check((ctx) => {
    if (!EARLIER.safeParse(ctx.value).success) checkMailAddress(ctx);
  })
  .overwrite(canonicalAddress)
  .meta(DESCRIPTION);

export const Password = z.string().min(1).max(256).meta({
  description:
    "At least 12 characters, or 8 with upper case, lower case, a number and a symbol. Common passwords are refused.",
  example: "correct horse battery",
});

export const UserIdRef = text(100, 1).meta({
  description: "The user's id, from list_users.",
  example: "usr_8dkq2m0sfj3a",
});

const userFields = {
  id: z.string().meta({ example: "usr_8dkq2m0sfj3a" }),
  email: z.string().meta({ example: "ada@example.com" }),
  role: UserRole,
  verified: z.boolean().meta({
    description: "Whether the address is verified, by a link in a mail or by the identity provider.",
    example: true,
  }),
};

export const User = z
  .strictObject({
    ...userFields,
    status: UserStatus,
    role_by: z.enum(["sign_on", "default"]).nullable().meta({
      description:
        "Where the role comes from. `sign_on`: the identity provider's groups or MILLRACE_ADMIN_EMAILS; `default`: the configured default role; null: an admin here.",
      example: null,
    }),
    created_at: timestamp,
    created_by: z.string().meta({ example: "ann@example.com" }),
    last_login_at: timestamp.nullable().meta({ description: "When they last signed in." }),
  })
  .meta({ id: "User", description: "A user." });
export type User = z.infer<typeof User>;

export const Session = z
  .strictObject({
    id: z.string().meta({ example: "ses_8dkq2m0sfj3a" }),
    current: z.boolean().meta({ description: "Whether it is the session of this request.", example: true }),
    client: z
      .string()
      .meta({ description: "The browser, as it identified itself.", example: "Firefox 145 on Linux" }),
    address: z
      .string()
      .meta({ description: "The IP address that it was started from.", example: "192.0.2.7" }),
    created_at: timestamp,
    seen_at: timestamp.meta({ description: "When it was last used, accurate to a minute." }),
    expires_at: timestamp.meta({ description: "When it ends, even if it is used." }),
  })
  .meta({ id: "Session", description: "A signed-in browser." });
export type Session = z.infer<typeof Session>;

export const SessionIdRef = text(100, 1).meta({
  description: "The session's id, from list_sessions.",
  example: "ses_8dkq2m0sfj3a",
});

export const SessionsEnded = z
  .strictObject({ ended: z.int().meta({ description: "Number of sessions that were ended.", example: 1 }) })
  .meta({ id: "SessionsEnded", description: "The sessions that were ended." });

/** The signed-in user, with what the web interface needs to know. */
export const SessionInfo = z
  .strictObject({
    user: z.strictObject({
      ...userFields,
      scopes: z.array(Scope).meta({ description: "What the role grants.", example: ["read"] }),
    }),
    session: Session,
    mode: AuthMode,
    version: z.string().meta({ description: "The version of Millrace.", example: "0.1.0" }),
    mail: z
      .boolean()
      .meta({ description: "Whether mail can be sent; if not, admins pass links on.", example: false }),
    oauth: z.boolean().meta({
      description: "Whether applications can connect by the URL alone, by signing in.",
      example: true,
    }),
    mcp_url: z.url().meta({
      description: "Base URL for agents, without /mcp or /sse.",
      example: "http://127.0.0.1:8000",
    }),
  })
  .meta({ id: "SessionInfo", description: "The signed-in user and session." });
export type SessionInfo = z.infer<typeof SessionInfo>;

export const McpCheck = z
  .strictObject({
    status: z.enum(["ok", "warning", "unchecked"]).meta({
      description: "`unchecked`: the URL can't be reached from the machine of the server.",
      example: "ok",
    }),
    detail: z.string().meta({
      description: "What was found.",
      example: "https://example.com: /mcp, /sse and /messages lead to the MCP server",
    }),
    fix: z.string().nullable().meta({ description: "What the operator can do about it.", example: null }),
  })
  .meta({ id: "McpCheck", description: "Whether clients reach the MCP server at its configured URL." });

/** Public: readable without signing in. */
export const SignInOptions = z
  .strictObject({
    mode: AuthMode,
    setup: z
      .boolean()
      .meta({ description: "Whether the first admin account must be created.", example: false }),
    mail: z
      .boolean()
      .meta({ description: "Whether a forgotten password can be reset by mail.", example: true }),
  })
  .meta({ id: "SignInOptions", description: "How to sign in here." });
export type SignInOptions = z.infer<typeof SignInOptions>;

export const LinkKind = z.enum(["setup", "invitation", "reset", "verification"]).meta({
  description: "What a link is for.",
  example: "invitation",
});
export type LinkKind = z.infer<typeof LinkKind>;
