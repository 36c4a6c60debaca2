/**
 * Describes an environment variable that the configuration names. The name is left out when it does not look like one,
 * because the configuration may contain the secret itself instead.
 */
export const describeVariable = (variable: string): string =>
  /^[A-Z]+(_[A-Z0-9]+)+$/.test(variable)
    ? `the environment variable ${variable}`
    : "an environment variable (its name is hidden: it does not look like a variable's name, and may be the secret itself)";
