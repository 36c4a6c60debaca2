/** The tables of keys, people and their sessions. */
import type { Generated } from "kysely";
import type { LinkKind, Role, UserStatus } from "../../schemas/user.ts";

export interface AccountSchema {
  api_keys: {
    id: string;
    digest: Buffer;
    last_four: string;
    name: string;
    owner: string;
    scopes: string;
    lineage: string;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
    revoked_at: string | null;
  };
  users: {
    id: string;
    email: string;
    first: number | null;
    role: Role;
    status: UserStatus;
    password_hash: string | null;
    /** The source of the role, when no admin has set it. */
    role_by: "sign_on" | "default" | null;
    verified_at: string | null;
    created_at: string;
    created_by: string;
    last_login_at: string | null;
  };
  sessions: {
    id: string;
    digest: Buffer;
    user_id: string;
    created_at: string;
    seen_at: string;
    expires_at: string;
    client: string;
    address: string;
    /** 1 for a login of an identity provider, whose row outlives the session. */
    external: number;
    ended_at: string | null;
    sealed: Generated<Buffer | null>;
    claims_at: Generated<string | null>;
  };
  identities: { issuer: string; subject: string; user_id: string; created_at: string };
  account_links: {
    digest: Buffer;
    kind: LinkKind;
    user_id: string | null;
    created_at: string;
    expires_at: string | null;
    used_at: string | null;
  };
}
