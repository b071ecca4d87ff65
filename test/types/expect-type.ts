/** True if the two types are identical, also in `any` and `readonly`. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Does nothing when it runs; `tsc` refuses the file when the types are not equal: `expectType<Equal<A, B>>()`. */
export function expectType<_Same extends true>(): void {}
