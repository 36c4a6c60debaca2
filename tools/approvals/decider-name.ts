import { OPERATOR } from "../../schemas/actor.ts";
import type { Principal } from "../../src/core/principal.ts";

/** Who decided. All keys of the command line belong to `operator`, so the name of the key is needed to tell. */
export const deciderName = ({ owner, keyName }: Pick<Principal, "owner" | "keyName">): string =>
  owner === OPERATOR ? `${owner} (${keyName})` : owner;
