import { Page } from "../ui/page.tsx";

export default function LinkPage() {
  return <Page title="LinkPage">To be made.</Page>;
}
