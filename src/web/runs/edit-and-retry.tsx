import { Page } from "../ui/page.tsx";

export default function EditAndRetry() {
  return <Page title="EditAndRetry">To be made.</Page>;
}
