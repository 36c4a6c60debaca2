/** Write intents of session operations, which reach the store without an operation of the catalogue. */
import type { Request } from "express";
import { type AuthenticatedSession, principalOf } from "../../auth/sessions.ts";
import { NO_ACCESS } from "../../core/access.ts";
import type { WriteIntent } from "../../core/ports.ts";
import type { Principal } from "../../core/principal.ts";
import { browserNameOf } from "./authenticate.ts";

/** @param request the browser and the request id that the audit log records */
export const sessionWriteIntent = (
  operation: string,
  principal: Principal,
  { client, requestId }: { client: string; requestId: string },
): WriteIntent => ({
  operation,
  actor: { principal, client: { surface: "web", name: client } },
  requestId,
});

/** The intent of a request that changes the session it was sent with. */
export const signedInWriteIntent = (
  operation: string,
  signedIn: AuthenticatedSession,
  req: Request,
): WriteIntent =>
  sessionWriteIntent(operation, principalOf(signedIn, NO_ACCESS), {
    client: browserNameOf(req),
    requestId: req.res!.locals["requestId"] as string,
  });
