import { Page } from "../ui/page.tsx";

export default function RunWorkflow() {
  return <Page title="RunWorkflow">To be made.</Page>;
}
