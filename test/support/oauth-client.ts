import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { CALLBACK } from "./oauth.ts";

/** The auth provider of a client that keeps everything in memory. */
export function memoryProvider() {
  let client: Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
  let tokens: Awaited<ReturnType<OAuthClientProvider["tokens"]>>;
  let verifier = "";
  const opened: URL[] = [];
  const provider: OAuthClientProvider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: "SDK client", redirect_uris: [CALLBACK] },
    clientInformation: () => client,
    saveClientInformation: (saved) => void (client = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => void opened.push(url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
  };
  return { provider, opened, tokens: () => tokens!, setTokens: (saved: typeof tokens) => (tokens = saved) };
}
