/** The ids of projects that have a meaning of their own. Apart from the schemas, so that the web interface loads no more. */

/** The project that every instance has. What belongs to it is shown without a project. */
export const DEFAULT_PROJECT = "default";

/** Stands for every project, in the offers of a workflow and in addresses of the web interface. */
export const EVERY_PROJECT = "*";

/** The id of the project of something that shows it as `projectField` does. */
export const projectOf = ({ project }: { project?: string | undefined }): string =>
  project ?? DEFAULT_PROJECT;
