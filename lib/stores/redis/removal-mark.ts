import { connectionSettings } from './connection'

// While the mark of a removal lives, Redis refuses a create of the same value. Only creates look for marks.

/** Milliseconds: the longest `within` of `waitForReplicas`. */
const longestWait = 60_000

/**
 * Milliseconds, longer than any create may arrive: its deadline is at most the patience of its process after
 * the call, and the process knows the time of Redis to within one round trip, at most its patience. All
 * processes share it, because one may remove what another created.
 */
export const markLifetime = 2 * (connectionSettings.commandTimeout + longestWait)

/**
 * Both keys begin with the prefix of the store, for access rules, and are in one hash slot: by the hash tag of
 * the prefix, or by the whole key of the value as the tag.
 *
 * @param name without the prefix, and without braces unless the prefix has a hash tag.
 */
export const markKey = (prefix: string, name: string): string =>
  hashTag.test(prefix) ? `${prefix}removed:${name}` : `${prefix}removed:{${prefix}${name}}`

// Between the first opening brace and the next closing one, unless empty.
const hashTag = /^[^{]*\{[^}]+\}/

/** Otherwise the two keys are in different slots. */
export const isMarkable = (prefix: string): boolean => !/[{}]/.test(prefix) || hashTag.test(prefix)
