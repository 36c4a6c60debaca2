import { Page } from "../ui/page.tsx";

export default function ApprovalPage() {
  return <Page title="ApprovalPage">To be made.</Page>;
}
