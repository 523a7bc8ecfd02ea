import { connectionSettings } from './connection'

// A removal leaves a mark under a key next to the key of the value. While the mark lives, a create of the same value is
// refused. Only creates look for marks, so every reader finds the value absent.

/** The longest `within` of `waitForReplicas`, in milliseconds. A write may wait so long for replicas. */
const longestWait = 60_000

/**
 * Milliseconds for which a removal leaves its mark: longer than any create may still arrive. A deadline is at most the
 * patience of its process after the call. The process knows the time of Redis to within one round trip, which is no
 * longer than its patience. All processes have one lifetime, because one process may remove what another has created.
 */
export const markLifetime = 2 * (connectionSettings.commandTimeout + longestWait)

/**
 * Returns the key of the mark for a removed value. Both keys begin with the prefix of the store, for access rules, and
 * are in one hash slot: by the hash tag of the prefix, or by the whole key of the value as the hash tag.
 *
 * @param name the key of the value without the prefix. Must not contain braces, unless the prefix has a hash tag.
 */
export function markKey(prefix: string, name: string): string {
  return hashTag.test(prefix) ? `${prefix}removed:${name}` : `${prefix}removed:{${prefix}${name}}`
}

// The text between the first opening brace and the first closing brace after it, unless that text is empty.
const hashTag = /^[^{]*\{[^}]+\}/

/** Whether a prefix has no braces, or a hash tag. Any other prefix leaves the two keys in different slots. */
export function isMarkable(prefix: string): boolean {
  return !/[{}]/.test(prefix) || hashTag.test(prefix)
}
