/**
 * Who an Application Load Balancer says has signed in with AWS Cognito: the headers that it adds to a request, verified.
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

/** How far the clocks of the load balancer, the user pool and this machine may be apart, in seconds. */
const SKEW_SECONDS = 30;

/** What the load balancer is set up with. */
export interface AlbOptions {
  userPoolId: string;
  clientId: string;
  albArn: string;
  /** Where public keys are, where that is not the region's own place. */
  albKeysUrl: URL | undefined;
  poolKeysUrl: URL | undefined;
}

/** A login at the user pool, as the load balancer passes it on with each request. */
export interface AlbLogin {
  identity: Identity;
  /** Names this login: another one of the same person has another name. */
  loginKey: string;
  /** When it was made, in milliseconds. */
  authenticatedAt: number;
}

/**
 * Makes what verifies the headers of a request: `x-amzn-oidc-data` was signed by our load balancer, for our client, about
 * somebody of our pool, and is alive; `x-amzn-oidc-identity` names the same person; so does `x-amzn-oidc-accesstoken`,
 * which the pool itself has signed.
 * @returns a function that gives undefined where no load balancer has added anything
 *   @throws AppError unauthorized (with the reason as its cause), connection_failed when a key can't be fetched
 */
export function albVerifier(
  options: AlbOptions,
  clock: Clock,
  fetchKeys: typeof fetch = fetch,
): (headers: IncomingHttpHeaders) => Promise<AlbLogin | undefined> {
  const { userPoolId, clientId, albArn } = options;
  const region = userPoolId.split("_")[0]!;
  const issuer = `https://cognito-idp.${region}.amazonaws.com/${userPoolId}`;
  // The pool's other spelling of itself (AWS is moving to it): the same people.
  const newerIssuer = `https://issuer-cognito-idp.${region}.amazonaws.com/${userPoolId}`;
  const albKeys = options.albKeysUrl?.href.replace(/\/$/, "");
  const keysAt = albKeys === undefined ? {} : { jwksUri: albKeys };
  const ours = { clientId, albArn, graceSeconds: SKEW_SECONDS, ...keysAt };
  const alb = AlbJwtVerifier.create(
    [
      { issuer, ...ours },
      { issuer: newerIssuer, ...ours },
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
    // First what the pool has signed: for a load balancer's key that we don't know yet we ask elsewhere, and nobody from
    // outside may use up how often we do.
    const accessToken = one("x-amzn-oidc-accesstoken", headers["x-amzn-oidc-accesstoken"]);
    const access = await verified(() => pool.verify(accessToken));
    const who = await verified(() => alb.verify(one("x-amzn-oidc-data", data)));
    // An expired token is refused by the library, one without an end is not.
    if (typeof who.exp !== "number" || who.exp + SKEW_SECONDS < clock.now() / 1000)
      throw refused("exp is missing or over");
    const { sub } = who;
    if (typeof sub !== "string" || sub === "") throw refused("sub is missing");
    if (one("x-amzn-oidc-identity", headers["x-amzn-oidc-identity"]) !== sub)
      throw refused("x-amzn-oidc-identity names somebody else");
    if (access.sub !== sub) throw refused("x-amzn-oidc-accesstoken is somebody else's");
    const { auth_time: authTime } = access;
    if (typeof authTime !== "number") throw refused("auth_time is missing");
    const { email: address, email_verified: emailVerified } = who as Record<string, unknown>;
    // A pool with other providers behind it passes on whatever these call an address: "operator" must be nobody's.
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

/** Node joins what comes twice; neither is a token then. */
function one(name: string, value: string | string[] | undefined): string {
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
        "The key that a sign-on is verified with could not be fetched. Try again in a moment.",
        { cause: error },
      );
    }
    throw refused((error as Error).message, error);
  }
}

const refused = (reason: string, cause?: unknown): AppError =>
  new AppError(
    "unauthorized",
    "The load balancer's sign-on is not valid here. Sign out (/logout) and in again; an operator finds the reason in the log.",
    { cause: new Error(reason, { cause }) },
  );
