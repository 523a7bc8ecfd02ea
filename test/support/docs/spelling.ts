/** A word that is probably misspelt: it is rare, and one letter away from a frequent one. */
export interface Suspicion {
  readonly word: string
  readonly meant: string
}

/** How often a word must occur to be right without a list, and how rare a slip is at most. */
const [frequent, rare] = [6, 2]

/** The words of a page in lower case, without code, addresses, tags and names such as `OAuth`. */
export function wordsOf(prose: string): readonly string[] {
  const text = prose
    .replaceAll(/`[^`]*`|\]\([^)]*\)|<[^>]*>|https?:\S+|[\w./-]+\.(?:md|ts|js|json|sh)\b/g, ' ')
    .replaceAll('’', "'")
  return Array.from(text.matchAll(/(?<![\w-])\p{L}\p{Ll}{3,}(?![\w])/gu), ([word]) => word.toLowerCase())
}

/** Finds slips in documents by the documents themselves, so that the check needs no dictionary. */
export function suspicionsIn(words: readonly string[], accepted: ReadonlySet<string>): readonly Suspicion[] {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const byPart = new Map<string, string[]>()
  for (const [word, count] of counts) {
    if (count < frequent || word.length < 5) continue
    for (const part of partsOf(word)) byPart.set(part, [...(byPart.get(part) ?? []), word])
  }
  return [...counts].flatMap(([word, count]) => {
    if (count > rare || word.length < 5 || accepted.has(word)) return []
    const near = [...partsOf(word)].flatMap((part) => byPart.get(part) ?? [])
    const meant = near.find((other) => isOneSlipAway(word, other) && !isInflection(word, other))
    return meant === undefined ? [] : [{ word, meant }]
  })
}

/** A word, and the word without each one of its letters. */
function partsOf(word: string): ReadonlySet<string> {
  return new Set([word, ...Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1))])
}

/** Whether one letter too many, too few, wrong, or two in the wrong order make one word of the other. */
function isOneSlipAway(word: string, other: string): boolean {
  if (word.length !== other.length) return Math.abs(word.length - other.length) === 1
  const apart = word.split('').flatMap((letter, at) => (letter === other[at] ? [] : [at]))
  const [first = 0, second = 0] = apart
  const swapped = word[first] === other[second] && word[second] === other[first]
  return apart.length === 1 || (apart.length === 2 && second === first + 1 && swapped)
}

/** Whether the words differ in their ending only, as `name`, `names`, `named` and `namely` do. */
function isInflection(word: string, other: string): boolean {
  const shorter = Math.min(word.length, other.length)
  return word.slice(0, shorter - 1) === other.slice(0, shorter - 1)
}
