/**
 * The props of a field for a mail address, instead of `type="email"`: with that, the browser has a rule of its own, which refuses letters
 * beyond ASCII before the @. The server checks the address, and its message names what is wrong.
 */
export const MAIL_ADDRESS_INPUT = {
  inputMode: "email",
  autoCapitalize: "none",
  autoCorrect: "off",
  spellCheck: false,
} as const;
