/** The command that gives the values of secrets, such as the client of a vault. */
import { z } from "zod";
import { Duration } from "./field-values.ts";

/** Stands for the name of the variable in the arguments. */
export const NAME_PLACEHOLDER = "{name}";

const positive = (value: string): boolean => /[1-9]/.test(value);

export const SecretCommand = z
  .strictObject({
    command: z.string().min(1).meta({
      description: "The program, run without a shell. A path with / is relative to this file.",
    }),
    args: z
      .array(z.string())
      .refine((args) => args.some((arg) => arg.includes(NAME_PLACEHOLDER)), {
        error: `must contain ${NAME_PLACEHOLDER}, which stands for the name of the variable`,
      })
      .meta({
        description: `Its arguments; ${NAME_PLACEHOLDER} stands for the name of the variable, such as SMTP_PASSWORD.`,
      }),
    env: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: "must be the NAME of a variable" }))
      .default([])
      .meta({
        description:
          "NAMES of the server's environment variables that it gets, besides PATH, HOME and the like.",
      }),
    refresh: Duration.refine((value) => positive(value) && !/^\d+ms$/.test(value), {
      error: "must be at least 1s",
    })
      .default("5m")
      .meta({ description: "How often each value is read again." }),
    timeout: Duration.refine(positive, { error: "must be longer than 0" })
      .default("10s")
      .meta({ description: "How long a call may take." }),
  })
  .meta({
    description:
      "Prints the value of each variable that the configuration names and that the environment does not set.",
  });
export type SecretCommand = z.output<typeof SecretCommand>;
