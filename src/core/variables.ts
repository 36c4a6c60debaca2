/** Environment variables as the configuration names them. */

/** A variable that is not set, by its name if it looks like one: else the secret itself may stand there. */
export const describeVariable = (variable: string): string =>
  /^[A-Z]+(_[A-Z0-9]+)+$/.test(variable)
    ? `the environment variable ${variable}`
    : "an environment variable (not repeated here: it does not look like one, and may be the secret itself)";
