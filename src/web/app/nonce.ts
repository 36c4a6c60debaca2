/** The nonce of this page's policy: styles that a library writes into the page must carry it (CSP level 3). */
export const styleNonce = (): string =>
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
