import { Page } from "../ui/page.tsx";

export default function CreateWorkflow() {
  return <Page title="CreateWorkflow">To be made.</Page>;
}
