import { Page } from "../ui/page.tsx";

export default function Account() {
  return <Page title="Account">To be made.</Page>;
}
