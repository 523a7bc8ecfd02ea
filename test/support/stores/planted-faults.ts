import { setImmediate } from 'node:timers/promises'
import { markSeconds, type Store, type StoredValue, type WriteTerms } from '../../../lib/index'
import type { PlainDatabase } from './plain-store'

/** What differs from a sound store. */
export type Plant = (sound: Store, database: PlainDatabase) => Partial<Store>

/** The fault, the part of a rule's title that finds it, and what plants it. */
type Fault = readonly [fault: string, rule: string, plant: Plant]

interface Write extends WriteTerms {
  readonly key: string
  readonly value: string
  /** The version that is stored. */
  readonly stored: string | undefined
}

const put = (database: PlainDatabase, { key, value, version, seconds }: Write) => {
  database.rows.set(key, { value, version, end: database.endOf(seconds) })
  return true
}

/** Undefined: the sound store writes. */
type Bend = (
  write: Write,
  sound: Store,
  database: PlainDatabase,
) => Promise<boolean | undefined> | boolean | undefined

const writing =
  (bend: Bend): Plant =>
  (sound, database) => ({
    write: async (key, value, terms) => {
      const write = { key, value, ...terms, stored: database.row(key)?.version }
      return (await bend(write, sound, database)) ?? sound.write(key, value, terms)
    },
  })

/** Takes versions for equal that are not. */
const comparing = (equal: (stored: string, expected: string) => boolean): Plant =>
  writing((write, _sound, database) => {
    const { stored = '', expected = '' } = write
    return stored !== '' && write.expected !== undefined && equal(stored, expected)
      ? put(database, write)
      : undefined
  })

const rewriting = (change: (write: Write) => Partial<Omit<Write, 'key' | 'stored'>>): Plant =>
  writing((write, sound) => {
    const changed = { ...write, ...change(write) }
    return sound.write(write.key, changed.value, changed)
  })

const renaming =
  (change: (key: string) => string): Plant =>
  (sound) => ({
    read: (key) => sound.read(change(key)),
    write: (key, ...words) => sound.write(change(key), ...words),
    remove: (key) => sound.remove(change(key)),
  })

const marking =
  (secondsOf: (key: string, database: PlainDatabase) => number): Plant =>
  (_sound, database) => ({
    async remove(key) {
      database.rows.set(key, { value: '', version: '', end: database.endOf(secondsOf(key, database)) })
    },
  })

const listing =
  (change: (ids: readonly string[], database: PlainDatabase) => readonly string[]): Plant =>
  (sound, database) => ({ list: async (kind) => change(await sound.list(kind), database) })

const ofWrites: readonly Fault[] = [
  [
    'a create that overwrites',
    'is refused where a record is, and',
    writing((write, _, database) => put(database, write)),
  ],
  [
    'a create that reads and then writes',
    'one of 50 parallel creates',
    writing(async (write, sound, database) => {
      if (write.expected !== undefined || write.stored !== undefined)
        return sound.write(write.key, write.value, write)
      await setImmediate()
      return put(database, write)
    }),
  ],
  [
    'a replacement that reads and then writes',
    'one of 50 parallel replacements',
    writing(async (write, sound, database) => {
      if (write.expected === undefined || write.stored !== write.expected)
        return sound.write(write.key, write.value, write)
      await setImmediate()
      return put(database, write)
    }),
  ],
  [
    'a create that does not know its own version',
    'resolves to true when it is repeated',
    writing(({ stored, version }) => (stored === version ? false : undefined)),
  ],
  [
    'a create that takes a lost race for another writer',
    'parallel copies of a create',
    writing(async ({ stored }, _, database) => {
      if (stored !== undefined) return undefined
      await setImmediate()
      return database.rows.size === 0 ? undefined : false
    }),
  ],
  ['a replacement of any version', 'a version that never existed', comparing(() => true)],
  [
    'versions without their letter case',
    'other letter case',
    comparing((a, b) => a.toLowerCase() === b.toLowerCase()),
  ],
  [
    'versions of which the beginning is compared',
    'the beginning of',
    comparing((a, b) => b !== '' && a.startsWith(b)),
  ],
  ['versions without spaces at their ends', 'and a space', comparing((a, b) => a === b.trim())],
  ['an empty version that stands for any', 'an empty version', comparing((_, b) => b === '')],
  [
    'an empty version that stands for none',
    'where no record is, and creates none',
    rewriting(({ expected }) => ({ expected: expected || undefined })),
  ],
  [
    'a replacement that creates',
    'where no record is, and creates none',
    writing((write, _, database) => (write.stored === undefined ? put(database, write) : undefined)),
  ],
  [
    'values as a database for JSON has them',
    'a member twice',
    rewriting(({ value }) => ({ value: JSON.stringify(JSON.parse(value)) })),
  ],
  [
    'values with numbers as JavaScript has them',
    'numbers as',
    rewriting(({ value }) => ({ value: JSON.stringify(JSON.parse(value)) })),
  ],
  [
    'values without NUL',
    ': NUL',
    rewriting(({ value }) => ({ value: value.replaceAll(String.raw`\u0000`, '') })),
  ],
  [
    'values in Latin-1',
    'not ASCII',
    rewriting(({ value }) => ({ value: Buffer.from(value, 'latin1').toString('latin1') })),
  ],
  ['values with a bound', '1 MiB', rewriting(({ value }) => ({ value: value.slice(0, 2 ** 19) }))],
]

const ofKeys: readonly Fault[] = [
  [
    'a record without a version in place of none',
    'that never was written',
    (sound) => ({ read: async (key) => (await sound.read(key)) ?? { value: '', version: '' } }),
  ],
  ['keys in one letter case', '"aB"', renaming((key) => key.toLowerCase())],
  ['keys without spaces', '" a  b "', renaming((key) => key.replaceAll(' ', ''))],
  ['keys with a bound', '"xxx', renaming((key) => key.slice(0, 255))],
  ['keys without wildcards', '"%"', renaming((key) => key.replaceAll('%', ''))],
  ['keys of a part in braces', '"{tag}"', renaming((key) => /\{(.*)\}/.exec(key)?.[1] ?? key)],
  [
    'keys among those that objects inherit',
    'no name that objects inherit',
    (sound) => ({ read: async (key) => Reflect.get({}, key) ?? sound.read(key) }),
  ],
  [
    'reads at once that get one reply',
    '100 keys',
    (sound) => {
      let under: Promise<StoredValue | undefined> | undefined
      return { read: (key) => (under ??= sound.read(key).finally(() => (under = undefined))) }
    },
  ],
]

const ofEnds: readonly Fault[] = [
  ['no end', 'until its end', rewriting(() => ({ seconds: undefined }))],
  [
    'an end that comes early',
    'until its end',
    rewriting(({ seconds = 3600 }) => ({ seconds: seconds - 2.5 })),
  ],
  ['an end for what stays', 'a record that stays', rewriting(({ seconds = 1 }) => ({ seconds }))],
  ['no end at 0', 'if its end is over', rewriting(({ seconds }) => ({ seconds: seconds || undefined }))],
  [
    'seconds that are rounded up to minutes',
    'parts of a second',
    rewriting(({ seconds }) => ({ seconds: seconds && Math.ceil(seconds / 60) * 60 })),
  ],
  [
    'an end by a timer of 32 bits',
    'many years',
    rewriting(({ seconds }) => ({ seconds: seconds && seconds * 1000 >= 2 ** 31 ? 0 : seconds })),
  ],
  ...['more of them', 'fewer of them', 'none after some', 'some after none'].map((which): Fault => [
    `an end of the first write: ${which}`,
    which,
    writing(({ key, value, version, stored, expected }, _, { rows }) => {
      const end = rows.get(key)?.end
      if (expected === undefined || stored !== expected || end === undefined) return undefined
      rows.set(key, { value, version, end })
      return true
    }),
  ]),
  [
    'a replacement past the end',
    'past its end, and may create',
    writing((write, _, database) => {
      const { expected } = write
      const isOld = expected !== undefined && database.rows.get(write.key)?.version === expected
      return isOld ? put(database, write) : undefined
    }),
  ],
]

const ofRemovals: readonly Fault[] = [
  ['a removal that does nothing', 'remove removes', () => ({ remove: async () => {} })],
  [
    'a removal that comes late',
    'remove removes',
    (sound) => ({ remove: async (key) => void setImmediate().then(() => sound.remove(key)) }),
  ],
  [
    'a removal that takes no repetition',
    'remove may be repeated',
    (sound, database) => ({
      async remove(key) {
        if (database.row(key)?.version === '') throw new Error('There is nothing to remove.')
        await sound.remove(key)
      },
    }),
  ],
  [
    'a removal without a mark',
    'no create brings',
    (_, { rows }) => ({ remove: async (key) => void rows.delete(key) }),
  ],
  [
    'a removal that marks what was stored',
    'where nothing was stored',
    (sound, { rows }) => ({ remove: async (key) => (rows.has(key) ? sound.remove(key) : undefined) }),
  ],
  [
    'a mark that only its store knows',
    'for every store',
    (sound, { rows }) => {
      const marked = new Set<string>()
      return {
        async remove(key) {
          rows.delete(key)
          marked.add(key)
        },
        write: async (key, ...words) => !marked.has(key) && sound.write(key, ...words),
      }
    },
  ],
  ['a mark of a minute', 'for longer than a create', marking(() => 60)],
  [
    'a mark until the end of the record',
    'past the end that the record had',
    marking((key, database) => ((database.rows.get(key)?.end ?? Infinity) - database.now()) / 1000),
  ],
  [
    'a mark that the next removal ends',
    'repeated, does not end',
    marking((key, database) => (database.row(key)?.version === '' ? 0 : markSeconds)),
  ],
  [
    'a late copy that is taken for a repetition',
    'a late copy of the create',
    (sound) => {
      const written = new Set<string>()
      return {
        write: async (key, value, terms) => {
          const isKnown = written.has(terms.version)
          written.add(terms.version)
          return isKnown || sound.write(key, value, terms)
        },
      }
    },
  ],
  [
    'a mark that a replacement takes for a version',
    'is refused after a removal',
    writing((write, _, database) =>
      write.stored === '' && write.expected === '' ? put(database, write) : undefined,
    ),
  ],
  [
    'a mark that can be read',
    'remove removes',
    (_, database) => ({ read: async (key) => database.row(key) && { value: '', version: '' } }),
  ],
  [
    'a removal that a replacement under way undoes',
    'in parallel with a removal',
    writing(async (write, sound, database) => {
      if (write.stored === undefined || write.stored !== write.expected)
        return sound.write(write.key, write.value, write)
      await setImmediate()
      return put(database, write)
    }),
  ],
  [
    'a confirmation that does not look',
    'resolves to false where',
    () => ({ confirmAbsent: async () => true }),
  ],
  [
    'a confirmation that removes',
    'resolves to false where',
    (sound) => ({ confirmAbsent: async (key) => sound.remove(key).then(() => false) }),
  ],
  [
    'a confirmation that ends a mark',
    'and ends no mark',
    (_, { rows }) => ({ confirmAbsent: async (key) => rows.delete(key) || true }),
  ],
  ...['what was written', 'what was removed'].map((which): Fault => [
    `a peek that knows the first of ${which}`,
    which,
    (sound) => {
      const known = new Map<string, StoredValue>()
      return {
        peek: (key) => known.get(key),
        async read(key) {
          const found = await sound.read(key)
          if (found !== undefined && !known.has(key)) known.set(key, found)
          return found
        },
      }
    },
  ]),
  [
    'a peek that makes its object anew',
    'older than what was written',
    (_, database) => ({
      peek(key) {
        const { version = '', value = '' } = database.row(key) ?? {}
        return version === '' ? undefined : { value, version }
      },
    }),
  ],
]

const ofCounts: readonly Fault[] = [
  [
    'counts below 0',
    'never counts below 0',
    (_, { counts, endOf }) => ({
      async add(key, amount, seconds) {
        const { count, end } = counts.get(key) ?? { count: 0, end: endOf(seconds) }
        counts.set(key, { count: count + amount, end })
        return { count: count + amount, secondsLeft: seconds }
      },
    }),
  ],
  [
    'a count of 0 that keeps its end',
    'to 0 has no end',
    (_, { counts, endOf, now }) => ({
      async add(key, amount, seconds) {
        const { count, end } = counts.get(key) ?? { count: 0, end: endOf(seconds) }
        counts.set(key, { count: Math.max(0, count + amount), end })
        return { count: Math.max(0, count + amount), secondsLeft: Math.ceil((end - now()) / 1000) }
      },
    }),
  ],
  [
    'a count whose last addition sets its end',
    'of its first addition',
    (sound, { counts, endOf }) => ({
      async add(key, amount, seconds) {
        const { count } = await sound.add(key, amount, seconds)
        counts.set(key, { count, end: endOf(seconds) })
        return { count, secondsLeft: count && seconds }
      },
    }),
  ],
  [
    'a count that reads and then writes',
    '50 parallel additions',
    (_, { counts, endOf }) => ({
      async add(key, amount, seconds) {
        const { count } = counts.get(key) ?? { count: 0 }
        await setImmediate()
        counts.set(key, { count: count + amount, end: endOf(seconds) })
        return { count: count + amount, secondsLeft: seconds }
      },
    }),
  ],
  [
    'a count that a removal ends',
    'nothing to do with each other',
    (sound, { counts }) => ({ remove: (key) => sound.remove(key).finally(() => counts.delete(key)) }),
  ],
  [
    'a count under the key of the record',
    'from being created',
    (sound, database) => ({
      async add(key, amount, seconds) {
        const added = await sound.add(key, amount, seconds)
        database.rows.set(key, { value: `${added.count}`, version: 'count', end: database.endOf(seconds) })
        return added
      },
    }),
  ],
  [
    'seconds that are counted in parts',
    'that are left',
    (sound) => ({
      add: async (...words) => {
        const added = await sound.add(...words)
        return { ...added, secondsLeft: added.secondsLeft - 0.5 }
      },
    }),
  ],
]

const ofLists: readonly Fault[] = [
  [
    'a list of records with an end',
    'and no others',
    listing((_, { rows }) =>
      [...rows.keys()].filter((key) => key.startsWith('client:')).map((key) => key.slice(7)),
    ),
  ],
  [
    'a list of similar kinds',
    'and no others',
    (_, { rows }) => ({
      list: async (kind) =>
        [...rows.keys()].filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length + 1)),
    }),
  ],
  ['a list of whole keys', 'and no others', listing((ids) => ids.map((id) => `client:${id}`))],
  ['a list of the first page', '300 records', listing((ids) => ids.slice(0, 100))],
  ['a list with names twice', '300 records', listing((ids) => [...ids, ...ids.slice(0, 1)])],
  [
    'a list without what was replaced',
    'often it was replaced',
    withNames((write) => write.expected === undefined),
  ],
  [
    'a list of names that came with a create',
    'and stays now',
    withNames((write) => write.expected === undefined),
  ],
  [
    'a list that loses names while others come',
    'misses no record',
    (sound) => {
      let names: readonly string[] = []
      return {
        async write(key, value, terms) {
          const before = names
          const stored = await sound.write(key, value, terms)
          names = [...before, key.slice(7)]
          return stored
        },
        list: async () => names.slice(-3),
      }
    },
  ],
  ['a list without odd names', '"%" as it is', listing((ids) => ids.map(encodeURIComponent))],
  [
    'a list that ends at a colon',
    '":a::" as it is',
    listing((ids) => ids.map((id) => id.split(':')[0] ?? '')),
  ],
]

/** A list beside the records, entered by these writes alone. */
function withNames(enters: (write: Write) => boolean): Plant {
  return (sound) => {
    const names = new Set<string>()
    return {
      async write(key, value, terms) {
        if (terms.expected !== undefined) names.delete(key)
        if (terms.seconds === undefined && enters({ key, value, ...terms, stored: undefined })) names.add(key)
        return sound.write(key, value, terms)
      },
      list: async (kind) => [...names].map((key) => key.slice(kind.length + 1)),
    }
  }
}

export const faults: readonly Fault[] = [
  ...ofWrites,
  ...ofKeys,
  ...ofEnds,
  ...ofRemovals,
  ...ofCounts,
  ...ofLists,
]
