/** The nonce of the page's Content-Security-Policy. Style elements that a library inserts must carry it. */
export const styleNonce = (): string =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
