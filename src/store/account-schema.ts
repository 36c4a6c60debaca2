/** The tables of keys, people and their sessions. */
import type { Generated } from "kysely";
import type { FactorChallengeKind } from "../core/factor-ports.ts";
import type { FactorKind } from "../../schemas/second-factor.ts";
import type { ViewPage } from "../../schemas/bookmarks.ts";
import type { LinkKind, UserRole, UserStatus } from "../../schemas/user.ts";

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
    /** The ids of its projects, as a JSON list; null for the default one. */
    projects: string | null;
    /** Whether it has the scope `publish`, which `scopes` never names; null for older keys, where `write` includes it. */
    publish: number | null;
    /** What it is limited to, as JSON; null for nothing. */
    limits: string | null;
    /** The application that an authorization belongs to, as JSON; null for a key. */
    application: Generated<string | null>;
    /** Until when the application can renew its token; null for a key. */
    renewable_until: Generated<string | null>;
  };
  users: {
    id: string;
    email: string;
    first: number | null;
    role: UserRole;
    status: UserStatus;
    password_hash: string | null;
    /** The source of the role, when no admin has set it. */
    role_by: "sign_on" | "default" | null;
    verified_at: string | null;
    created_at: string;
    created_by: string;
    last_login_at: string | null;
  };
  /** When people are away, and who decides approvals in their place; one for each person. */
  absences: { email: string; starts_at: string; ends_at: string; substitute: string; set_at: string };
  /** Favourite workflows of people. */
  favorites: { owner: string; workflow_id: string; created_at: string };
  /** Filters of lists that people have saved under a name. */
  saved_views: { owner: string; page: ViewPage; name: string; query: string; created_at: string };
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
    /** When the person last proved who they are: at the sign-in, or again. */
    confirmed_at: Generated<string | null>;
  };
  second_factors: {
    id: string;
    user_id: string;
    kind: FactorKind;
    name: string;
    created_at: string;
    last_used_at: string | null;
    counter: number;
    sealed: Buffer | null;
    credential_id: string | null;
    public_key: Buffer | null;
    /** As a JSON list; null for an authenticator app. */
    transports: string | null;
  };
  recovery_codes: { digest: Buffer; user_id: string; used_at: string | null };
  factor_challenges: {
    digest: Buffer;
    kind: FactorChallengeKind;
    user_id: string;
    holder: string;
    sealed: Buffer | null;
    expires_at: string;
  };
  oauth_states: {
    model: string;
    digest: Buffer;
    payload: string;
    grant_id: string | null;
    consumed_at: number | null;
    expires_at: number;
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
