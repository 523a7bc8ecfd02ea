/**
 * More levels than any message of OAuth has. Recursion, such as of `JSON.stringify`, stays far from the end of the
 * stack.
 */
export const deepestJson = 32

/** For a value of `JSON.parse`; without recursion. */
export function isShallow(json: unknown): boolean {
  let level: readonly unknown[] = [json]
  for (let depth = 0; depth < deepestJson && level.length > 0; depth++)
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  return level.length === 0
}
