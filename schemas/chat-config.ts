/** The part of the configuration with the chats that approvals are posted to. */
import { z } from "zod";
import { MailAddress } from "./mail-address.ts";
import { text } from "./text.ts";

type Name = z.ZodType<string>;

/** @param name the schema of names of entries @param variable the schema of names of variables */
export const chatConfig = (name: Name, variable: (content: string) => Name) =>
  z.discriminatedUnion("type", [
    z.strictObject({
      name,
      type: z.literal("slack"),
      channel: text(100, 1).meta({ description: "The id of the channel, such as C0123456789." }),
      bot_token_var: variable(
        "the bot token of the Slack app (xoxb-…), with chat:write and users:read.email",
      ),
      signing_secret_var: variable("the signing secret of the Slack app"),
      people: z
        .record(
          z
            .string()
            .regex(/^[UW][A-Z0-9]{2,20}$/, { error: "must be the id of a member, such as U024BE7LH" }),
          MailAddress,
        )
        .default({})
        .meta({
          description:
            "Mail addresses by member id, for members whose address in Slack is not that of their account here.",
        }),
      api_url: z.url().default("https://slack.com/api").meta({ description: "The base URL of Slack's API." }),
    }),
    z.strictObject({
      name,
      type: z.literal("teams"),
      webhook_url_var: variable("the URL of an incoming webhook (Workflows) of a Teams channel"),
    }),
  ]);
