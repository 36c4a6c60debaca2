/** Serves the files that agents look for, without a key: they say nothing about what is stored here. */
import { Router } from "express";
import { LLMS_PATH, llmsFile, SKILL_PATH, skillFile } from "../agent-texts.ts";
import { BUNDLE_PATH, desktopBundle } from "../desktop/bundle.ts";
import { rejectOtherMethods } from "../rest/methods.ts";
import { mcpUrlOf } from "../session/authenticate.ts";
import type { SignInServices } from "../session/endpoint.ts";

/** @param signIn knows the URL of the MCP server */
export function agentFiles(
  signIn: Pick<SignInServices, "https" | "mcpUrl" | "pathPrefix">,
  version: string,
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get(LLMS_PATH, (req, res) => {
    res.type("text/plain").send(llmsFile(mcpUrlOf(signIn, req), signIn.pathPrefix));
  });
  router.get(SKILL_PATH, (_req, res) => {
    res.type("text/markdown").send(skillFile());
  });
  router.get(BUNDLE_PATH, async (req, res) => {
    const bundle = await desktopBundle(mcpUrlOf(signIn, req), version);
    res.attachment("millrace.mcpb").type("application/zip").send(bundle);
  });
  router.all([LLMS_PATH, SKILL_PATH, BUNDLE_PATH], rejectOtherMethods(["GET"]));
  return router;
}
