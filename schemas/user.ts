/** People who sign in, their sessions, and what each role may do. */
import { z } from "zod";
import { Scope } from "./actor.ts";
import { text, timestamp } from "./text.ts";

/** Each may do what those before it may. */
export const Role = z.enum(["viewer", "editor", "admin"]).meta({
  description: "viewer reads; editor also writes, runs and approves; admin does everything.",
  example: "editor",
});
export type Role = z.infer<typeof Role>;

/** What a role may do; a key's scopes are cut by its owner's. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ["read"],
  editor: ["read", "write", "run", "approve"],
  admin: ["read", "write", "run", "approve", "admin"],
};

export const AuthMode = z.enum(["built-in", "cognito", "oidc"]).meta({
  description:
    "How people sign in: with an address and a password here, by AWS Cognito behind a load balancer, or by an OpenID Connect provider.",
  example: "built-in",
});
export type AuthMode = z.infer<typeof AuthMode>;

export const UserStatus = z.enum(["invited", "active", "deactivated"]).meta({
  description:
    "`invited` until the invitation was taken up; `deactivated`: can't sign in, and the keys are dead.",
  example: "active",
});
export type UserStatus = z.infer<typeof UserStatus>;

/**
 * An address as it is compared and kept: without space around it, in lower case (RFC 5321 lets hosts tell case apart; none
 * does). Of A to Z only: the small form of a letter that looks alike (U+212A, the Kelvin sign) would be somebody else's.
 */
export const Email = z
  .string()
  .transform((address) => address.trim().replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()))
  .pipe(z.email("must be an e-mail address, such as ann@example.com").max(254))
  .meta({
    description: "An e-mail address; upper and lower case are the same.",
    example: "ada@example.com",
    type: "string",
  });

export const Password = z.string().min(1).max(256).meta({
  description:
    "At least 12 characters, or 8 with upper case, lower case, a number and a symbol; no common one.",
  example: "correct horse battery",
});

export const UserIdRef = text(100, 1).meta({
  description: "The user's id, as list_users gives it.",
  example: "usr_8dkq2m0sfj3a",
});

const userNoun = {
  id: z.string().meta({ example: "usr_8dkq2m0sfj3a" }),
  email: z.string().meta({ example: "ada@example.com" }),
  role: Role,
  verified: z.boolean().meta({
    description: "Whether the address was shown to be theirs: by a link in a mail, or by the sign-on.",
    example: true,
  }),
};

export const User = z
  .strictObject({
    ...userNoun,
    status: UserStatus,
    role_by: z.enum(["sign_on", "default"]).nullable().meta({
      description:
        "`sign_on` where the identity provider's groups (or MILLRACE_ADMIN_EMAILS) decide the role, `default` where neither they nor an admin here do; null where an admin here does.",
      example: null,
    }),
    created_at: timestamp,
    created_by: z.string().meta({ example: "ann@example.com" }),
    last_login_at: timestamp.nullable().meta({ description: "When they last signed in." }),
  })
  .meta({ id: "User", description: "Somebody who signs in." });
export type User = z.infer<typeof User>;

export const Session = z
  .strictObject({
    id: z.string().meta({ example: "ses_8dkq2m0sfj3a" }),
    current: z.boolean().meta({ description: "Whether it is the one that asks.", example: true }),
    client: z
      .string()
      .meta({ description: "The browser, as it named itself.", example: "Firefox 145 on Linux" }),
    address: z.string().meta({ description: "Where it was begun from.", example: "192.0.2.7" }),
    created_at: timestamp,
    seen_at: timestamp.meta({ description: "When it was last used, to about a minute." }),
    expires_at: timestamp.meta({ description: "When it ends at the latest." }),
  })
  .meta({ id: "Session", description: "A browser that is signed in." });
export type Session = z.infer<typeof Session>;

export const SessionIdRef = text(100, 1).meta({
  description: "The session's id, as list_sessions gives it.",
  example: "ses_8dkq2m0sfj3a",
});

export const SessionsEnded = z
  .strictObject({ ended: z.int().meta({ description: "How many sessions ended.", example: 1 }) })
  .meta({ id: "SessionsEnded", description: "How many sessions ended." });

/** Who is signed in, and what the interface needs to know. */
export const SessionInfo = z
  .strictObject({
    user: z.strictObject({
      ...userNoun,
      scopes: z.array(Scope).meta({ description: "What the role may do.", example: ["read"] }),
    }),
    session: Session,
    mode: AuthMode,
    version: z.string().meta({ description: "Millrace's own.", example: "0.1.0" }),
    mail: z
      .boolean()
      .meta({ description: "Whether mail can be sent; else links are handed on by hand.", example: false }),
    mcp_url: z.url().meta({
      description: "Where agents connect; /mcp or /sse is added.",
      example: "http://127.0.0.1:8000",
    }),
  })
  .meta({ id: "SessionInfo", description: "Who is signed in." });
export type SessionInfo = z.infer<typeof SessionInfo>;

/** What can be known before anybody has signed in. */
export const SignInOptions = z
  .strictObject({
    mode: AuthMode,
    setup: z.boolean().meta({ description: "Whether the first admin is still to be made.", example: false }),
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
