/** Starts the built program, like `bin/millrace.js` of a release. */
import module from "node:module";

module.enableCompileCache();
await import("../../dist/program/main.js");
