/** Where the server is: at the root of its host, or below the path of its public URL. */

/** The path of this application as the server writes it into the page: `/ui/`, behind the path of the public URL. */
const applicationPath = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="application-path"]')!.content;

/** A path of the server for links and requests. @param path from the root, such as `/workflows` */
export const serverPath = (path: string): string => applicationPath().slice(0, -"/ui/".length) + path;

/** The URL of the server, for commands that people copy. */
export const serverUrl = (): string => location.origin + serverPath("");
