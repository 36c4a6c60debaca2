/** Returns the file of a worker in this folder: TypeScript in development, JavaScript in a release. */
export const workerFile = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
