import { Page } from "../ui/page.tsx";

export default function Connect() {
  return <Page title="Connect">To be made.</Page>;
}
