/** Serves the files that agents look for, without a key: they say nothing about what is stored here. */
import { type Request, Router } from "express";
import { LLMS_PATH, llmsFile, SKILL_PATH, skillFile } from "../agent-texts.ts";
import { BUNDLE_PATH, desktopBundle } from "../desktop/bundle.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import { isSecure } from "../session/authenticate.ts";
import type { SignInServices } from "../session/endpoint.ts";

/** @param signIn knows the URL of the MCP server */
export function agentFiles(signIn: Pick<SignInServices, "https" | "mcpUrl">, version: string): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const mcpUrlOf = (req: Request): string => {
    // With an empty Host header Express leaves hostname undefined, against its types.
    const { hostname = "" } = req as { hostname?: string };
    return signIn.mcpUrl(hostname, isSecure(signIn, req));
  };
  router.get(LLMS_PATH, (req, res) => {
    res.type("text/plain").send(llmsFile(mcpUrlOf(req)));
  });
  router.get(SKILL_PATH, (_req, res) => {
    res.type("text/markdown").send(skillFile());
  });
  router.get(BUNDLE_PATH, async (req, res) => {
    const bundle = await desktopBundle(mcpUrlOf(req), version);
    res.attachment("millrace.mcpb").type("application/zip").send(bundle);
  });
  router.all([LLMS_PATH, SKILL_PATH, BUNDLE_PATH], rejectOtherMethods(["GET"]));
  return router;
}
