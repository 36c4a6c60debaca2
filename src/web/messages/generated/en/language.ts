/** The language of this build. */
export const language: string = "en";
