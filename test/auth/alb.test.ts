import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { albVerifier } from "../../src/auth/alb.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { mockAlb, ARN, CLIENT, ISSUER, POOL } from "../support/mock-alb.ts";

const OTHER_ARN = ARN.replace("123456789012", "210987654321");

async function setUp(clock: Clock = systemClock) {
  const peer = await mockAlb();
  const options = {
    userPoolId: POOL,
    clientId: CLIENT,
    albArn: ARN,
    albKeysUrl: new URL(peer.albKeysUrl),
    poolKeysUrl: new URL(peer.poolKeysUrl),
  };
  const verify = albVerifier(options, clock);
  /** Returns the subject, or the code and the reason of the error. */
  const outcome = async (headers: Record<string, string | string[] | undefined>): Promise<string> => {
    try {
      return (await verify(headers))?.identity.subject ?? "nobody";
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return `${error.code}: ${(error.cause as Error).message}`;
    }
  };
  return { peer, verify, outcome };
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
const seconds = (): number => Math.floor(Date.now() / 1000);

describe("the headers of a load balancer", () => {
  it("identify the user, with the groups of the access token", async () => {
    const { peer, verify } = await setUp();
    const groups = ["millrace-editor", "everybody"];
    const login = await verify(
      peer.headers({ email: "Ann@Example.com" }, { "cognito:groups": groups, auth_time: 1_700_000_000 }),
    );
    expect(login).toEqual({
      identity: { issuer: ISSUER, subject: "ann-sub", email: "ann@example.com", emailVerified: true, groups },
      loginKey: `${POOL} ann-sub login-1`,
      authenticatedAt: 1_700_000_000_000,
    });
  });

  it("identify nobody if they are absent", async () => {
    const { outcome, peer } = await setUp();
    expect(await outcome({})).toBe("nobody");
    // The remaining headers are plain text, which any client can send.
    const { "x-amzn-oidc-data": _, ...rest } = peer.headers();
    expect(await outcome(rest)).toBe("nobody");
  });

  it("mark an address that is not verified", async () => {
    const { peer, verify } = await setUp();
    for (const email_verified of [false, "false", undefined, "yes", 1]) {
      const login = await verify(peer.headers({ email_verified }));
      expect(login?.identity.emailVerified).toBe(false);
    }
    expect((await verify(peer.headers({ email: undefined })))?.identity.email).toBeNull();
  });

  it("mark a verified address, written as text or not, and leave out groups that are no texts", async () => {
    const { peer, verify } = await setUp();
    for (const email_verified of [true, "true"])
      expect((await verify(peer.headers({ email_verified })))?.identity.emailVerified).toBe(true);
    const groupsOf = async (groups: unknown) =>
      (await verify(peer.headers({}, { "cognito:groups": groups })))?.identity.groups;
    expect(await groupsOf(["editors", 1, null])).toEqual(["editors"]);
    expect(await groupsOf("editors")).toEqual([]);
  });

  it("accept the newer name of the user pool as the same issuer", async () => {
    const { peer, verify } = await setUp();
    const iss = `https://issuer-cognito-idp.eu-central-1.amazonaws.com/${POOL}`;
    expect((await verify(peer.headers({ iss }, { iss })))?.identity.issuer).toBe(ISSUER);
  });

  it("distinguish the logins of a person", async () => {
    const { peer, verify } = await setUp();
    const logins = [
      {},
      { origin_jti: "login-2" },
      { origin_jti: undefined, auth_time: 1 },
      { origin_jti: undefined, auth_time: 2 },
    ];
    const results = await Promise.all(logins.map((access) => verify(peer.headers({}, access))));
    expect(new Set(results.map((one) => one?.loginKey)).size).toBe(4);
  });
});

describe("a token for another recipient or with an invalid signature", () => {
  it("is refused if another load balancer signed it", async () => {
    const { peer, outcome } = await setUp();
    const data = peer.data({}, { signer: OTHER_ARN });
    expect(await outcome({ ...peer.headers(), "x-amzn-oidc-data": data })).toMatch(/^unauthorized: .*ARN/);
    const none = peer.data({}, { signer: undefined });
    expect(await outcome({ ...peer.headers(), "x-amzn-oidc-data": none })).toMatch(/^unauthorized/);
  });

  it("is refused if it belongs to another client or another pool", async () => {
    const { peer, outcome } = await setUp();
    const refusedData = [
      peer.data({}, { client: "another" }),
      peer.data({ iss: ISSUER.replace(POOL, "eu-central-1_Other") }),
      peer.data({ iss: undefined }),
    ];
    for (const data of refusedData)
      expect(await outcome({ ...peer.headers(), "x-amzn-oidc-data": data })).toMatch(/^unauthorized/);
    const refusedAccess = [
      peer.access({ client_id: "another" }),
      peer.access({ iss: ISSUER.replace(POOL, "eu-central-1_Other") }),
      peer.access({ token_use: "id", aud: CLIENT }),
      peer.access({ sub: "ben-sub" }),
      peer.access({ auth_time: undefined }),
      peer.access({ exp: seconds() - 60 }),
    ];
    for (const access of refusedAccess)
      expect(await outcome({ ...peer.headers(), "x-amzn-oidc-accesstoken": access })).toMatch(
        /^unauthorized/,
      );
  });

  it("is refused if it is forged or changed", async () => {
    const { peer, outcome } = await setUp();
    const good = peer.data();
    const [header, payload, signature] = good.split(".") as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
    const forged = encode({ ...claims, sub: "root" });
    const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const unsigned = (alg: string): string =>
      `${encode({ alg, kid: peer.state.alb.kid, signer: ARN, client: CLIENT })}.${payload}.`;
    const bad = [
      `${header}.${forged}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature.slice(0, -6)}AAAA==`,
      unsigned("none"),
      `${unsigned("HS256")}${signature}`,
      peer.data({}, {}, { kid: peer.state.alb.kid, ...stranger }),
      peer.data({}, { alg: "RS256" }),
      peer.data({}, { kid: "../../etc/passwd" }),
      peer.data({}, { kid: undefined }),
      "",
      "x",
      `${good}, ${good}`,
    ];
    for (const data of bad)
      expect([data, await outcome({ ...peer.headers(), "x-amzn-oidc-data": data })]).toEqual([
        data,
        expect.stringMatching(/^unauthorized/),
      ]);
    expect(await outcome({ ...peer.headers(), "x-amzn-oidc-data": [good, good] })).toMatch(/^unauthorized/);
  });

  it("is refused without a subject, or if the plain header names another", async () => {
    const { peer, outcome } = await setUp();
    const without = { ...peer.headers(), "x-amzn-oidc-data": peer.data({ sub: undefined }) };
    expect(await outcome(without)).toMatch(/sub is missing/);
    expect(await outcome({ ...peer.headers(), "x-amzn-oidc-identity": "ben-sub" })).toMatch(
      /belongs to another person/,
    );
    expect(await outcome({ ...peer.headers(), "x-amzn-oidc-identity": undefined })).toMatch(/is missing/);
    expect(await outcome({ ...peer.headers(), "x-amzn-oidc-accesstoken": undefined })).toMatch(/is missing/);
  });
});

describe("the expiry of a token", () => {
  it("is required and enforced", async () => {
    const { peer, outcome } = await setUp();
    // This is the unchanged token of a minute ago.
    const replayed = { ...peer.headers(), "x-amzn-oidc-data": peer.data({ exp: seconds() - 60 }) };
    expect(await outcome(replayed)).toMatch(/^unauthorized: .*expired/);
    const endless = {
      ...peer.headers(),
      "x-amzn-oidc-data": peer.data({ exp: undefined }, { exp: undefined }),
    };
    expect(await outcome(endless)).toMatch(/exp is missing/);
    const text = { ...peer.headers(), "x-amzn-oidc-data": peer.data({ exp: String(seconds() + 60) }) };
    expect(await outcome(text)).toMatch(/^unauthorized/);
  });

  it("has a tolerance of 30 s for differing clocks", async () => {
    const { peer, outcome } = await setUp();
    const ended = (ago: number) => ({
      ...peer.headers(),
      "x-amzn-oidc-data": peer.data({ exp: seconds() - ago }),
    });
    expect(await outcome(ended(20))).toBe("ann-sub");
    expect(await outcome(ended(35))).toMatch(/^unauthorized/);
  });
});

describe("the expiry of a token by the clock of this server", () => {
  it("is refused 30 s after it, and not before", async () => {
    const exp = seconds() + 60;
    const at = async (now: number) => {
      const { peer, outcome } = await setUp({ ...systemClock, now: () => now * 1000 });
      return outcome(peer.headers({ exp }));
    };
    expect(await at(exp + 30)).toBe("ann-sub");
    expect(await at(exp + 31)).toBe("unauthorized: exp is missing or has passed");
  });
});

const fetched = async (urls: { albKeysUrl?: URL; poolKeysUrl?: URL }) => {
  const peer = await mockAlb();
  const asked: string[] = [];
  const fetchKeys: typeof fetch = (input) => {
    const { url } = new Request(input);
    asked.push(url);
    const kid = url.split("/").at(-1)!;
    return fetch(kid.includes("jwks.json") ? peer.poolKeysUrl : `${peer.albKeysUrl}/${kid}`);
  };
  const options = {
    userPoolId: POOL,
    clientId: CLIENT,
    albArn: ARN,
    albKeysUrl: undefined,
    poolKeysUrl: undefined,
  };
  const login = await albVerifier({ ...options, ...urls }, systemClock, fetchKeys)(peer.headers());
  expect(login?.identity.subject).toBe("ann-sub");
  return asked.map((url) => url.replace(/[\da-f]{8}-[\da-f-]{27}$/, "<kid>"));
};

describe("the addresses of the signing keys", () => {
  it("are those of the region by default, and those that are configured, with a slash at the end or without", async () => {
    expect(await fetched({})).toEqual([
      `${ISSUER}/.well-known/jwks.json`,
      "https://public-keys.auth.elb.eu-central-1.amazonaws.com/<kid>",
    ]);
    const poolKeysUrl = new URL("https://keys.example.com/jwks.json");
    for (const path of ["alb", "alb/"])
      expect(await fetched({ albKeysUrl: new URL(`https://keys.example.com/${path}`), poolKeysUrl })).toEqual(
        ["https://keys.example.com/jwks.json", "https://keys.example.com/alb/<kid>"],
      );
  });
});

describe("the signing keys", () => {
  it("are fetched once, and stay valid while the server is unavailable", async () => {
    const { peer, outcome } = await setUp();
    expect(await outcome(peer.headers())).toBe("ann-sub");
    const { asked } = peer.state;
    peer.state.away = true;
    expect(await outcome(peer.headers())).toBe("ann-sub");
    expect(peer.state.asked).toBe(asked);
    peer.rotate();
    expect(await outcome(peer.headers())).toMatch(/^connection_failed/);
    peer.state.away = false;
    expect(await outcome(peer.headers())).toBe("ann-sub");
  });

  it("can be rotated by the load balancer and by the pool", async () => {
    const { peer, outcome } = await setUp();
    expect(await outcome(peer.headers())).toBe("ann-sub");
    const before = peer.headers();
    peer.rotate();
    expect(await outcome(peer.headers())).toBe("ann-sub");
    expect(await outcome(before)).toBe("ann-sub");
    peer.rotatePool();
    expect(await outcome(peer.headers())).toBe("ann-sub");
  });

  it("are not fetched without limit for unknown key ids", async () => {
    let now = Date.now();
    const { peer, outcome } = await setUp({ now: () => now });
    const stranger = () => ({
      ...peer.headers(),
      "x-amzn-oidc-data": peer.data({}, { kid: crypto.randomUUID() }),
    });
    for (let index = 0; index < 100; index += 1) await outcome(stranger());
    // The additional request fetches the keys of the user pool, which are checked first.
    expect(peer.state.asked).toBe(30 + 1);
    now += 61_000;
    expect(await outcome(peer.headers())).toBe("ann-sub");
  });
});
