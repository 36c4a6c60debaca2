/** Maximum size of the list of tools for a key with the default scopes, in tokens of 4 characters. docs/adding-a-tool.md says it too. */
export const MAX_LIST_TOKENS = 7_135;
