import { Page } from "../ui/page.tsx";

export default function RunList() {
  return <Page title="RunList">To be made.</Page>;
}
