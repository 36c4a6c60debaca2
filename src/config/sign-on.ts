/** The environment variables of the sign-on through an identity provider, checked only if its mode is used. */
import { z } from "zod";
import { isLoopback } from "../core/hosts.ts";
import { ConfigError } from "./config-file.ts";
import type { Settings } from "./environment.ts";

/** A URL that keys and tokens come from, so nobody on the network may change its answers. */
const SafeUrl = z.url({ protocol: /^https?$/ }).refine(
  (text) => {
    // z.url() has already reported an invalid URL.
    if (!URL.canParse(text)) return true;
    const { protocol, hostname } = new URL(text);
    return protocol === "https:" || isLoopback(hostname);
  },
  { message: "must begin with https:// (http:// is allowed only on this machine, for tests)" },
);

/** The variable of the client's secret; not set for a public client, which uses only PKCE. */
export const OIDC_CLIENT_SECRET = "MILLRACE_OIDC_CLIENT_SECRET";

/** The variables, as fields of the environment's schema. */
export const SignOnVariables = {
  MILLRACE_COGNITO_USER_POOL_ID: z
    .string()
    .regex(
      /^[a-z]{2}(?:-[a-z]+)+-\d+_[A-Za-z0-9]+$/,
      "must be the id of a user pool, such as eu-central-1_AbCdEfGhI",
    )
    .optional(),
  MILLRACE_COGNITO_CLIENT_ID: z.string().optional(),
  MILLRACE_COGNITO_DOMAIN: SafeUrl.optional(),
  MILLRACE_COGNITO_KEYS_URL: SafeUrl.optional(),
  MILLRACE_ALB_ARN: z
    .string()
    .regex(
      /^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:\d{12}:loadbalancer\/app\/[^/\s]+\/[0-9a-f]+$/,
      "must be the ARN of an Application Load Balancer: arn:aws:elasticloadbalancing:<region>:<account>:loadbalancer/app/<name>/<id>",
    )
    .optional(),
  MILLRACE_ALB_KEYS_URL: SafeUrl.optional(),
  MILLRACE_OIDC_ISSUER: SafeUrl.optional(),
  MILLRACE_OIDC_CLIENT_ID: z.string().optional(),
  [OIDC_CLIENT_SECRET]: z.string().optional(),
};
const Variables = z.object(SignOnVariables);
export type SignOnVariables = z.output<typeof Variables>;

/** Settings of `--auth-mode cognito`. */
export interface CognitoSettings {
  userPoolId: string;
  clientId: string;
  albArn: string;
  /** URL of the load balancer's public keys; undefined for the default of the region. */
  albKeysUrl: URL | undefined;
  /** URL of the user pool's public keys; undefined for the default. */
  poolKeysUrl: URL | undefined;
  /** The domain of the user pool, where sign-out continues; undefined if it is not set. */
  domain: URL | undefined;
}

/** @throws ConfigError that names each missing variable and its purpose */
export function cognitoSettings(variables: SignOnVariables): CognitoSettings {
  expectAll("cognito", {
    MILLRACE_COGNITO_USER_POOL_ID: [
      variables.MILLRACE_COGNITO_USER_POOL_ID,
      "the user pool that people sign in with, such as eu-central-1_AbCdEfGhI",
    ],
    MILLRACE_COGNITO_CLIENT_ID: [variables.MILLRACE_COGNITO_CLIENT_ID, "the app client of the load balancer"],
    MILLRACE_ALB_ARN: [
      variables.MILLRACE_ALB_ARN,
      "the load balancer in front of Millrace. Without it, any load balancer of the region could sign people in, because all of them use the same keys",
    ],
  });
  return {
    userPoolId: variables.MILLRACE_COGNITO_USER_POOL_ID!,
    clientId: variables.MILLRACE_COGNITO_CLIENT_ID!,
    albArn: variables.MILLRACE_ALB_ARN!,
    albKeysUrl: urlOf(variables.MILLRACE_ALB_KEYS_URL),
    poolKeysUrl: urlOf(variables.MILLRACE_COGNITO_KEYS_URL),
    domain: urlOf(variables.MILLRACE_COGNITO_DOMAIN),
  };
}

/**
 * Returns warnings about settings that are valid but risky.
 * @param host the address that the server listens on
 */
export function cognitoWarnings(
  host: string,
  { baseUrl, trustedProxies, signOn }: Pick<Settings, "baseUrl" | "trustedProxies" | "signOn">,
): string[] {
  const bypassable = !isLoopback(host) && trustedProxies.length === 0;
  return [
    bypassable &&
      `the server listens on ${host}, so clients may bypass the load balancer and its sign-in. Allow only the load balancer to connect (security group), and add its addresses to MILLRACE_TRUSTED_PROXIES`,
    baseUrl === undefined &&
      "MILLRACE_BASE_URL is not set: sign-out cannot return to Millrace, and links contain the name of this machine",
    signOn.MILLRACE_COGNITO_DOMAIN === undefined &&
      "MILLRACE_COGNITO_DOMAIN is not set: /logout ends only the session of the load balancer, and the user pool signs the same person in again",
  ].filter((warning) => warning !== false);
}

/** Settings of `--auth-mode oidc`. */
export interface OidcSettings {
  issuer: URL;
  clientId: string;
}

/** @throws ConfigError that names each missing variable */
export function oidcSettings(variables: SignOnVariables): OidcSettings {
  expectAll("oidc", {
    MILLRACE_OIDC_ISSUER: [
      variables.MILLRACE_OIDC_ISSUER,
      "the provider's issuer URL, below which /.well-known/openid-configuration is",
    ],
    MILLRACE_OIDC_CLIENT_ID: [variables.MILLRACE_OIDC_CLIENT_ID, "the id of Millrace at the provider"],
  });
  return {
    issuer: new URL(variables.MILLRACE_OIDC_ISSUER!),
    clientId: variables.MILLRACE_OIDC_CLIENT_ID!,
  };
}

const urlOf = (text: string | undefined): URL | undefined => (text === undefined ? undefined : new URL(text));

function expectAll(
  mode: string,
  required: Readonly<Record<string, readonly [value: string | undefined, purpose: string]>>,
): void {
  const missing = Object.entries(required).filter(([, [value]]) => value === undefined);
  if (missing.length === 0) return;
  throw new ConfigError(
    missing.map(([name, [, purpose]]) => `environment: --auth-mode ${mode} needs ${name}: ${purpose}`),
  );
}
