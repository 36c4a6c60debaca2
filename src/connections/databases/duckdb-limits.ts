/** The largest exact numbers of DuckDB. (Child processes load this file.) */
export const MAX_DECIMAL_DIGITS = 38;
export const MAX_INT64 = 2n ** 63n - 1n;
export const MAX_INT128 = 2n ** 127n - 1n;
