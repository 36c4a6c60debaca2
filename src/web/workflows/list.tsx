import { Page } from "../ui/page.tsx";

export default function WorkflowList() {
  return <Page title="WorkflowList">To be made.</Page>;
}
