/**
 * The levels of JSON that the server takes from others: more than any message of OAuth has. Code that walks through a
 * value by recursion, such as `JSON.stringify`, stays far from the end of the stack.
 */
export const deepestJson = 32

/** Whether a value that `JSON.parse` returned has at most 32 levels. Goes from level to level, without recursion. */
export function isShallow(json: unknown): boolean {
  let level: readonly unknown[] = [json]
  for (let depth = 0; depth < deepestJson && level.length > 0; depth++)
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  return level.length === 0
}
