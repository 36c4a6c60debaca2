import { Page } from "../ui/page.tsx";

export default function Setup() {
  return <Page title="Setup">To be made.</Page>;
}
