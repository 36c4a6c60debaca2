import { Page } from "../ui/page.tsx";

export default function EditWorkflow() {
  return <Page title="EditWorkflow">To be made.</Page>;
}
