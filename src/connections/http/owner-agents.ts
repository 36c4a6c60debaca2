/**
 * One agent for each owner and set of rules. A connection that was opened under other rules is never used, and owners share
 * no connections. They share the threads that look names up in turns: a name whose server never answers occupies its thread
 * for many seconds.
 */
import { LRUCache } from "lru-cache";
import type { Dispatcher } from "undici";
import { createFairPool } from "../fair-pool.ts";
import { createGuardedAgent, type Egress, type HostResolver, systemResolve } from "./agent.ts";
import type { HttpRules } from "./rules.ts";

/** Number of names that are looked up at a time: libuv uses half of its four threads for it. */
const LOOKUPS = 2;
/** Number of agents that are kept. The connections of a dropped agent close when they are idle. */
const MAX_AGENTS = 1_000;

/** Returns a function that makes the agent of an owner under rules. */
export function ownerAgents(
  egress: Egress,
  resolver: HostResolver = systemResolve,
): (owner: string, rules: HttpRules) => Dispatcher {
  const lookups = createFairPool(LOOKUPS);
  const agents = new LRUCache<string, Dispatcher>({ max: MAX_AGENTS });
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

  return (owner, rules) => {
    const key = `${rules.key}\n${owner}`;
    const known = agents.get(key);
    if (known !== undefined) return known;
    const agent = createGuardedAgent(rules, resolverOf(owner), egress);
    agents.set(key, agent);
    return agent;
  };
}
