import { Page } from "../ui/page.tsx";

export default function ApprovalList() {
  return <Page title="ApprovalList">To be made.</Page>;
}
