import type { Request, Response } from "express";
import { AppError } from "../../core/errors.ts";

/** Handles the other methods of a path: 405 with `Allow`, and OPTIONS with the allowed methods. */
export function rejectOtherMethods(methods: readonly string[]) {
  const allow = [
    ...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))),
  ].join(", ");
  return (req: Request, res: Response): void => {
    if (req.method === "OPTIONS") {
      res.status(204).setHeader("Allow", allow).end();
      return;
    }
    throw new AppError("method_not_allowed", `${req.method} is not allowed here. Use ${allow}.`, {
      headers: { Allow: allow },
    });
  };
}
