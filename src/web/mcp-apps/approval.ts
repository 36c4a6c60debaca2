/** The view of approvals. */
import { APPROVAL_VIEW } from "./approval-view.ts";
import "./style.css";
import { runView } from "./view.ts";

void runView(APPROVAL_VIEW);
