/** Gives property tests the same cases in each run of the first gate. In the long gate fast-check prints the seed of what fails. */
import * as fc from "fast-check";
import { IS_RANDOM } from "../random.ts";

const SEED = 1;

fc.configureGlobal(IS_RANDOM ? {} : { seed: SEED });
