/** All tasks, in the order of their numbers. */
import type { Task } from "../task.ts";
import { lifeTasks } from "./life.ts";
import { mailTasks } from "./mail.ts";
import { queryTasks } from "./queries.ts";
import { serviceTasks } from "./services.ts";

export const tasks: readonly Task[] = [...queryTasks, ...serviceTasks, ...mailTasks, ...lifeTasks];
