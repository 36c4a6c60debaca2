import { Page } from "../ui/page.tsx";

export default function WorkflowPage() {
  return <Page title="WorkflowPage">To be made.</Page>;
}
