/** An HTTPS server on loopback for 127.0.0.1 and the names below proxied.test, with a certificate that only the tests use. */
import { createServer } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { onTestFinished } from "vitest";

export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYwFESUDvpQ634ryI
ayVSK3BQ5QWOHLLLTNv/xz2dcAKhRANCAAQQ++viEj8a5oXZqLy5yph+HDbDmbRI
+IW4URIXnJKBtzqu6eOC+yewSzMdtPlQur0hSgovYUdPmUolXWeuIIpr
-----END PRIVATE KEY-----
`;

/** Valid until 2126. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBujCCAWCgAwIBAgIUExK3mfkfqPL1VgBT720z0MOdAGIwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOTWlsbHJhY2UgdGVzdHMwIBcNMjYxMTIyMjEzNjU4WhgPMjEy
NjEwMjkyMTM2NThaMBkxFzAVBgNVBAMMDk1pbGxyYWNlIHRlc3RzMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEEPvr4hI/GuaF2ai8ucqYfhw2w5m0SPiFuFESF5yS
gbc6runjgvsnsEszHbT5ULq9IUoKL2FHT5lKJV1nriCKa6OBgzCBgDAdBgNVHQ4E
FgQUd4QCINvtvOqi4xn3oXBJAEr4rwswHwYDVR0jBBgwFoAUd4QCINvtvOqi4xn3
oXBJAEr4rwswLQYDVR0RBCYwJIIOKi5wcm94aWVkLnRlc3SCDHByb3hpZWQudGVz
dIcEfwAAATAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIEYFVla5
IItncuIb17wWH49eLDJ1/k0BmUvPsmpPbHSuAiEA6nONnJsl8c8i7c4xLw70jwVb
h6qTyAG6UDGk69U5hwM=
-----END CERTIFICATE-----
`;

export interface TlsServer {
  port: number;
  /** The names that clients named in the TLS handshake. */
  names: string[];
  received: { path: string; headers: IncomingHttpHeaders }[];
}

/** Starts a server that answers with JSON and is closed at the end of the test. @param trusted whether clients trust it */
export async function tlsServer({ trusted = true } = {}): Promise<TlsServer> {
  const names: string[] = [];
  const received: TlsServer["received"] = [];
  const server = createServer(
    {
      key: KEY,
      cert: CERTIFICATE,
      SNICallback(name, done) {
        names.push(name);
        done(null);
      },
    },
    (request, response) => {
      received.push({ path: request.url!, headers: request.headers });
      response.setHeader("content-type", "application/json");
      response.end('{"ok":true}');
    },
  );
  if (trusted) {
    const before = getCACertificates("default");
    setDefaultCACertificates([...before, CERTIFICATE]);
    onTestFinished(() => setDefaultCACertificates(before));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, names, received };
}

/** The key and the certificate, for another kind of server. */
export const TLS_FILES = { key: KEY, cert: CERTIFICATE };
