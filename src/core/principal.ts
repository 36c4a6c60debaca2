/** Who acts: the caller of a request with its access, and the program that it uses. */
import type { Scope, Surface } from "../../schemas/actor.ts";
import type { Access } from "./access.ts";

/**
 * The caller of a request and its scopes. A caller is a valid key, the session of a user, or the operator on the command
 * line, who has access to the state directory itself (no listener authenticates anyone as the operator).
 */
export interface Principal {
  kind: "key" | "session" | "operator";
  /** The key (`key_…`), the session (`ses_…`), or `command-line`. */
  keyId: string;
  /** The key's name; `browser` for a session. */
  keyName: string;
  /** The user's e-mail address, or `operator` for keys made on the command line. */
  owner: string;
  /** What the caller can do at all: its scopes in every project together. */
  scopes: ReadonlySet<Scope>;
  /** What it may see and do in each project. */
  access: Access;
  /** Whether the key is the token of an application that a person connected by signing in. */
  application?: boolean | undefined;
  /** Set for somebody who decides an approval without signing in: the way on which the decision came. */
  decides?: DecisionWay | undefined;
  /** The owner of idempotency keys: the same for a key and its rotations; for a session the user's id. */
  lineage: string;
}

/** How somebody decides an approval who has not signed in. */
export type DecisionWay =
  /** By the link that was sent to the owner: it is used up with the decision. */
  | { via: "link"; digest: Buffer; address: string; visitors: number }
  /** By a button in Slack, as the member whose address is the owner's. */
  | { via: "slack"; team: string; member: string };

/** The client program, as it names itself, and the interface that it uses. */
interface Client {
  surface: Surface;
  name: string;
}

export interface Actor {
  principal: Principal;
  client: Client;
}
