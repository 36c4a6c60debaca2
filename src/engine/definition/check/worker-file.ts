/** The file of a worker of this folder: as it is in development, compiled in a release. */
export const workerFile = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
