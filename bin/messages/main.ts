/** `npm run generate:messages`: only the modules of the message catalogues, in less than a second. */
import { writeFiles } from "../write-files.ts";
import { messageModules } from "./files.ts";

writeFiles(messageModules());
