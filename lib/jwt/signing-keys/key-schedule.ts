import type { KeyTimes } from './key-record'
import type { SigningAlgorithm } from './signing-algorithm'

/** Seconds for which caches may hold the published keys. */
export const publishedFor = 600
// Seconds by which clocks may differ.
const clockTolerance = 300

/** Least seconds of a new key before it signs: until every cache within the rules has it. */
export const leadTime = publishedFor + clockTolerance

/**
 * The newest key that verifiers know; else the one that will be first: it follows a retired key, and a
 * signature that some verifiers cannot check yet is better than none.
 */
export function signingKeyAt<Key extends KeyTimes>(
  keys: readonly Key[],
  algorithm: SigningAlgorithm,
  now: number,
): Key | undefined {
  const own = inOrder(keys, algorithm)
  return (
    own.findLast(({ signsFrom }) => signsFrom <= now) ?? own.findLast((key) => isAhead(key, now)) ?? own[0]
  )
}

/** Dated by a process whose clock was wrong: no successor is made so far ahead. */
const isAhead = ({ createdAt }: KeyTimes, now: number): boolean => createdAt > now + clockTolerance

export const isWaiting = (key: KeyTimes, now: number): boolean => key.signsFrom > now && !isAhead(key, now)

/** A key ends with the last token that it signed. */
export const livingKeys = <Key extends KeyTimes>(keys: readonly Key[], now: number): readonly Key[] =>
  keys.filter((key) => now < endOf(key, keys))

/** A key without a successor has no end. */
function endOf(key: KeyTimes, keys: readonly KeyTimes[]): number {
  const own = inOrder(keys, key.algorithm)
  const successor = own[own.findIndex(({ kid }) => kid === key.kid) + 1]
  return successor === undefined ? Infinity : successor.signsFrom + key.longest + clockTolerance
}

/**
 * Undefined if none is due. The first key, and the successor of a retired one, sign at once. A successor that
 * is there already is enough.
 */
export function nextKeyFrom(
  keys: readonly KeyTimes[],
  algorithm: SigningAlgorithm,
  { rotateAfter, lead }: { readonly rotateAfter: number; readonly lead: number },
  now: number,
): number | undefined {
  const own = inOrder(keys, algorithm)
  if (own.length === 0) return now
  const newest = own.findLast((key) => !isAhead(key, now))
  return newest === undefined || now >= newest.signsFrom + rotateAfter ? now + lead : undefined
}

// Two processes that lost sight of each other may make two keys at one time: the kid decides, everywhere
// alike.
const inOrder = <Key extends KeyTimes>(keys: readonly Key[], algorithm: SigningAlgorithm): readonly Key[] =>
  keys
    .filter((key) => key.algorithm === algorithm)
    .toSorted((one, other) => one.signsFrom - other.signsFrom || (one.kid < other.kid ? -1 : 1))
