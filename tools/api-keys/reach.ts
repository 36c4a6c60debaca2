import type { KeyLimits } from "../../src/core/access.ts";
import type { Connections } from "../../src/core/connections.ts";
import type { HttpPolicy } from "../../src/core/http-policy.ts";
import type { Reach } from "../../src/core/key-description.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** What the configuration says about http, without settings that have their defaults. */
interface HttpSettings {
  allowed_hosts: readonly string[];
  public?: HttpPolicy["public"];
  public_hosts?: readonly string[];
  policy?: HttpPolicy;
}

/** What runs of a project can reach, for the caller of a key with these limits. */
export async function reachOf(
  { engine }: Pick<ToolContext, "engine">,
  project: string,
  limits: KeyLimits | null,
): Promise<Reach> {
  const connections = await engine.connectionsOf(project, limits);
  const { databases, models, mcpServers, http, mailer, chats } = connections;
  return {
    databases: databases.list().map(({ name, access }) => ({ name, writable: access === "read-write" })),
    models: models.list().map(({ name }) => name),
    mcpServers: mcpServers.list().map(({ name }) => {
      const { tools } = (connections.configurationOf(`mcp_server:${name}`) ?? {}) as { tools?: string[] };
      return { name, tools: tools ?? null };
    }),
    secrets: http.secrets().map(({ name, hosts }) => ({ name, hosts })),
    mailDomains: mailer.unavailableReason() === null ? mailer.allowedDomains() : [],
    chats: chats.list().map(({ name }) => name),
    ...hostsOf(connections),
  };
}

/** Both the configuration and the project limit the hosts, so the stricter policy holds. */
function hostsOf(connections: Connections): Pick<Reach, "publicHttp" | "publicHosts" | "privateHosts"> {
  const settings = (connections.configurationOf("http") ?? {}) as unknown as HttpSettings;
  const policies = [
    { public: settings.public ?? "any", publicHosts: settings.public_hosts ?? [] },
    ...(settings.policy === undefined ? [] : [settings.policy]),
  ];
  const lists = policies.filter((policy) => policy.public === "list").map((policy) => policy.publicHosts);
  const isNone = policies.some((policy) => policy.public === "none");
  return {
    publicHttp: isNone ? "none" : lists.length > 0 ? "list" : "any",
    publicHosts: lists.at(-1) ?? [],
    privateHosts: settings.policy?.privateHosts ?? settings.allowed_hosts,
  };
}
