/** The tokens of an Application Load Balancer and a Cognito user pool, signed with test keys, and a server of these keys. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export const POOL = "eu-central-1_TestPool1";
export const CLIENT = "4testclient";
export const ARN =
  "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/millrace/50dc6c495c0c9188";
export const ISSUER = `https://cognito-idp.eu-central-1.amazonaws.com/${POOL}`;

/** Base64url as the load balancer writes it: padded. */
const padded = (bytes: Buffer): string => bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
const plain = (bytes: Buffer): string => bytes.toString("base64url");

interface SigningKey {
  kid: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const albKey = (): SigningKey => ({
  kid: randomUUID(),
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
});
const poolKey = (): SigningKey => ({
  kid: randomUUID(),
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }),
});

const seconds = (): number => Math.floor(Date.now() / 1000);

type Claims = Record<string, unknown>;

/** Signs a token; undefined claims are left out. */
function token(
  encode: typeof plain,
  header: Claims,
  payload: Claims,
  signature: (data: Buffer) => Buffer,
): string {
  const data = [header, payload].map((part) => encode(Buffer.from(JSON.stringify(part)))).join(".");
  return `${data}.${encode(signature(Buffer.from(data)))}`;
}

/** Starts both, with their keys served on loopback. */
export async function mockAlb() {
  const state = { alb: albKey(), pool: poolKey(), away: false, asked: 0 };
  const known = new Map<string, string>();
  const publish = ({ kid, publicKey }: SigningKey): void =>
    void known.set(`/keys/${kid}`, String(publicKey.export({ type: "spki", format: "pem" })));
  publish(state.alb);
  const server = createServer((req, res) => {
    state.asked += 1;
    if (state.away) {
      res.destroy();
      return;
    }
    const { kid, publicKey } = state.pool;
    const jwks = JSON.stringify({
      keys: [{ ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" }],
    });
    const body = req.url === "/jwks.json" ? jwks : known.get(req.url ?? "");
    res.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    state,
    albKeysUrl: `${base}/keys`,
    poolKeysUrl: `${base}/jwks.json`,
    /** The environment of a `serve` process behind it. */
    env: {
      MILLRACE_COGNITO_USER_POOL_ID: POOL,
      MILLRACE_COGNITO_CLIENT_ID: CLIENT,
      MILLRACE_ALB_ARN: ARN,
      MILLRACE_ALB_KEYS_URL: `${base}/keys`,
      MILLRACE_COGNITO_KEYS_URL: `${base}/jwks.json`,
    },
    /** Lets the load balancer sign with a new key; the old key stays available unless it is removed. */
    rotate({ forget = false } = {}) {
      if (forget) known.clear();
      state.alb = albKey();
      publish(state.alb);
    },
    rotatePool: () => void (state.pool = poolKey()),
    /** `x-amzn-oidc-data`. */
    data(claims: Claims = {}, header: Claims = {}, key = state.alb): string {
      const exp = seconds() + 120;
      return token(
        padded,
        { typ: "JWT", kid: key.kid, alg: "ES256", iss: ISSUER, client: CLIENT, signer: ARN, exp, ...header },
        { sub: "ann-sub", email: "ann@example.com", email_verified: "true", exp, iss: ISSUER, ...claims },
        (bytes) => sign("sha256", bytes, { key: key.privateKey, dsaEncoding: "ieee-p1363" }),
      );
    },
    /** `x-amzn-oidc-accesstoken`. */
    access(claims: Claims = {}, key = state.pool): string {
      const now = seconds();
      return token(
        plain,
        { kid: key.kid, alg: "RS256" },
        {
          sub: "ann-sub",
          iss: ISSUER,
          client_id: CLIENT,
          token_use: "access",
          scope: "openid email profile",
          auth_time: now - 60,
          origin_jti: "login-1",
          exp: now + 3_600,
          iat: now,
          ...claims,
        },
        (bytes) => sign("sha256", bytes, key.privateKey),
      );
    },
    /** All headers that it adds to a request. */
    headers(claims: Claims = {}, access: Claims = {}): Record<string, string> {
      const sub = (claims["sub"] as string | undefined) ?? "ann-sub";
      return {
        "x-amzn-oidc-data": this.data(claims),
        "x-amzn-oidc-identity": sub,
        "x-amzn-oidc-accesstoken": this.access({ sub, ...access }),
      };
    },
  };
}
export type MockAlb = Awaited<ReturnType<typeof mockAlb>>;
