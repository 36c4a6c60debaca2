/** Creates the sample database: node examples/make-shop.ts shop.db */
import { makeShop } from "./shop.ts";

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("The file is missing. Run: node examples/make-shop.ts shop.db\n");
  process.exitCode = 2;
} else {
  makeShop(file);
}
