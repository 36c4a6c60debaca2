/** The rules of second factors: who needs one, how secrets are stored, and for which host passkeys are made. */
import type { AuthMode, UserRole } from "../../schemas/user.ts";
import type { UserRecord } from "../core/account-ports.ts";
import { MINUTE } from "../core/clock.ts";
import type { ProjectRoles } from "../core/project-ports.ts";
import { seal, unseal } from "./sealing.ts";

/** How long a sign-in waits for its second step, and a challenge for its answer, in milliseconds. */
export const STEP_MS = 10 * MINUTE;
/** How long after a sign-in or a confirmation factors can be changed, in milliseconds. */
export const CONFIRMED_MS = 10 * MINUTE;

/** Where passkeys work: the host that they are bound to, and the only origin that may use them (WebAuthn Level 3, 5.1.3). */
export interface RelyingParty {
  id: string;
  origin: string;
}

export interface SecondFactors {
  /** Whether a role of the user, in any project, requires a second factor. */
  isRequired(user: Pick<UserRecord, "role" | "email">): Promise<boolean>;
  /** Whether the user must set up a second factor before anything else. */
  isMissing(user: UserRecord): Promise<boolean>;
  /** Undefined where the base URL has an IP address. */
  relyingParty(): RelyingParty | undefined;
  seal(secret: string): Buffer;
  /** @throws Error if the key of the instance is not the one that sealed it */
  unseal(sealed: Buffer): string;
}

interface Parts {
  mode: AuthMode;
  requiredFor: readonly UserRole[];
  projects: ProjectRoles;
  /** Seals shared secrets; the same on all copies of the server. */
  key: Buffer;
  /** The public base URL. */
  baseUrl: () => string;
}

export function secondFactors({ mode, requiredFor, projects, key, baseUrl }: Parts): SecondFactors {
  const roles = new Set<UserRole>(mode === "built-in" ? requiredFor : []);

  async function isRequired({ role, email }: Pick<UserRecord, "role" | "email">): Promise<boolean> {
    if (roles.size === 0) return false;
    if (roles.has(role)) return true;
    if (await projects.isSingle()) return false;
    return [...(await projects.membershipsOf(email)).values()].some((one) => roles.has(one));
  }

  return {
    isRequired,
    isMissing: async (user) => !user.hasSecondFactor && (await isRequired(user)),
    relyingParty: () => relyingPartyOf(new URL(baseUrl())),
    seal: (secret) => seal(key, secret),

    unseal(sealed) {
      const secret = unseal(key, sealed);
      if (typeof secret !== "string") throw new Error("a second factor was sealed with another key");
      return secret;
    },
  };
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[::1\])$/;
const IP_ADDRESS = /^(?:[\d.]+|\[.*\])$/;

/** Browsers make no passkeys for IP addresses; they reach a server on loopback as `localhost` too. */
function relyingPartyOf({ protocol, hostname, port }: URL): RelyingParty | undefined {
  const id = LOOPBACK.test(hostname) ? "localhost" : hostname;
  if (IP_ADDRESS.test(id)) return undefined;
  return { id, origin: `${protocol}//${id}${port === "" ? "" : `:${port}`}` };
}
