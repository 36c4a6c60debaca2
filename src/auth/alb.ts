/**
 * Verifies the headers that an Application Load Balancer adds to requests of people who signed in with AWS Cognito.
 * @see https://docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html
 */
import type { IncomingHttpHeaders } from "node:http";
import { AlbJwtVerifier, CognitoJwtVerifier } from "aws-jwt-verify";
import { AlbJwksCache } from "aws-jwt-verify/alb-cache";
import { FetchError, WaitPeriodNotYetEndedJwkError } from "aws-jwt-verify/error";
import type { Fetcher } from "aws-jwt-verify/https";
import { SimpleJwksCache } from "aws-jwt-verify/jwk";
import type { Clock } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { Email } from "../../schemas/user.ts";
import { keyFetcher } from "./key-fetcher.ts";
import type { Identity } from "./sign-on.ts";

/** Maximum difference between the clocks of the load balancer, the user pool and this machine, in seconds. */
const SKEW_SECONDS = 30;

/** Settings of the load balancer. */
export interface AlbOptions {
  userPoolId: string;
  clientId: string;
  albArn: string;
  /** URLs of public keys, if they differ from the defaults of the region. */
  albKeysUrl: URL | undefined;
  poolKeysUrl: URL | undefined;
}

/** A login at the user pool, as the load balancer passes it with each request. */
export interface AlbLogin {
  identity: Identity;
  /** Identifies this login; another login of the same person has another key. */
  loginKey: string;
  /** Time of the login, in milliseconds. */
  authenticatedAt: number;
}

/**
 * Creates a function that verifies the headers of a request: `x-amzn-oidc-data` is signed by the configured load balancer,
 * for the configured client and user pool, and has not expired; `x-amzn-oidc-identity` and `x-amzn-oidc-accesstoken`, which
 * the pool has signed, belong to the same person.
 * @returns a function that returns undefined if the load balancer added no headers
 *   @throws AppError unauthorized (with the reason as its cause), connection_failed if a key cannot be fetched
 */
export function albVerifier(
  options: AlbOptions,
  clock: Clock,
  fetchKeys: typeof fetch = fetch,
): (headers: IncomingHttpHeaders) => Promise<AlbLogin | undefined> {
  const { userPoolId, clientId, albArn } = options;
  const region = userPoolId.split("_")[0]!;
  const issuer = `https://cognito-idp.${region}.amazonaws.com/${userPoolId}`;
  // The newer issuer URL of the same pool, to which AWS is moving.
  const newerIssuer = `https://issuer-cognito-idp.${region}.amazonaws.com/${userPoolId}`;
  const albKeys = options.albKeysUrl?.href.replace(/\/$/, "");
  const keysAt = albKeys === undefined ? {} : { jwksUri: albKeys };
  const expected = { clientId, albArn, graceSeconds: SKEW_SECONDS, ...keysAt };
  const alb = AlbJwtVerifier.create(
    [
      { issuer, ...expected },
      { issuer: newerIssuer, ...expected },
    ],
    { jwksCache: new AlbJwksCache({ fetcher: keyFetcher(clock, fetchKeys) }) },
  );
  const poolKeys = keyFetcher(clock, fetchKeys);
  const fetcher: Fetcher = { fetch: (uri) => poolKeys.fetch(options.poolKeysUrl?.href ?? uri) };
  const pool = CognitoJwtVerifier.create(
    { userPoolId, clientId, tokenUse: "access", graceSeconds: SKEW_SECONDS },
    { jwksCache: new SimpleJwksCache({ fetcher }) },
  );

  return async (headers) => {
    const data = headers["x-amzn-oidc-data"];
    if (data === undefined) return undefined;
    // First the token that the pool signed: an unknown key of a load balancer is fetched from another server, and strangers
    // must not use up the limit on these requests.
    const accessToken = singleValue("x-amzn-oidc-accesstoken", headers["x-amzn-oidc-accesstoken"]);
    const access = await verified(() => pool.verify(accessToken));
    const claims = await verified(() => alb.verify(singleValue("x-amzn-oidc-data", data)));
    // The library refuses an expired token, but not one without exp.
    if (typeof claims.exp !== "number" || claims.exp + SKEW_SECONDS < clock.now() / 1000)
      throw refused("exp is missing or has passed");
    const { sub } = claims;
    if (typeof sub !== "string" || sub === "") throw refused("sub is missing");
    if (singleValue("x-amzn-oidc-identity", headers["x-amzn-oidc-identity"]) !== sub)
      throw refused("x-amzn-oidc-identity belongs to another person");
    if (access.sub !== sub) throw refused("x-amzn-oidc-accesstoken belongs to another person");
    const { auth_time: authTime } = access;
    if (typeof authTime !== "number") throw refused("auth_time is missing");
    const { email: address, email_verified: emailVerified } = claims as Record<string, unknown>;
    // A pool with other providers passes on any text as the address, but nobody must become "operator".
    const email = Email.safeParse(address);
    const groups: unknown = access["cognito:groups"];
    return {
      identity: {
        issuer,
        subject: sub,
        email: email.success ? email.data : null,
        // The user pool's endpoint writes it as text.
        emailVerified: emailVerified === true || emailVerified === "true",
        groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
      },
      loginKey: [userPoolId, sub, access["origin_jti"] ?? authTime].join(" "),
      authenticatedAt: authTime * 1000,
    };
  };
}

/** Node joins repeated headers, which are then no valid token. */
function singleValue(name: string, value: string | string[] | undefined): string {
  if (typeof value === "string") return value;
  throw refused(`${name} is missing`);
}

async function verified<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof FetchError || error instanceof WaitPeriodNotYetEndedJwkError) {
      throw new AppError(
        "connection_failed",
        "The key to verify this sign-in could not be fetched. Try again in a moment.",
        { cause: error },
      );
    }
    throw refused((error as Error).message, error);
  }
}

const refused = (reason: string, cause?: unknown): AppError =>
  new AppError(
    "unauthorized",
    "The sign-in at the load balancer is not valid here. Sign out (/logout) and sign in again. The log has the reason.",
    { cause: new Error(reason, { cause }) },
  );
