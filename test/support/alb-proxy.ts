/**
 * A small reverse proxy that behaves like an Application Load Balancer with the listener rules of deploy/: it forwards paths of
 * the API, sends `/ui*` to the login, requires a login for everything else, and signs authenticated requests with test keys.
 * @see https://docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseCookie } from "cookie";
import { onTestFinished } from "vitest";
import type { MockAlb } from "./mock-alb.ts";
import { CLIENT_ID, CLIENT_SECRET, type TestOidcProvider } from "./oidc-provider.ts";

/** A login, which a load balancer keeps only in its cookies, so that it can't be revoked. */
interface Login {
  claims: Record<string, unknown>;
  access: Record<string, unknown>;
}

const COOKIES = ["AWSELBAuthSessionCookie-0", "AWSELBAuthSessionCookie-1"];
/** Headers that a load balancer sets on authenticated requests. It overwrites a client's own headers only then. */
const isMachine = ({ url = "", headers }: IncomingMessage): boolean =>
  headers["x-api-key"] !== undefined ||
  headers.authorization !== undefined ||
  /^\/(?:health|apidoc|logout)/.test(url);

export interface AlbProxy {
  url: string;
  /** The user pool's own pages: `/logout` redirects to the provider's page, and back. */
  poolUrl: string;
  /** The target of requests, which is set after its start, because it needs this proxy's address first. */
  target: string;
  /** The requests that were forwarded, with the user they were signed for. */
  forwarded: { path: string; sub: string | undefined }[];
}

/** Starts the proxy between a provider and a program. */
export async function albProxy(alb: MockAlb, provider: TestOidcProvider): Promise<AlbProxy> {
  const logins = new Map<string, Login>();
  const states = new Map<string, string>();

  const loginOf = (req: IncomingMessage): Login | undefined => {
    const cookies = parseCookie(req.headers.cookie ?? "");
    return logins.get(COOKIES.map((name) => cookies[name] ?? "").join(""));
  };

  function toLogin(req: IncomingMessage, res: ServerResponse): void {
    const state = randomBytes(16).toString("hex");
    states.set(state, req.url!);
    const to = new URL("/auth", provider.issuer);
    to.search = new URLSearchParams({
      client_id: CLIENT_ID,
      response_type: "code",
      scope: "openid email profile",
      redirect_uri: `${proxy.url}/oauth2/idpresponse`,
      state,
    }).toString();
    res.writeHead(302, { Location: to.href }).end();
  }

  async function fromLogin(url: URL, res: ServerResponse): Promise<void> {
    const back = states.get(url.searchParams.get("state") ?? "");
    const basic = Buffer.from(`${CLIENT_ID}:${encodeURIComponent(CLIENT_SECRET)}`).toString("base64");
    const token = await fetch(`${provider.issuer}/token`, {
      method: "POST",
      headers: { Authorization: `Basic ${basic}` },
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: url.searchParams.get("code") ?? "",
        redirect_uri: `${proxy.url}/oauth2/idpresponse`,
      }),
    });
    const { access_token: accessToken } = (await token.json()) as { access_token?: string };
    if (back === undefined || accessToken === undefined) {
      res.writeHead(401).end("The login was not completed.");
      return;
    }
    const userInfo = await fetch(`${provider.issuer}/me`, {
      headers: { Authorization: `Bearer ${accessToken}` },
    });
    const { groups = [], ...claims } = (await userInfo.json()) as Record<string, unknown>;
    const parts = COOKIES.map(() => randomBytes(32).toString("base64url"));
    const access = {
      "cognito:groups": groups,
      origin_jti: parts.join("").slice(0, 36),
      auth_time: Math.floor(Date.now() / 1000),
    };
    logins.set(parts.join(""), { claims, access });
    const cookies = COOKIES.map((name, index) => `${name}=${parts[index]}; Path=/; HttpOnly; Max-Age=604800`);
    res.writeHead(302, { Location: back, "Set-Cookie": cookies }).end();
  }

  function pass(req: IncomingMessage, res: ServerResponse, login: Login | undefined): void {
    const added = login === undefined ? {} : alb.headers(login.claims, login.access);
    proxy.forwarded.push({ path: req.url!, sub: login?.claims["sub"] as string | undefined });
    const onward = request(
      proxy.target + req.url,
      {
        method: req.method,
        headers: {
          ...req.headers,
          "x-forwarded-for": req.socket.remoteAddress,
          "x-forwarded-proto": "http",
          ...added,
        },
      },
      (answer) => {
        res.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(res);
      },
    );
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  }

  const url = await serve((req, res) => {
    const at = new URL(req.url!, proxy.url);
    // The load balancer handles this path itself, and never forwards it.
    if (at.pathname === "/oauth2/idpresponse") void fromLogin(at, res);
    else if (isMachine(req)) pass(req, res, undefined);
    else {
      const login = loginOf(req);
      if (login !== undefined) pass(req, res, login);
      else if (at.pathname.startsWith("/ui")) toLogin(req, res);
      else res.writeHead(401).end();
    }
  });
  const poolUrl = await serve((req, res) => {
    const { pathname, searchParams } = new URL(req.url!, "http://domain");
    const to = new URL("/session/end", provider.issuer);
    to.searchParams.set("client_id", CLIENT_ID);
    to.searchParams.set("post_logout_redirect_uri", searchParams.get("logout_uri") ?? "");
    if (pathname === "/logout") res.writeHead(302, { Location: to.href }).end();
    else res.writeHead(404).end();
  });
  const proxy: AlbProxy = { url, poolUrl, target: "", forwarded: [] };
  return proxy;
}

async function serve(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
