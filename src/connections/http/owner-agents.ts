/**
 * One agent for each owner. Owners share no connections, and the threads that look names up in turns: a name whose server
 * never answers occupies its thread for many seconds.
 */
import { LRUCache } from "lru-cache";
import type { Agent } from "undici";
import { createFairPool } from "../fair-pool.ts";
import { createGuardedAgent, type HostResolver, systemResolve } from "./agent.ts";
import type { HostPort } from "./hosts.ts";

/** Number of names that are looked up at a time: libuv uses half of its four threads for it. */
const LOOKUPS = 2;
/** Number of owners whose agents are kept. The connections of a dropped agent close when they are idle. */
const MAX_AGENTS = 1_000;

/** Returns a function that makes the agent of an owner, with the rules of `createGuardedAgent`. */
export function ownerAgents(
  isAllowed: (place: HostPort) => boolean,
  resolver: HostResolver = systemResolve,
): (owner: string) => Agent {
  const lookups = createFairPool(LOOKUPS);
  const agents = new LRUCache<string, Agent>({ max: MAX_AGENTS });
  // A lookup can't be stopped, so its place is not free before it ends.
  const { signal } = new AbortController();

  const resolverOf =
    (owner: string): HostResolver =>
    (hostname, done) => {
      const lookUp = async (): Promise<void> => {
        const { promise, resolve } = Promise.withResolvers<void>();
        resolver(hostname, (error, addresses) => {
          resolve();
          done(error, addresses);
        });
        await promise;
      };
      void lookups.run({ owner, signal }, lookUp);
    };

  return (owner) => {
    const known = agents.get(owner);
    if (known !== undefined) return known;
    const agent = createGuardedAgent(isAllowed, resolverOf(owner));
    agents.set(owner, agent);
    return agent;
  };
}
