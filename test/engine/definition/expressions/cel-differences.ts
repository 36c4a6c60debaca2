/** Lists where an expression of Millrace differs from CEL, on purpose. */
interface Difference {
  reason: string;
  /** File, section and name of each conformance case that differs. */
  cases: readonly string[];
}

export const CEL_DIFFERENCES: readonly Difference[] = [
  {
    reason:
      "No digit is lost: a number that a double can't hold is its digits, and a result that it can't hold, too.",
    cases: [
      "basic/self_eval_nonzeroish/self_eval_int_negative_min",
      "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double",
      "comparisons/lt_literal/not_lt_dyn_small_double_int",
      "comparisons/gt_literal/not_gt_dyn_int_small_lossy_double",
      "comparisons/gt_literal/not_gt_dyn_big_double_int",
      "comparisons/lte_literal/lte_dyn_int_small_lossy_double",
      "comparisons/lte_literal/lte_dyn_big_double_int",
      "comparisons/gte_literal/gte_dyn_int_big_lossy_double",
      "comparisons/gte_literal/gte_dyn_small_double_int",
      "conversions/double/int_min_exact",
      "conversions/double/int_max_exact",
      "conversions/double/int_range",
      "conversions/double/uint_max_exact",
      "conversions/double/uint_range",
      "conversions/int/uint_max_exact",
      "conversions/int/double_big_exact",
      "conversions/int/double_big_precision",
      "conversions/uint/int_max",
      "conversions/uint/double_big_exact",
      "conversions/uint/double_big_precision",
      "fp_math/fp_math/fp_underflow",
    ],
  },
  {
    reason: "Integers do not overflow at 64 bits: a larger result is right, with all digits.",
    cases: [
      "conversions/int/double_range",
      "conversions/int/double_int_max_range",
      "conversions/int/double_int_min_range",
      "conversions/int/uint_range",
      "conversions/uint/double_uint_max_range",
      "integer_math/int64_math/int64_overflow_positive",
      "integer_math/int64_math/int64_overflow_negative",
      "integer_math/int64_math/int64_overflow_add_negative",
      "integer_math/int64_math/int64_overflow_sub_positive",
      "integer_math/int64_math/int64_min_negate",
      "integer_math/int64_math/int64_min_negate_mul",
      "integer_math/int64_math/int64_min_negate_div",
      "integer_math/int64_math/uint64_overflow_positive",
      "integer_math/int64_math/int64_overflow_mul_positive",
      "integer_math/int64_math/int64_overflow_mul_negative",
      "integer_math/int64_math/uint64_overflow_negative",
      "integer_math/int64_math/uint64_overflow_mul_positive",
    ],
  },
  {
    reason:
      "int, uint and double are one kind, so an unsigned number can be negated and a double is a key and has a remainder.",
    cases: [
      "conversions/type/eq_diff",
      "conversions/type/neq_diff",
      "fields/qualified_identifier_resolution/map_key_float",
      "fp_math/fp_math/mod_not_support",
      "integer_math/int64_math/unary_minus_no_overload",
      "integer_math/uint64_math/negative_no_overload",
    ],
  },
  {
    reason: "There is no conversion to uint.",
    cases: [
      "conversions/uint/int",
      "conversions/uint/double",
      "conversions/uint/double_truncate",
      "conversions/uint/double_half",
      "conversions/uint/string",
      "conversions/identity/uint",
      "parse/nest/funcall",
    ],
  },
  {
    reason: "Keys of maps are text, as in JSON.",
    cases: ["macros/exists_one/map_one"],
  },
  {
    reason: "Division by zero fails: JSON has neither NaN nor infinity.",
    cases: [
      "comparisons/eq_literal/not_eq_double_nan",
      "comparisons/eq_literal/not_eq_int_double_nan",
      "comparisons/eq_literal/not_eq_uint_double_nan",
      "comparisons/ne_literal/not_ne_double_nan",
      "comparisons/ne_literal/not_ne_int_double_nan",
      "comparisons/ne_literal/not_ne_uint_double_nan",
      "comparisons/ne_literal/ne_double_nan",
    ],
  },
  {
    reason: "An unknown function is refused before anything runs, wherever it is called.",
    cases: [
      "basic/functions/unbound_is_runtime_error",
      "parse/receiver_function_names/as",
      "parse/receiver_function_names/break",
      "parse/receiver_function_names/const",
      "parse/receiver_function_names/continue",
      "parse/receiver_function_names/else",
      "parse/receiver_function_names/for",
      "parse/receiver_function_names/function",
      "parse/receiver_function_names/if",
      "parse/receiver_function_names/import",
      "parse/receiver_function_names/let",
      "parse/receiver_function_names/loop",
      "parse/receiver_function_names/package",
      "parse/receiver_function_names/namespace",
      "parse/receiver_function_names/return",
      "parse/receiver_function_names/var",
      "parse/receiver_function_names/void",
      "parse/receiver_function_names/while",
    ],
  },
  {
    reason: 'A boolean is converted from "true" and "false" only.',
    cases: [
      "conversions/bool/string_1",
      "conversions/bool/string_t",
      "conversions/bool/string_true_uppercase",
      "conversions/bool/string_true_pascalcase",
      "conversions/bool/string_0",
      "conversions/bool/string_f",
      "conversions/bool/string_false_uppercase",
      "conversions/bool/string_false_pascalcase",
    ],
  },
  {
    reason: "A variable has one name without dots.",
    cases: [
      "fields/qualified_identifier_resolution/qualified_ident",
      "fields/qualified_identifier_resolution/map_field_select",
      "fields/qualified_identifier_resolution/qualified_identifier_resolution_unchecked",
      "fields/qualified_identifier_resolution/ident_with_longest_prefix_check",
    ],
  },
  {
    reason: "A timestamp is written with milliseconds, also where they are zero.",
    cases: ["timestamps/timestamp_conversions/toString_timestamp"],
  },
  {
    reason: "A duration may be as long as the range of timestamps.",
    cases: [
      "timestamps/timestamp_range/sub_time_duration_over",
      "timestamps/timestamp_range/sub_time_duration_under",
    ],
  },
];
