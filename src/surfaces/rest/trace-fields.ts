import type { Request } from "express";
import type { Call } from "../invoke.ts";

/** Trace headers and span attributes of an HTTP request. @see https://opentelemetry.io/docs/specs/semconv/http/ */
export const traceFields = (
  { method, headers }: Request,
  route: string,
): Required<Pick<Call, "incomingTrace" | "attributes">> => ({
  incomingTrace: { traceparent: headers["traceparent"], tracestate: headers["tracestate"] },
  attributes: { "http.request.method": method, "http.route": route },
});
