/** The environment variables of a sign-on by an identity provider: checked when its mode is asked for. */
import { z } from "zod";
import { isLoopback } from "../core/hosts.ts";
import { ConfigError } from "./config-file.ts";
import type { Settings } from "./environment.ts";

/** Keys and tokens come from there: nobody on the way may change them. */
const SafeUrl = z.url({ protocol: /^https?$/ }).refine(
  (text) => {
    // What is no URL at all was told as that.
    if (!URL.canParse(text)) return true;
    const { protocol, hostname } = new URL(text);
    return protocol === "https:" || isLoopback(hostname);
  },
  { message: "must begin with https:// (http:// only on this machine itself, for tests)" },
);

/** As fields of the environment. */
export const SignOnVariables = {
  MILLRACE_COGNITO_USER_POOL_ID: z
    .string()
    .regex(
      /^[a-z]{2}(?:-[a-z]+)+-\d+_[A-Za-z0-9]+$/,
      "must be a user pool's id such as eu-central-1_AbCdEfGhI",
    )
    .optional(),
  MILLRACE_COGNITO_CLIENT_ID: z.string().optional(),
  MILLRACE_COGNITO_DOMAIN: SafeUrl.optional(),
  MILLRACE_COGNITO_KEYS_URL: SafeUrl.optional(),
  MILLRACE_ALB_ARN: z
    .string()
    .regex(
      /^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:\d{12}:loadbalancer\/app\/[^/\s]+\/[0-9a-f]+$/,
      "must be an Application Load Balancer's ARN, arn:aws:elasticloadbalancing:<region>:<account>:loadbalancer/app/<name>/<id>",
    )
    .optional(),
  MILLRACE_ALB_KEYS_URL: SafeUrl.optional(),
  MILLRACE_OIDC_ISSUER: SafeUrl.optional(),
  MILLRACE_OIDC_CLIENT_ID: z.string().optional(),
  MILLRACE_OIDC_CLIENT_SECRET: z.string().optional(),
};
const Variables = z.object(SignOnVariables);
export type SignOnVariables = z.output<typeof Variables>;

/** What `--auth-mode cognito` stands on. */
export interface CognitoSettings {
  userPoolId: string;
  clientId: string;
  albArn: string;
  /** Where the load balancer's public keys are; undefined for the region's own place. */
  albKeysUrl: URL | undefined;
  /** Where the user pool's public keys are; undefined for its own place. */
  poolKeysUrl: URL | undefined;
  /** The user pool's domain, where signing out goes on; undefined when it was not named. */
  domain: URL | undefined;
}

/** @throws ConfigError naming every variable that is missing, and why it is needed */
export function cognitoSettings(variables: SignOnVariables): CognitoSettings {
  expectAll("cognito", {
    MILLRACE_COGNITO_USER_POOL_ID: [
      variables.MILLRACE_COGNITO_USER_POOL_ID,
      "the user pool whose people come in, such as eu-central-1_AbCdEfGhI",
    ],
    MILLRACE_COGNITO_CLIENT_ID: [
      variables.MILLRACE_COGNITO_CLIENT_ID,
      "the app client that the load balancer signs people in with",
    ],
    MILLRACE_ALB_ARN: [
      variables.MILLRACE_ALB_ARN,
      "the load balancer in front: all load balancers of a region sign with keys from one place, so without it anybody's could vouch for anybody",
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
 * What is not wrong, but had better be known.
 * @param host where it listens
 */
export function cognitoWarnings(
  host: string,
  { baseUrl, trustedProxies, signOn }: Pick<Settings, "baseUrl" | "trustedProxies" | "signOn">,
): string[] {
  const around = !isLoopback(host) && trustedProxies.length === 0;
  return [
    around &&
      `this port listens on ${host}, so it may be reached around the load balancer, where nobody asks who comes: let only the load balancer reach it (its security group), and put its addresses into MILLRACE_TRUSTED_PROXIES`,
    baseUrl === undefined &&
      "MILLRACE_BASE_URL is not set: signing out can't lead back, and links name this machine",
    signOn.MILLRACE_COGNITO_DOMAIN === undefined &&
      "MILLRACE_COGNITO_DOMAIN is not set: /logout ends the load balancer's session only, and the user pool signs the same person in again",
  ].filter((warning) => warning !== false);
}

/** What `--auth-mode oidc` stands on. */
export interface OidcSettings {
  issuer: URL;
  clientId: string;
  /** Undefined for a public client, which proves itself by PKCE alone. */
  clientSecret: string | undefined;
}

/** @throws ConfigError naming every variable that is missing */
export function oidcSettings(variables: SignOnVariables): OidcSettings {
  expectAll("oidc", {
    MILLRACE_OIDC_ISSUER: [
      variables.MILLRACE_OIDC_ISSUER,
      "the provider's issuer URL, below which /.well-known/openid-configuration is",
    ],
    MILLRACE_OIDC_CLIENT_ID: [
      variables.MILLRACE_OIDC_CLIENT_ID,
      "the id that the provider knows Millrace by",
    ],
  });
  return {
    issuer: new URL(variables.MILLRACE_OIDC_ISSUER!),
    clientId: variables.MILLRACE_OIDC_CLIENT_ID!,
    clientSecret: variables.MILLRACE_OIDC_CLIENT_SECRET,
  };
}

const urlOf = (text: string | undefined): URL | undefined => (text === undefined ? undefined : new URL(text));

function expectAll(
  mode: string,
  needed: Readonly<Record<string, readonly [value: string | undefined, what: string]>>,
): void {
  const missing = Object.entries(needed).filter(([, [value]]) => value === undefined);
  if (missing.length === 0) return;
  throw new ConfigError(
    missing.map(([name, [, what]]) => `environment: --auth-mode ${mode} needs ${name}: ${what}`),
  );
}
