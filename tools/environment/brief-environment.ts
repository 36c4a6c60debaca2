/** The environment as MCP shows it unless `fields` names its parts: without what is as in most installations. */
import { omit } from "../../src/core/omit.ts";

type Environment = Readonly<Record<string, unknown>>;
type Named = Readonly<Record<string, unknown>>;
interface Limit {
  most: number;
  left: number;
}

/** Connections of which most have no limit of concurrent uses. */
const LIMITED = ["databases", "models", "mcp_servers"];

/** @returns without limits of which more than half is left, and without the absence of limits of connections */
export function briefEnvironment({ your_limits: limits = [], ...environment }: Environment): Environment {
  const near = (limits as readonly Limit[]).filter(({ most, left }) => left * 2 <= most);
  const connections = LIMITED.filter((name) => name in environment).map((name) => [
    name,
    (environment[name] as readonly Named[]).map((one) =>
      one["concurrency"] === null ? omit(one, ["concurrency"]) : one,
    ),
  ]);
  return {
    ...environment,
    ...Object.fromEntries(connections),
    ...(near.length > 0 && { your_limits: near }),
  };
}
