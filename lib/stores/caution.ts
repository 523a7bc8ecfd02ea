/** Something around a store that does harm there, or will. */
export interface StoreWarning {
  /** A code of `docs/warnings.md`. */
  readonly code: string
  /** What was found and what cures it. */
  readonly message: string
}
