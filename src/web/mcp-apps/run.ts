/** The view of a run. */
import { RUN_VIEW } from "./run-view.ts";
import "./style.css";
import { runView } from "./view.ts";

void runView(RUN_VIEW);
