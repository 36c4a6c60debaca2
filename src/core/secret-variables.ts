/** The variables that a configuration names: everything that holds a secret. */
import type { Config } from "../../schemas/config.ts";

export interface NamedVariable {
  /** The entry that names it, such as `models: writer`. */
  entry: string;
  variable: string;
  /** `secret`: an entry of `secrets`, which http steps send; `credential`: what a connection logs in with. */
  kind: "secret" | "credential";
}

type NamingParts = Partial<
  Pick<Config, "databases" | "models" | "mcp_servers" | "secrets" | "authentication" | "chats">
>;

/** Returns the variables that a configuration names, with the entries that name them. */
export function namedVariables(config: NamingParts): NamedVariable[] {
  const {
    databases = [],
    models = [],
    mcp_servers: servers = [],
    secrets = [],
    authentication,
    chats = [],
  } = config;
  return [
    ...databases.flatMap(({ name, password_var }) => credential(`databases: ${name}`, password_var)),
    ...databases.flatMap(({ name, roles = [] }) =>
      roles.flatMap((role) => credential(`databases: ${name}, role ${role.name}`, role.password_var)),
    ),
    ...models.flatMap(({ name, key_var }) => credential(`models: ${name}`, key_var)),
    ...servers.flatMap(({ name, key_var, env = {} }) =>
      credential(`mcp_servers: ${name}`, key_var, ...Object.values(env)),
    ),
    ...secrets.map(({ name, key_var: variable }): NamedVariable => ({
      entry: `secrets: ${name}`,
      variable,
      kind: "secret",
    })),
    ...chats.flatMap((chat) =>
      credential(
        `chats: ${chat.name}`,
        ...(chat.type === "slack" ? [chat.bot_token_var, chat.signing_secret_var] : [chat.webhook_url_var]),
      ),
    ),
    ...credential("authentication.basic", authentication?.basic?.smtp_password_var),
  ];
}

const credential = (entry: string, ...variables: readonly (string | undefined)[]): NamedVariable[] =>
  variables.flatMap((variable) => (variable === undefined ? [] : [{ entry, variable, kind: "credential" }]));
