/** The part of the configuration for applications that connect by signing in (OAuth). */
import { z } from "zod";
import { Duration } from "./field-values.ts";

const Origin = z
  .string()
  .max(300)
  .refine((text) => /^https?:\/\//.test(text) && URL.parse(text)?.origin === text, {
    message: "must be an origin such as https://inspector.example.com, without a path and in lower case",
    params: { code: "wrong_format" },
  });

export const OauthConfig = z
  .strictObject({
    enabled: z.boolean().default(true).meta({
      description:
        "Whether MCP clients can connect by signing in, instead of with an API key. Needs https, except on the same machine.",
    }),
    registration: z.boolean().default(true).meta({
      description:
        "Whether clients can register themselves. Without it, only those connect that publish a description of themselves at a URL.",
    }),
    origins: z.array(Origin).max(100).default([]).meta({
      description:
        "Origins of web pages that may call MCP with a token. Pages on this machine and on the host names of Millrace may in any case.",
    }),
    access: Duration.default("1h").meta({ description: "Lifetime of an access token." }),
    idle: Duration.default("30d").meta({
      description: "How long an application may be unused until a person has to connect it again.",
    }),
    longest: Duration.default("180d").meta({
      description: "After this time a person has to connect an application again in any case.",
    }),
  })
  .meta({ description: "Applications that connect by signing in (OAuth)." });
