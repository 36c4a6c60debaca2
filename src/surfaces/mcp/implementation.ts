/** How the server introduces itself to clients. */
import type { Implementation } from "@modelcontextprotocol/server";

/**
 * The icon of the web interface (`src/web/public/icon.svg`) as a PNG, which every client with icons can show (MCP 2025-11-25). It is
 * in the answer itself, because many clients take icons only from the address of the MCP server, which does not know under which one
 * they reach it, and fetch them without a key.
 */
const ICON = {
  src: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAADAAAAAwBAMAAAClLOS0AAAAMFBMVEUAAAAAAP8Cb4MKcYQKcYQKcoUKcoULcoX///+PvsdIlaPM4ubl8PKpztQngpNuq7f5d9QcAAAAB3RSTlMAARRHbJnT8w/oQgAAAatJREFUeNp1lD1LA0EQhgfFv2AdELEVEfwBFrZiobWFpPcjiyds2pGk10nQK8P5EVuTUWwPU6QUDJjyUNGUEkXR3R31ctm8xXE3z+078x63CwAwv6oGtLEIVtNqSCumPp4fBoVZAFhQHm0BjOV9oJCDCeXVMsz4waa/hWmy5gc7kPeDAqgRckB/xK17D9CXiIjtYXCIVrdZsIeIpRgRa1L8EnCJ5XelzxH3Xf2s7ECAeGCfxWzXLjUr4qZ78xDxQakgxpJY9cQ6iBFbV4h495dD9OKma6sUeE3M9fw/jwNBlblrUK9TqqQCFtmokWQD6o4F3MyCZ2buHjHzm6vpigDnEjBfO7MPTlxyZvuRHplv7NAsQHUOnMUpc+Mr+HTcNpd+uuqGsAYDyd3YfJxKrk/qpnGx81sX0COi0Bjoi7CWSm7qRFQbSu7qFGZBRBTWL/pEkjyQ5JrI3Om+mOk+JQJC+ykCcjcRCVCRdC0She9PfSIz8MBPHckQifmp09vAtJGxd2ApPaOOJKjazu6o1/rvjpr0b491GPOD3OgDYPSRMfKQAZjKHktzP9VvSp0+dLwvOx8AAAAASUVORK5CYII=",
  mimeType: "image/png",
  sizes: ["48x48"],
};

/**
 * The name of the server, which a client of 2026-07-28 gets with each answer.
 * @param version the release
 */
export const named = (version: string): Implementation => ({ name: "millrace", title: "Millrace", version });

/**
 * The name with what a client shows beside it.
 * @param websiteUrl the address of the web interface
 */
export const introduced = (version: string, websiteUrl: string): Implementation => ({
  ...named(version),
  websiteUrl,
  icons: [ICON],
});
